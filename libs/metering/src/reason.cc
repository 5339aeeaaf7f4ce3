#include "tidewatt/metering/reason.h"

#include <fmt/format.h>

#include <array>

#include "tidewatt/units/text.h"

namespace tidewatt::metering {
namespace {

struct Words {
  std::string_view code;
  std::string_view words;
};

// What follows the code, such as a value, stays.
constexpr std::array kWords{
    Words{"counter_baseline", "first look at the counter: the power is known from the next one on"},
    Words{"cumulative_energy_counter_needs_two_reads", "an energy counter: its power takes two reads"},
    Words{"counter_frozen", "counter frozen"},
    Words{"counter_total_full", "the counter's total is full and begins anew"},
    Words{"counter_out_of_range", "counter beyond its range"},
    Words{"counter_lap_could_hide", "a whole lap of the counter may hide between two reads"},
    Words{"counter_implausible", "the counter moved by more than the device can draw"},
    Words{"counter_decreased", "the counter fell"},
    Words{"printed_zero_implausible", "0 W was printed, which no device that is on draws"},
    Words{"not_a_finite_number", "what was printed is no number"},
    Words{"no_power_reading_in_this_command", "this command prints no power"},
    Words{"no_reading_in_this_interval", "no reading in this interval"},
    Words{"default_table_has_no_power_column", "the tool's default table has no power column"},
    Words{"no_power_column_in_this_layout", "this table has no power column"},
    Words{"only_window_average_min_max_no_instant",
          "only average, least and greatest of a while were printed, not the power of now"},
    Words{"sensor_named_average", "the sensor's name says that it is an average"},
    Words{"rated_power_not_a_draw", "a rated power, not what is drawn"},
    Words{"decimal_digits_missing", "the number of decimal digits is missing"},
    Words{"not_present", "not there"},
    Words{"sentinel", "a filler instead of a measurement"},
    Words{"implausible", "more than the device can draw"},
    Words{"tool_prints_nothing", "the tool prints nothing where the power belongs"},
    Words{"tool_prints_no_power_for_this_chip", "the tool prints no power for this chip"},
};

}  // namespace

std::string reason_in_words(std::string_view reason) {
  for (const auto& [code, words] : kWords) {
    if (!reason.starts_with(code)) continue;
    const auto rest = reason.substr(code.size());
    if (rest.empty() || rest.front() == ':' || rest.front() == ' ') return fmt::format("{}{}", words, rest);
  }
  constexpr std::string_view kPrints = "tool_prints_";
  if (reason == kPrints) return reason_in_words("tool_prints_nothing");
  if (reason.starts_with(kPrints))
    return fmt::format("the tool prints \"{}\" instead of a power", reason.substr(kPrints.size()));
  constexpr std::string_view kState = "power_reading_state_";
  if (reason.starts_with(kState))
    return fmt::format("the BMC's power reading is {}", reason.substr(kState.size()));
  constexpr std::string_view kNoNumber = "_is_no_number";
  if (reason.ends_with(kNoNumber))
    return fmt::format("{} is no number", reason.substr(0, reason.size() - kNoNumber.size()));
  return std::string{reason};
}

}  // namespace tidewatt::metering
