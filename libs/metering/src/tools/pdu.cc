// snmpget and snmpwalk text: "OID = TYPE: value". Objects are known by number or by name; everything else in
// a walk (load states, peaks, volts, amps, energy) is passed over.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "tidewatt/metering/plausibility.h"
#include "tidewatt/units/text.h"
#include "tools/node_tools.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kPduName = "pdu";
constexpr double kHundredthsOfKilowatt = 10;

enum class Level { device, inlet, phase, outlet };
enum class Suffix { last, pair, sensor };

struct PowerObject {
  std::string_view oid;  ///< without 1.3.6.1.4.1. in front
  std::string_view name;
  Level level;
  double watts;  ///< per count
  Suffix suffix = Suffix::last;
};

constexpr std::array kObjects{
    // APC: power of the older generation in watts, of the newer one in hundredths of a kilowatt
    PowerObject{"318.1.1.12.1.16", "rPDUIdentDevicePowerWatts", Level::device, 1},
    PowerObject{"318.1.1.26.4.3.1.5", "rPDU2DeviceStatusPower", Level::device, kHundredthsOfKilowatt},
    PowerObject{"318.1.1.26.6.3.1.7", "rPDU2PhaseStatusPower", Level::phase, kHundredthsOfKilowatt},
    PowerObject{"318.1.1.26.9.4.3.1.7", "rPDU2OutletMeteredStatusPower", Level::outlet, 1},
    // Server Technology, Sentry 3 and 4
    PowerObject{"1718.3.2.2.1.12", "infeedPower", Level::inlet, 1, Suffix::pair},
    PowerObject{"1718.4.1.3.3.1.3", "st4InputCordActivePower", Level::inlet, 1, Suffix::pair},
    PowerObject{"", "st4OutletActivePower", Level::outlet, 1, Suffix::pair},
    // Eaton
    PowerObject{"534.6.6.7.3.5.1.4", "inputTotalWatts", Level::device, 1, Suffix::pair},
    PowerObject{"534.6.6.7.6.5.1.3", "outletWatts", Level::outlet, 1, Suffix::pair},
    // Raritan: the last number of the index is the kind of sensor, decimal digits stand apart
    PowerObject{"13742.6.5.2.3.1.4", "measurementsInletSensorValue", Level::inlet, 1, Suffix::sensor},
    PowerObject{"13742.6.5.4.3.1.4", "measurementsOutletSensorValue", Level::outlet, 1, Suffix::sensor},
};
constexpr std::string_view kRaritanActivePower = "5";
struct DigitsObject {
  std::string_view oid;
  std::string_view name;
  Level level;
};
constexpr std::array kDigits{
    DigitsObject{"13742.6.3.3.4.1.7", "inletSensorDecimalDigits", Level::inlet},
    DigitsObject{"13742.6.3.5.4.1.7", "outletSensorDecimalDigits", Level::outlet},
};

std::string_view word_for(Level level) {
  switch (level) {
    case Level::device:
      return "pdu";
    case Level::inlet:
      return "inlet";
    case Level::phase:
      return "phase";
    case Level::outlet:
      return "outlet";
  }
  return "pdu";
}

struct Variable {
  std::string_view object;  ///< as printed
  std::string_view value;
};

std::optional<Variable> variable_of(std::string_view line) {
  line = trim(line);
  const auto equals = line.find(" = ");
  if (equals != std::string_view::npos)
    return Variable{trim(line.substr(0, equals)), trim(line.substr(equals + 3))};
  const auto blank = line.find(' ');  // -Oq
  if (blank == std::string_view::npos || !contains(line.substr(0, blank), ".")) return std::nullopt;
  return Variable{line.substr(0, blank), trim(line.substr(blank))};
}

// The index behind an object, or nullopt when the variable is another one.
std::optional<std::string> index_in(std::string_view printed, std::string_view oid, std::string_view name) {
  if (const auto colons = printed.rfind("::"); colons != std::string_view::npos)
    printed.remove_prefix(colons + 2);
  if (printed.starts_with(name) && printed.size() > name.size() && printed[name.size()] == '.')
    return std::string{printed.substr(name.size() + 1)};
  for (const std::string_view root : {".1.3.6.1.4.1.", "1.3.6.1.4.1.", "iso.3.6.1.4.1.", "enterprises.",
                                      ".iso.org.dod.internet.private.enterprises."}) {
    if (oid.empty() || !printed.starts_with(root)) continue;
    const auto rest = printed.substr(root.size());
    if (rest.starts_with(oid) && rest.size() > oid.size() && rest[oid.size()] == '.')
      return std::string{rest.substr(oid.size() + 1)};
  }
  return std::nullopt;
}

// "Gauge32: 125", "INTEGER: 125 W", "\"125\"" -> what stands behind the type, without quotes.
std::string_view plain(std::string_view value) {
  const auto colon = value.find(": ");
  if (colon != std::string_view::npos && value.substr(0, colon).find(' ') == std::string_view::npos)
    value = trim(value.substr(colon + 2));
  if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"'))
    value = value.substr(1, value.size() - 2);
  return trim(value);
}

std::string first_word(std::string_view text) {
  const auto words = words_of(text);
  return words.empty() ? std::string{} : std::string{words[0]};
}

struct Found {
  const PowerObject* object;
  std::string index;
  std::string_view value;
};

// A walk that holds an object twice (by number and by name, or repeated) says the same thing again.
using Places = std::map<std::pair<const PowerObject*, std::string>, std::size_t>;

void note(std::vector<Found>& found, Places& places, Found one) {
  const auto [place, is_new] = places.emplace(std::pair{one.object, one.index}, found.size());
  if (is_new)
    found.push_back(std::move(one));
  else
    found[place->second].value = one.value;
}

// "1.2.5" or "1.2.activePower" -> "1.2"; nullopt = another sensor.
std::optional<std::string> without_sensor(const std::string& index) {
  const auto dot = index.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const auto sensor = std::string_view{index}.substr(dot + 1);
  if (sensor != kRaritanActivePower && sensor != "activePower") return std::nullopt;
  return index.substr(0, dot);
}

ToolDevice device_of(const Found& found, const std::map<std::pair<Level, std::string>, int>& digits) {
  ToolDevice device;
  const auto level = found.object->level;
  device.index = fmt::format("{} {}", word_for(level), found.index);
  device.name = std::string{found.object->name};
  double factor = found.object->watts;
  if (found.object->suffix == Suffix::sensor) {
    const auto known = digits.find({level, found.index});
    if (known == digits.end()) {
      device.reason =
          "decimal_digits_missing: ask for inletSensorDecimalDigits or outletSensorDecimalDigits too";
      return device;
    }
    factor = std::pow(10.0, -known->second);
  }
  const auto text = plain(found.value);
  const auto words = words_of(text);
  // "1 234" is no 1: what stands behind the number is a unit or nothing.
  const bool one_number = std::none_of(
      words.begin() + (words.empty() ? 0 : 1), words.end(),
      [](std::string_view word) { return word.find_first_of("0123456789") != std::string_view::npos; });
  const auto value = one_number ? parse_double(first_word(text)) : std::nullopt;
  if (value && *value >= 0 && *value < 1e19 && is_blank(static_cast<std::uint64_t>(*value))) {
    device.reason = fmt::format("sentinel: {}", text.substr(0, 60));
    return device;
  }
  if (!value) {
    device.reason = text.empty() ? "tool_prints_nothing" : fmt::format("tool_prints_{}", text.substr(0, 60));
    return device;
  }
  if (*value == -1) {
    device.reason = "not_present: -1";
    return device;
  }
  // An outlet without a plug draws nothing, and the PDU says so.
  if (*value == 0 && level == Level::outlet) {
    device.power = Watts{0};
    return device;
  }
  auto judged = judge_power(Watts{*value * factor}, std::nullopt);
  device.power = judged.power;
  device.reason = std::move(judged.reason);
  return device;
}

// Inlets of one PDU, and PDUs, don't contain each other; phases and outlets are parts. A unit that answers
// with the old object and the new one says the same thing twice: the newest object counts.
void total_of(ToolReadings& readings, const std::vector<Found>& found) {
  for (const auto level : {Level::device, Level::inlet}) {
    const PowerObject* newest = nullptr;
    for (const auto& one : found)
      if (one.object->level == level && (newest == nullptr || one.object > newest)) newest = one.object;
    if (newest == nullptr) continue;
    double sum = 0;
    int known = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].object != newest) continue;
      const auto& device = readings.devices[i];
      if (device.reason.starts_with(kTruncated)) return;
      if (!device.power) continue;
      sum += device.power->value();
      ++known;
    }
    if (known > 0) readings.total = Watts{sum};
    return;
  }
}

Result<ToolReadings> nothing_found(const std::vector<std::string_view>& lines) {
  for (const auto line : lines)
    for (const std::string_view failure :
         {"Timeout", "No Response", "No Such Object", "No Such Instance", "noSuchName", "Unknown host",
          "authorizationError", "Authentication failure", "Unknown user name", "No more variables"})
      if (contains(line, failure))
        return fail(ErrorCode::invalid_input,
                    fmt::format("pdu: the walk failed: {}", trim(line).substr(0, 200)),
                    "check address, community and OID; the PDU's power is unknown until then");
  std::size_t first = 0;
  while (first < lines.size() && trim(lines[first]).empty()) ++first;
  return layout_error(kPduName, first + 1,
                      "snmpwalk's 'OID = value' of APC, Server Technology, Eaton or Raritan",
                      first < lines.size() ? lines[first] : "");
}

}  // namespace

Result<ToolReadings> parse_pdu(std::string_view, std::string_view text) {
  const auto lines = lines_of(text);
  std::vector<Found> found;
  Places places;
  std::map<std::pair<Level, std::string>, int> digits;
  for (const auto line : lines) {
    const auto variable = variable_of(line);
    if (!variable) continue;
    for (const auto& object : kObjects)
      if (auto index = index_in(variable->object, object.oid, object.name)) {
        if (object.suffix == Suffix::sensor) index = without_sensor(*index);
        if (index) note(found, places, {&object, *index, variable->value});
      }
    for (const auto& object : kDigits)
      if (const auto index = index_in(variable->object, object.oid, object.name))
        if (const auto place = without_sensor(*index))
          if (const auto count = parse_int64(first_word(plain(variable->value)));
              count && *count >= 0 && *count < 10)
            digits[{object.level, *place}] = static_cast<int>(*count);
  }
  ToolReadings readings;
  for (const auto& one : found) readings.devices.push_back(device_of(one, digits));
  // Nothing tells whether "12" at the very end is a piece of "125".
  for (std::size_t i = 0; i < found.size(); ++i)
    if (is_open(text) && found[i].value.data() >= lines.back().data()) {
      readings.devices[i].power.reset();
      readings.devices[i].reason = fmt::format("{}: the text ends within this value", kTruncated);
    }
  if (readings.devices.empty()) return nothing_found(lines);
  for (const auto& device : readings.devices) readings.unknown_devices += device.power ? 0 : 1;
  // Without a line end rows may follow that were cut off.
  if (!is_open(text)) total_of(readings, found);
  return readings;
}

}  // namespace tidewatt::metering::tools
