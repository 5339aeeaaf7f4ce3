// Log facade: level, message, fields. The line format and the sink are the app's business.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

namespace tidewatt::log {

enum class Level { debug, info, warning, error, critical };
using Field = std::pair<std::string_view, std::string_view>;

void write(Level level, std::string_view message, std::initializer_list<Field> fields = {});
/// Lines below this level are dropped. Default: info.
void set_level(Level level);

inline void debug(std::string_view m, std::initializer_list<Field> f = {}) { write(Level::debug, m, f); }
inline void info(std::string_view m, std::initializer_list<Field> f = {}) { write(Level::info, m, f); }
inline void warning(std::string_view m, std::initializer_list<Field> f = {}) { write(Level::warning, m, f); }
inline void error(std::string_view m, std::initializer_list<Field> f = {}) { write(Level::error, m, f); }
inline void critical(std::string_view m, std::initializer_list<Field> f = {}) {
  write(Level::critical, m, f);
}

}  // namespace tidewatt::log
