// Sensor lists. The unit decides, not the sensor's type: some boards file their wattage under Current, and
// amps times volts of coarse sensors is no power.
#include <fmt/format.h>

#include "tidewatt/units/text.h"
#include "tools/ipmi.h"
#include "tools/label.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

bool is_power_unit(std::string_view text) {
  return text == "Watts" || text == "watts" || text == "W" || text == "kW" || text == "mW";
}

enum class Kind { draw, average, limit };

// "Avg Power" is an average over an unknown window; caps and peaks are no draw at all.
Kind kind_of(std::string_view name) {
  const auto label = judge_label(name, true);
  if (label.bound) return Kind::limit;
  return label.averaged ? Kind::average : Kind::draw;
}

void add_sensor(SensorList& list, std::string_view name, std::string_view value, std::string_view unit) {
  const auto kind = kind_of(name);
  if (kind == Kind::limit) return;
  ToolDevice device;
  device.index = std::string{name};
  set_power(device, {{value, false, unit}}, "tool_prints_nothing");
  if (kind == Kind::average) {
    device.average = device.power;
    device.power.reset();
    if (device.average) device.reason = "sensor_named_average";
  }
  list.readings.devices.push_back(std::move(device));
}

// "154 Watts", "110 Watts, Presence detected"; nullopt = something else. All that stands before the unit is
// the value: "1 234 Watts" is no number.
std::optional<std::pair<std::string_view, std::string_view>> in_watts(std::string_view cell) {
  const auto words = words_of(cell);
  for (std::size_t i = 1; i < words.size(); ++i) {
    auto unit = words[i];
    while (unit.ends_with(',') || unit.ends_with(';')) unit.remove_suffix(1);
    if (!is_power_unit(unit)) continue;
    const auto length = static_cast<std::size_t>(unit.data() - words[0].data());
    return std::pair{trim(std::string_view{words[0].data(), length}), unit};
  }
  return std::nullopt;
}

// "77h": the sensor's number, which only lists print whose reading is one cell with its unit.
bool is_sensor_number(std::string_view cell) {
  return cell.size() >= 2 && cell.ends_with('h') &&
         cell.find_first_not_of("0123456789abcdefABCDEF") == cell.size() - 1;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Rows of "|" or "," cells, with the unit in the value's cell or in one of its own.
void read_cells(SensorList& list, const std::vector<std::string_view>& cells) {
  const std::size_t name = all_digits(cells[0]) ? 1 : 0;
  if (name + 1 >= cells.size() || cells[name].empty()) return;
  ++list.rows;
  for (std::size_t i = name + 1; i < cells.size(); ++i) {
    // Before a unit alone stands the number in a cell of its own, or no number at all: never the entity.
    if (is_power_unit(cells[i])) {
      const bool has_number = i > name + 1 && !is_sensor_number(cells[name + 1]);
      return add_sensor(list, cells[name], has_number ? cells[i - 1] : std::string_view{}, cells[i]);
    }
    if (const auto found = in_watts(cells[i]))
      return add_sensor(list, cells[name], found->first, found->second);
  }
}

// FreeIPMI's older form: "96: System Level (Current): 182.00 W (NA/NA): [OK]".
bool read_freeipmi_line(SensorList& list, std::string_view line) {
  const auto first = line.find(": ");
  if (first == std::string_view::npos || !all_digits(trim(line.substr(0, first)))) return false;
  const auto rest = line.substr(first + 2);
  const auto type_end = rest.find("): ");
  const auto type = rest.rfind(" (", type_end);
  if (type_end == std::string_view::npos || type == std::string_view::npos || type > type_end) return false;
  ++list.rows;
  const auto words = words_of(rest.substr(type_end + 3));
  if (words.size() >= 2 && is_power_unit(words[1]))
    add_sensor(list, trim(rest.substr(0, type)), words[0], words[1]);
  return true;
}

// ipmiutil: "000a SDR Full 01 3b 20 a 01 snum 2e Power Meter = 1a OK 104.00 Watts".
bool read_ipmiutil_line(SensorList& list, std::string_view line) {
  const auto snum = line.find(" snum ");
  const auto equals = line.find(" = ");
  if (!contains(line, "SDR ") || snum == std::string_view::npos || equals == std::string_view::npos ||
      equals < snum)
    return false;
  ++list.rows;
  const auto left = trim(line.substr(snum + 6, equals - snum - 6));
  const auto name = left.find(' ') == std::string_view::npos ? left : trim(left.substr(left.find(' ')));
  const auto words = words_of(line.substr(equals + 3));
  for (std::size_t i = 1; i < words.size(); ++i)
    if (is_power_unit(words[i])) {
      add_sensor(list, name, words[i - 1], words[i]);
      break;
    }
  return true;
}

// `sensor get`: "Sensor ID : SYS_POWER (0x8a)", then "Sensor Reading : 175 (+/- 0) Watts".
bool read_sensor_get(SensorList& list, std::string_view line, std::string_view& open) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  const auto key = trim(line.substr(0, colon));
  const auto value = trim(line.substr(colon + 1));
  if (key == "Sensor ID") {
    const auto number = value.rfind(" (");
    open = trim(value.substr(0, number));
    ++list.rows;
    return true;
  }
  if (key != "Sensor Reading" || open.empty()) return false;
  const auto words = words_of(value);
  if (!words.empty() && is_power_unit(words.back()))
    add_sensor(list, open, trim(value.substr(0, value.find_first_of("(W"))), words.back());
  open = {};
  return true;
}

}  // namespace

SensorList read_sensor_list(const std::vector<std::string_view>& lines) {
  SensorList list;
  std::string_view open;
  for (const auto line : lines) {
    if (contains(line, "|")) {
      const auto cells = cells_of(line, '|');
      if (cells[0] == "ID" || cells[0] == "Record ID") continue;  // FreeIPMI's header
      if (cells.size() >= 3) read_cells(list, cells);
      continue;
    }
    if (read_freeipmi_line(list, line) || read_ipmiutil_line(list, line) || read_sensor_get(list, line, open))
      continue;
    const auto cells = cells_of(line, ',');
    if (cells.size() >= 4 && cells[0] != "ID" && !contains(cells[0], ":")) read_cells(list, cells);
  }
  list.readings.unknown_devices = 0;
  for (const auto& device : list.readings.devices) list.readings.unknown_devices += device.power ? 0 : 1;
  return list;  // no total: a supply, a processor and the board's input contain each other
}

}  // namespace tidewatt::metering::tools
