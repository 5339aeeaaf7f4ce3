#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "tidewatt/sensors/isolated.h"
#include "tidewatt/units/text.h"

namespace tidewatt::sensors {
namespace {

using metering::DeviceProcess;
using metering::DeviceProcesses;

constexpr std::size_t kMostReadings = 2048;
constexpr std::size_t kMostEntries = 16'384;
constexpr std::size_t kLongestText = 1024;
constexpr char kBetweenReadings = '\x1e';
constexpr std::string_view kOk = "ok";
constexpr std::string_view kError = "error";

bool must_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == ';'; }

void append_text(std::string& out, std::string_view text) {
  for (const char c : text.substr(0, kLongestText)) {
    if (must_escape(c))
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

std::optional<std::string> read_text(std::string_view escaped) {
  std::string out;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '\\') {
      if (must_escape(escaped[i])) return std::nullopt;
      out += escaped[i];
      continue;
    }
    if (i + 3 >= escaped.size() || escaped[i + 1] != 'x') return std::nullopt;
    const auto high = hex_digit(escaped[i + 2]);
    const auto low = hex_digit(escaped[i + 3]);
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high * 16 + *low);
    i += 3;
  }
  if (out.size() > kLongestText) return std::nullopt;
  return out;
}

template <std::size_t N>
std::optional<std::array<std::string_view, N>> split(std::string_view text, char separator) {
  std::array<std::string_view, N> parts;
  for (std::size_t i = 0; i < N; ++i) {
    const auto end = text.find(separator);
    if ((end == std::string_view::npos) != (i + 1 == N)) return std::nullopt;
    parts[i] = text.substr(0, end);
    if (i + 1 < N) text.remove_prefix(end + 1);
  }
  return parts;
}

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void text(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    begin(key);
    append_text(out_, value);
  }
  void number(std::string_view key, const std::optional<double>& value) {
    if (value) put(key, format_double(*value));
  }
  template <class Tag>
  void quantity(std::string_view key, const std::optional<Quantity<Tag>>& value) {
    if (value) put(key, format_double(value->value()));
  }
  template <class Integer>
  void whole(std::string_view key, const std::optional<Integer>& value) {
    if (value) put(key, fmt::format("{}", *value));
  }
  void put(std::string_view key, std::string_view value) {
    begin(key);
    out_ += value;
  }

 private:
  void begin(std::string_view key) {
    if (!first_) out_ += '\t';
    first_ = false;
    out_ += key;
    out_ += '=';
  }
  std::string& out_;
  bool first_ = true;
};

template <class T>
std::string or_empty(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string{};
}

void write(std::string& out, const Reading& r) {
  Writer w{out};
  w.text("domain", r.domain);
  w.whole("index", std::optional{r.index});
  w.text("uuid", r.uuid);
  w.text("vendor", r.vendor);
  w.text("model", r.model);
  w.quantity("power", r.power);
  w.quantity("energy", r.energy_total);
  w.text("epoch", r.counter_epoch);
  w.quantity("limit", r.power_limit);
  w.number("util", r.util);
  w.whole("memory", r.memory_used_bytes);
  if (r.health) {
    w.put("health", "");
    w.number("temperature", r.health->temperature_c);
    w.whole("throttle", r.health->throttle_reasons);
    w.whole("ecc", r.health->ecc_errors);
    w.whole("xid", r.health->xid_errors);
  }
  w.text("source", r.source);
  if (r.quality != Quality::measured) w.text("quality", to_string(r.quality));
  w.text("reason", r.reason);
  for (std::size_t i = 0; i < std::min(r.holders.size(), kMostEntries); ++i) {
    const auto& h = r.holders[i];
    std::string entry;
    append_text(entry, h.task_id);
    const auto share = [](const std::optional<double>& s) { return s ? format_double(*s) : std::string{}; };
    w.put("holder", fmt::format("{};{};{};{}", entry, share(h.compute_share), share(h.memory_share),
                                to_string(h.state)));
  }
  if (r.processes) {
    w.put("processes", fmt::format("{};{}", r.processes->at.time_since_epoch().count(),
                                   or_empty(r.processes->memory_total)));
    for (std::size_t i = 0; i < std::min(r.processes->processes.size(), kMostEntries); ++i) {
      const auto& p = r.processes->processes[i];
      w.put("process", fmt::format("{};{};{};{}", p.pid, or_empty(p.memory_used), or_empty(p.instance),
                                   or_empty(p.compute_slices)));
    }
  }
  w.whole("at", std::optional{r.at.time_since_epoch().count()});
}

std::optional<int> parse_int(std::string_view text) {
  const auto wide = parse_int64(text);
  if (!wide || *wide < std::numeric_limits<int>::min() || *wide > std::numeric_limits<int>::max())
    return std::nullopt;
  return static_cast<int>(*wide);
}

/// An empty text is an unknown value; false when it is neither empty nor one.
template <class T, class Parse>
bool read_optional(std::string_view text, std::optional<T>& out, Parse parse) {
  if (text.empty()) return true;
  out = parse(text);
  return out.has_value();
}

template <class Tag>
bool read_quantity(std::string_view text, std::optional<Quantity<Tag>>& out) {
  const auto value = parse_double(text);
  if (value) out = Quantity<Tag>{*value};
  return value.has_value();
}

template <class T, class Parse>
bool read_known(std::string_view text, std::optional<T>& out, Parse parse) {
  out = parse(text);
  return out.has_value();
}

bool read_string(std::string_view text, std::string& out) {
  auto value = read_text(text);
  if (value) out = std::move(*value);
  return value.has_value();
}

bool read_time(std::string_view text, SteadyTime& out) {
  const auto ms = parse_int64(text);
  if (ms) out = SteadyTime{Milliseconds{*ms}};
  return ms.has_value();
}

bool read_quality(std::string_view text, Quality& out) {
  for (const auto quality : {Quality::measured, Quality::estimated, Quality::simulated})
    if (text == to_string(quality)) {
      out = quality;
      return true;
    }
  return false;
}

bool read_holder(std::string_view text, std::vector<Holder>& out) {
  const auto parts = split<4>(text, ';');
  Holder holder;
  if (out.size() >= kMostEntries || !parts || !read_string(parts->at(0), holder.task_id) ||
      !read_optional(parts->at(1), holder.compute_share, parse_double) ||
      !read_optional(parts->at(2), holder.memory_share, parse_double))
    return false;
  holder.state = holder_state_from(parts->at(3));
  if (to_string(holder.state) != parts->at(3)) return false;
  out.push_back(std::move(holder));
  return true;
}

bool read_processes(std::string_view text, std::optional<DeviceProcesses>& out) {
  const auto parts = split<2>(text, ';');
  DeviceProcesses processes;
  if (!parts || !read_time(parts->at(0), processes.at) ||
      !read_optional(parts->at(1), processes.memory_total, parse_int64))
    return false;
  out = std::move(processes);
  return true;
}

bool read_process(std::string_view text, std::optional<DeviceProcesses>& out) {
  const auto parts = split<4>(text, ';');
  if (!out || out->processes.size() >= kMostEntries || !parts) return false;
  const auto pid = parse_int64(parts->at(0));
  DeviceProcess process;
  if (!pid || !read_optional(parts->at(1), process.memory_used, parse_int64) ||
      !read_optional(parts->at(2), process.instance, parse_uint64) ||
      !read_optional(parts->at(3), process.compute_slices, parse_int))
    return false;
  process.pid = *pid;
  out->processes.push_back(process);
  return true;
}

bool read_health(std::string_view key, std::string_view value, Health& health) {
  if (key == "temperature") return read_known(value, health.temperature_c, parse_double);
  if (key == "throttle") return read_known(value, health.throttle_reasons, parse_uint64);
  if (key == "ecc") return read_known(value, health.ecc_errors, parse_int64);
  return key == "xid" && read_known(value, health.xid_errors, parse_int64);
}

bool read_field(std::string_view key, std::string_view value, Reading& r) {
  if (key == "domain") return read_string(value, r.domain) && !r.domain.empty();
  if (key == "index") {
    const auto index = parse_int(value);
    if (index) r.index = *index;
    return index.has_value();
  }
  if (key == "uuid") return read_string(value, r.uuid);
  if (key == "vendor") return read_string(value, r.vendor);
  if (key == "model") return read_string(value, r.model);
  if (key == "power") return read_quantity(value, r.power);
  if (key == "energy") return read_quantity(value, r.energy_total);
  if (key == "epoch") return read_string(value, r.counter_epoch);
  if (key == "limit") return read_quantity(value, r.power_limit);
  if (key == "util") return read_known(value, r.util, parse_double);
  if (key == "memory") return read_known(value, r.memory_used_bytes, parse_int64);
  if (key == "health") {
    r.health.emplace();
    return value.empty();
  }
  if (key == "source") return read_string(value, r.source);
  if (key == "quality") return read_quality(value, r.quality);
  if (key == "reason") return read_string(value, r.reason);
  if (key == "holder") return read_holder(value, r.holders);
  if (key == "processes") return read_processes(value, r.processes);
  if (key == "process") return read_process(value, r.processes);
  if (key == "at") return read_time(value, r.at);
  return r.health && read_health(key, value, *r.health);
}

tl::unexpected<Error> garbage(std::string_view text) {
  constexpr std::size_t kQuoted = 60;
  std::string quoted;
  append_text(quoted, text.substr(0, kQuoted));
  return fail(ErrorCode::corrupt, fmt::format("no answer of a probe process: \"{}\"", quoted));
}

Result<Error> error_from(std::string_view line) {
  const auto parts = split<4>(line, '\t');
  if (!parts) return garbage(line);
  const auto code = parse_uint64(parts->at(1));
  Error error;
  if (!code || *code > static_cast<std::uint64_t>(ErrorCode::internal) ||
      !read_string(parts->at(2), error.message) || !read_string(parts->at(3), error.hint))
    return garbage(line);
  error.code = static_cast<ErrorCode>(*code);
  return error;
}

}  // namespace

std::string to_line(const Reading& reading) {
  std::string out;
  write(out, reading);
  return out;
}

Result<Reading> reading_from_line(std::string_view line) {
  Reading reading;
  std::vector<std::string_view> seen;
  bool more = true;
  while (more) {
    const auto end = line.find('\t');
    more = end != std::string_view::npos;
    const auto field = line.substr(0, end);
    if (more) line.remove_prefix(end + 1);
    const auto equals = field.find('=');
    if (equals == std::string_view::npos) return garbage(field);
    const auto key = field.substr(0, equals);
    if (key != "holder" && key != "process") {
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) return garbage(field);
      seen.push_back(key);
    }
    if (!read_field(key, field.substr(equals + 1), reading)) return garbage(field);
  }
  const auto has = [&](std::string_view key) {
    return std::find(seen.begin(), seen.end(), key) != seen.end();
  };
  if (!has("domain") || !has("at"))
    return fail(ErrorCode::corrupt, "a reading of a probe process lacks its domain or time");
  return reading;
}

std::string to_answer(const Result<std::vector<Reading>>& look) {
  std::string out;
  if (!look) {
    fmt::format_to(std::back_inserter(out), "{}\t{}\t", kError, static_cast<int>(look.error().code));
    append_text(out, look.error().message);
    out += '\t';
    append_text(out, look.error().hint);
    return out;
  }
  out = kOk;
  for (std::size_t i = 0; i < std::min(look->size(), kMostReadings); ++i) {
    out += kBetweenReadings;
    write(out, (*look)[i]);
  }
  return out;
}

Result<std::vector<Reading>> look_from_answer(std::string_view line) {
  if (line.starts_with(kError)) {
    TW_TRY(auto error, error_from(line));
    return tl::unexpected(std::move(error));
  }
  auto end = line.find(kBetweenReadings);
  if (line.substr(0, end) != kOk) return garbage(line);
  std::vector<Reading> readings;
  while (end != std::string_view::npos) {
    line.remove_prefix(end + 1);
    end = line.find(kBetweenReadings);
    if (readings.size() >= kMostReadings)
      return fail(ErrorCode::corrupt, "a probe process gave too many readings");
    TW_TRY(auto reading, reading_from_line(line.substr(0, end)));
    readings.push_back(std::move(reading));
  }
  return readings;
}

}  // namespace tidewatt::sensors
