#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "tidewatt/config/settings.h"
#include "tidewatt/config/suggest.h"
#include "value.h"

namespace tidewatt::config {

std::string flag_of(const Setting& setting) {
  std::string flag = "--" + setting.path;
  std::ranges::replace(flag, '.', '-');
  std::ranges::replace(flag, '_', '-');
  return setting.kind == Kind::secret ? flag + "-file" : flag;
}

void Settings::load_flags(std::span<const std::string> arguments) {
  std::map<std::string, const Setting*, std::less<>> by_flag;
  std::vector<std::string> known;
  for (const auto& setting : table_.settings()) {
    by_flag[flag_of(setting)] = &setting;
    known.push_back(flag_of(setting));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const auto found = by_flag.find(name);
    if (found == by_flag.end()) {
      if (!argument.starts_with("--")) {
        problem("", "", fmt::format("unexpected argument \"{}\"; see --help", argument));
        continue;
      }
      const std::string guess = nearest(name, known);
      problem(
          name, "",
          guess.empty() ? "unknown flag; see --help" : fmt::format("unknown flag; did you mean {}?", guess));
      // Its value, if it has one, isn't a second mistake.
      if (equals == std::string::npos && i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) ++i;
      continue;
    }
    const Setting& setting = *found->second;
    if (equals != std::string::npos) {
      set(setting.path, argument.substr(equals + 1), name);
    } else if (setting.kind == Kind::boolean) {
      const bool word =
          i + 1 < arguments.size() && (arguments[i + 1] == "true" || arguments[i + 1] == "false");
      set(setting.path, word ? arguments[++i] : "true", name);
    } else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) {
      set(setting.path, arguments[++i], name);
    } else {
      problem(name, setting.path, "needs a value");
    }
  }
}

namespace {

std::string metavar(const Setting& setting) {
  if (!setting.metavar.empty()) return setting.metavar;
  if (setting.kind == Kind::secret) return "FILE";
  if (setting.kind == Kind::boolean) return "";
  if (setting.kind == Kind::map) return "KEY=VALUE";
  std::string name(to_string(setting.kind));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

std::string facts(const Setting& setting) {
  std::vector<std::string> parts;
  if (setting.required) parts.emplace_back("required");
  if (!setting.fallback.empty()) parts.push_back("default " + setting.fallback);
  if (const std::string range = range_text(setting); !range.empty()) parts.push_back(range);
  if (!setting.choices.empty()) parts.push_back(fmt::format("one of {}", fmt::join(setting.choices, ", ")));
  if (!setting.env.empty())
    parts.push_back("env " + setting.env +
                    (setting.kind == Kind::secret ? "_FILE, or the secret in " + setting.env : ""));
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, "; "));
}

}  // namespace

std::string SettingsTable::help() const {
  std::string out;
  for (const auto& setting : settings_) {
    const std::string what = metavar(setting);
    out += fmt::format("  {}{}{}\n      {}{}\n", flag_of(setting), what.empty() ? "" : " ", what,
                       setting.help, facts(setting));
  }
  return out;
}

}  // namespace tidewatt::config
