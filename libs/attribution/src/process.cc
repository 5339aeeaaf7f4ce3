#include "tidewatt/attribution/process.h"

#include "tidewatt/units/text.h"

namespace tidewatt::attribution {

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const auto open = text.find(" (");
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2)
    return std::nullopt;
  ProcessStat stat;
  const auto pid = parse_int64(text.substr(0, open));
  if (!pid || *pid <= 0) return std::nullopt;
  stat.pid = *pid;
  stat.name = text.substr(open + 2, close - open - 2);
  constexpr int kStart = 22;  // the name is field 2, the state after it field 3
  std::string_view rest = text.substr(close + 1);
  for (int field = 3;; ++field) {
    rest = trim(rest);
    if (rest.empty()) return std::nullopt;
    const auto end = rest.find(' ');
    if (field == kStart) {
      const auto ticks = parse_uint64(trim(rest.substr(0, end)));
      if (!ticks) return std::nullopt;
      stat.start_ticks = *ticks;
      return stat;
    }
    if (end == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(end);
  }
}

SteadyTime started_at(const ProcessStat& stat) {
  constexpr std::uint64_t kMillisecondsPerTick = 10;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;
  const auto ticks = stat.start_ticks < kMost ? stat.start_ticks : kMost;
  return SteadyTime{Milliseconds{static_cast<std::int64_t>(ticks * kMillisecondsPerTick)}};
}

std::optional<std::string> environment_value(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const auto end = text.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    const auto entry = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return std::string(entry.substr(name.size() + 1));
  }
  return std::nullopt;
}

}  // namespace tidewatt::attribution
