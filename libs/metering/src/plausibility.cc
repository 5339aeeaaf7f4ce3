#include "tidewatt/metering/plausibility.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "tidewatt/units/text.h"

namespace tidewatt::metering {
namespace {

// What all-ones look like after a tool has printed them as watts, whatever unit it believed in: watts,
// tenths, thousandths, and millionths where that isn't an everyday number.
bool looks_blank(double watts) {
  static constexpr std::array<double, 17> kBlankWatts{65535.0,
                                                      65534.0,
                                                      6553.5,
                                                      65.535,
                                                      655350.0,
                                                      2147483647.0,
                                                      214748364.7,
                                                      2147483.647,
                                                      2147.483647,
                                                      4294967295.0,
                                                      4294967294.0,
                                                      429496729.5,
                                                      4294967.295,
                                                      4294967.294,
                                                      4294.967295,
                                                      42949672950.0,
                                                      9223372036854775807.0};
  for (const double blank : kBlankWatts)
    if (std::fabs(watts - blank) <= blank * 1e-12) return true;
  // Rounded forms of 2^32 mW and 2^31 mW, as "%.2f" and "%.1f" print them.
  return std::fabs(watts - 4294967.295) < 0.06 || std::fabs(watts - 2147483.647) < 0.06;
}

}  // namespace

bool is_blank(std::uint64_t raw) {
  constexpr std::uint64_t kMaxSigned = std::numeric_limits<std::int64_t>::max();
  return raw == 0xFFFFU || raw == 0x7FFFFFFFU || raw == 0xFFFFFFFEU || raw == 0xFFFFFFFFU ||
         raw == kMaxSigned || raw == kMaxSigned + 1U || raw == std::numeric_limits<std::uint64_t>::max();
}

Judged judge_power(Watts power, std::optional<Watts> limit) {
  const double w = power.value();
  if (!std::isfinite(w)) return {std::nullopt, "not_a_finite_number"};
  if (w < 0) return {std::nullopt, fmt::format("negative: {} W", format_double(w))};
  if (w == 0) return {std::nullopt, "printed_zero_implausible"};
  if (auto reason = why_implausible(power, limit); !reason.empty()) return {std::nullopt, std::move(reason)};
  return {power, {}};
}

std::string why_implausible(Watts power, std::optional<Watts> limit) {
  const double w = power.value();
  if (looks_blank(w)) return fmt::format("sentinel: {} W", format_double(w));
  if (w > kMaxWatts) return fmt::format("implausible: {} W", format_double(w));
  if (limit && limit->value() > 0 && w > kLimitFactor * limit->value())
    return fmt::format("implausible: {} W at a limit of {} W", format_double(w),
                       format_double(limit->value()));
  return {};
}

Judged judge_raw_power(std::uint64_t raw, double watts_per_unit, std::optional<Watts> limit) {
  if (is_blank(raw)) return {std::nullopt, fmt::format("sentinel: {:#x}", raw)};
  return judge_power(Watts{static_cast<double>(raw) * watts_per_unit}, limit);
}

std::optional<Watts> judge_limit(Watts limit) {
  const double w = limit.value();
  if (!std::isfinite(w) || w <= 0 || w > kMaxWatts || looks_blank(w)) return std::nullopt;
  return limit;
}

}  // namespace tidewatt::metering
