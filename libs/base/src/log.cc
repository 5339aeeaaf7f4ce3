#include "tidewatt/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <string>

namespace tidewatt::log {
namespace {

// The one process-wide object: a log that had to be passed everywhere would be in every signature.
spdlog::logger& logger() {
  // Never destroyed: a thread that was left behind may still log while the process ends.
  static auto* const instance = [] {
    auto* made = new spdlog::logger("tidewatt", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    made->flush_on(spdlog::level::warn);
    return made;
  }();
  return *instance;
}

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::critical:
      return spdlog::level::critical;
  }
  return spdlog::level::info;
}

/// Values come from outside: a newline in one must not forge a second log line.
void append_value(std::string& line, std::string_view value) {
  const bool plain = !value.empty() && value.find_first_of(" \"=\n\r\t\\") == std::string_view::npos;
  if (plain) {
    line += value;
    return;
  }
  line += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') line += '\\';
    line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  line += '"';
}

}  // namespace

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  const auto spd_level = to_spdlog(level);
  if (!logger().should_log(spd_level)) return;
  std::string line;
  for (const char c : message) line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  for (const auto& [key, value] : fields) {
    line += ' ';
    line += key;
    line += '=';
    append_value(line, value);
  }
  logger().log(spd_level, spdlog::string_view_t(line.data(), line.size()));
}

void set_level(Level level) { logger().set_level(to_spdlog(level)); }

}  // namespace tidewatt::log
