#include "tidewatt/config/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "tidewatt/units/printable.h"
#include "tidewatt/units/text.h"
#include "value.h"

namespace tidewatt::config {

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::text:
      return "text";
    case Kind::integer:
      return "integer";
    case Kind::number:
      return "number";
    case Kind::boolean:
      return "boolean";
    case Kind::duration:
      return "duration";
    case Kind::bytes:
      return "bytes";
    case Kind::choice:
      return "choice";
    case Kind::list:
      return "list";
    case Kind::map:
      return "map";
    case Kind::secret:
      return "secret";
  }
  return "text";
}

namespace {

// "--tls-certificate" is the setting tls.certificate.
bool is_flag_of(std::string_view flag, std::string_view path) {
  if (!flag.starts_with("--") || flag.size() != path.size() + 2) return false;
  return std::ranges::equal(flag.substr(2), path, [](char in_flag, char in_path) {
    return in_flag == in_path || (in_flag == '-' && (in_path == '.' || in_path == '_'));
  });
}

}  // namespace

std::string Problem::to_string() const {
  std::string line = where;
  // The setting is named once: the flag does it, and some texts begin with it.
  const bool named = is_flag_of(where, path) || (!path.empty() && text.starts_with(path + " "));
  for (const std::string* part : {&path, &text}) {
    if (part->empty() || (part == &path && named)) continue;
    if (!line.empty()) line += ": ";
    line += *part;
  }
  return line;
}

const Setting* SettingsTable::find(std::string_view path) const {
  const auto found = std::ranges::find(settings_, path, &Setting::path);
  return found == settings_.end() ? nullptr : &*found;
}

std::vector<std::string> SettingsTable::file_paths() const {
  std::vector<std::string> paths;
  for (const auto& setting : settings_) {
    if (setting.flag_only) continue;
    paths.push_back(setting.kind == Kind::secret ? setting.path + "_file" : setting.path);
  }
  return paths;
}

std::string SettingsTable::sample_yaml() const {
  std::string out;
  std::string section;
  for (const auto& setting : settings_) {
    if (setting.flag_only) continue;
    const auto dot = setting.path.rfind('.');
    const std::string in = dot == std::string::npos ? "" : setting.path.substr(0, dot);
    const std::string key = setting.path.substr(dot == std::string::npos ? 0 : dot + 1);
    if (in != section && !in.empty()) out += fmt::format("# {}:\n", in);
    section = in;
    const std::string_view indent = in.empty() ? "" : "  ";
    out += fmt::format("# {}# {}\n", indent, setting.help);
    out += fmt::format("# {}{}{}: {}\n", indent, key, setting.kind == Kind::secret ? "_file" : "",
                       setting.fallback);
  }
  return out;
}

Settings::Settings(const SettingsTable& table) : table_(table) {}

const Setting& Settings::setting(std::string_view path, Kind kind) const {
  const Setting* found = table_.find(path);
  if (found == nullptr) throw std::logic_error(fmt::format("no setting \"{}\" in the table", path));
  const bool same = found->kind == kind || (kind == Kind::text && found->kind == Kind::choice);
  if (!same) {
    throw std::logic_error(
        fmt::format("setting \"{}\" is a {}, read as {}", path, to_string(found->kind), to_string(kind)));
  }
  return *found;
}

const Settings::Value* Settings::value(std::string_view path) const {
  const auto found = values_.find(path);
  return found == values_.end() ? nullptr : &found->second;
}

void Settings::problem(const std::string& where, const std::string& path, std::string text) {
  problems_.push_back({where, path, std::move(text)});
}

void Settings::add_problem(const std::string& path, const std::string& text) {
  const Value* v = value(path);
  problem(v == nullptr ? "" : v->where, path, text);
}

void Settings::store(const Setting& setting, Value value) {
  // The server would refuse every beat that carries it.
  bool fits = is_printable(trim(value.text));
  for (const auto& item : value.items) fits = fits && is_printable(item);
  for (const auto& [key, text] : value.pairs) fits = fits && is_printable(key) && is_printable(text);
  if (!fits) {
    problem(value.where, setting.path, "holds control characters or bytes that are no UTF-8");
    return;
  }
  values_[setting.path] = std::move(value);
}

void Settings::assign(const Setting& setting, const std::string& text, const std::string& where) {
  if (std::string wrong = why_not(setting, text); !wrong.empty()) {
    problem(where, setting.path, std::move(wrong));
    return;
  }
  store(setting, {.text = text, .items = {}, .pairs = {}, .where = where});
}

void Settings::set(const std::string& path, const std::string& text, const std::string& where) {
  const Setting* found = table_.find(path);
  if (found == nullptr) throw std::logic_error(fmt::format("no setting \"{}\" in the table", path));
  if (found->kind == Kind::list || found->kind == Kind::map) {
    // The first item given here replaces what an earlier source said; further ones from the same place
    // append.
    const Value* before = value(path);
    Value next;
    if (before != nullptr && before->where == where) next = *before;
    next.where = where;
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      const std::string_view item = trim(rest.substr(0, comma));
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
      if (found->kind == Kind::list) {
        if (!item.empty()) next.items.emplace_back(item);
        continue;
      }
      const auto equals = item.find('=');
      if (equals == std::string_view::npos || equals == 0) {
        problem(where, path, fmt::format("\"{}\" is not key=value", item));
        return;
      }
      next.pairs.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    }
    store(*found, std::move(next));
    return;
  }
  assign(*found, text, where);
}

void Settings::load_environment(const std::function<std::optional<std::string>(const std::string&)>& lookup) {
  for (const auto& setting : table_.settings()) {
    if (setting.env.empty()) continue;
    const std::string where = "environment " + setting.env;
    if (setting.kind == Kind::secret) {
      if (auto file = lookup(setting.env + "_FILE")) assign(setting, *file, where + "_FILE");
    }
    const auto found = lookup(setting.env);
    if (!found) continue;
    if (setting.kind == Kind::secret) {
      const std::string_view secret = trim(*found);
      if (secret.empty()) {
        problem(where, setting.path, "is empty; unset it or give the secret");
      } else {
        store(setting, {.text = std::string(secret),
                        .items = {},
                        .pairs = {},
                        .from_environment = true,
                        .where = where});
      }
    } else {
      set(setting.path, *found, where);
    }
  }
}

void Settings::finish() {
  if (!file_understood_) return;
  for (const auto& setting : table_.settings()) {
    const bool has_problem =
        std::ranges::any_of(problems_, [&](const Problem& p) { return p.path == setting.path; });
    if (setting.required && !given(setting.path) && setting.fallback.empty() && !has_problem) {
      problem("", setting.path,
              fmt::format("is required; give {} or put it into the file{}", flag_of(setting),
                          setting.env.empty() ? "" : ", or set " + setting.env));
    }
  }
}

bool Settings::given(std::string_view path) const { return value(path) != nullptr; }

namespace {
std::string scalar(const Setting& setting, const std::string* given) {
  return given == nullptr ? setting.fallback : *given;
}
}  // namespace

std::string Settings::text(std::string_view path) const {
  const Value* v = value(path);
  return scalar(setting(path, Kind::text), v == nullptr ? nullptr : &v->text);
}

std::optional<std::int64_t> Settings::maybe_integer(std::string_view path) const {
  const Value* v = value(path);
  return parse_int64(scalar(setting(path, Kind::integer), v == nullptr ? nullptr : &v->text));
}

std::optional<double> Settings::maybe_number(std::string_view path) const {
  const Value* v = value(path);
  return parse_double(scalar(setting(path, Kind::number), v == nullptr ? nullptr : &v->text));
}

std::optional<Milliseconds> Settings::maybe_duration(std::string_view path) const {
  const Value* v = value(path);
  return parse_duration(scalar(setting(path, Kind::duration), v == nullptr ? nullptr : &v->text));
}

bool Settings::boolean(std::string_view path) const {
  const Value* v = value(path);
  return scalar(setting(path, Kind::boolean), v == nullptr ? nullptr : &v->text) == "true";
}

std::uint64_t Settings::bytes(std::string_view path) const {
  const Value* v = value(path);
  return parse_bytes(scalar(setting(path, Kind::bytes), v == nullptr ? nullptr : &v->text)).value();
}

std::vector<std::string> Settings::list(std::string_view path) const {
  const Setting& s = setting(path, Kind::list);
  if (const Value* v = value(path)) return v->items;
  return s.fallback.empty() ? std::vector<std::string>{} : std::vector<std::string>{s.fallback};
}

std::vector<std::pair<std::string, std::string>> Settings::map(std::string_view path) const {
  setting(path, Kind::map);
  const Value* v = value(path);
  return v == nullptr ? std::vector<std::pair<std::string, std::string>>{} : v->pairs;
}

std::string Settings::secret_file(std::string_view path) const {
  const Setting& s = setting(path, Kind::secret);
  const Value* v = value(path);
  if (v == nullptr) return s.fallback;
  return v->from_environment ? "" : v->text;
}

Result<std::optional<std::string>> Settings::secret(std::string_view path, const FileSystem& files) const {
  const Value* v = value(path);
  if (v != nullptr && v->from_environment) return v->text;
  const std::string file = secret_file(path);
  if (file.empty()) return std::optional<std::string>{};
  TW_TRY(const std::string content, files.read_text(file));
  const std::string_view secret = trim(content);
  if (secret.empty()) {
    return fail(ErrorCode::invalid_input, fmt::format("{}: {} is empty", path, file),
                "write the secret into it");
  }
  return std::optional<std::string>{std::string(secret)};
}

std::string Settings::describe() const {
  std::string out;
  for (const auto& setting : table_.settings()) {
    const Value* v = value(setting.path);
    std::string shown = v == nullptr ? setting.fallback : v->text;
    std::string name = setting.path;
    if (setting.kind == Kind::secret) {
      if (v != nullptr && v->from_environment) {
        shown = "***";
      } else {
        name += "_file";
      }
    } else if (v != nullptr && setting.kind == Kind::list) {
      shown = fmt::format("[{}]", fmt::join(v->items, ", "));
    } else if (v != nullptr && setting.kind == Kind::map) {
      shown = "{";
      for (const auto& [key, text] : v->pairs) shown += (shown.size() > 1 ? ", " : "") + key + ": " + text;
      shown += "}";
    }
    out += fmt::format("{}: {}  # {}\n", name, shown, v == nullptr ? "default" : v->where);
  }
  return out;
}

}  // namespace tidewatt::config
