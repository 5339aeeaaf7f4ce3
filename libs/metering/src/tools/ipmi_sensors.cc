// Sensor lists. The unit decides, not the sensor's type: some boards file their wattage under Current, and
// amps times volts of coarse sensors is no power.
#include <fmt/format.h>

#include <algorithm>

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

// A row of any unit, by which a turn of a tool in a loop is told from the next one.
struct Row {
  std::string_view name;
  std::string_view number;  ///< of the sensor, where the list prints one
  bool operator==(const Row&) const = default;
};

struct Rows {
  SensorList list;
  std::vector<Row> seen;
  std::vector<std::size_t> row_of_device;
};

void begin_row(Rows& rows, std::string_view name, std::string_view number = {}) {
  rows.seen.push_back({name, number});
}

void add_sensor(Rows& rows, std::string_view name, std::string_view value, std::string_view unit) {
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
  rows.list.readings.devices.push_back(std::move(device));
  rows.row_of_device.push_back(rows.seen.size() - 1);
}

// How many rows one turn of the tool has: the list repeats itself after that many. All of them when it
// doesn't.
std::size_t rows_of_turn(const std::vector<Row>& rows) {
  for (std::size_t n = 1; n * 2 <= rows.size(); ++n)
    if (rows[n] == rows[0] &&
        std::equal(rows.begin() + static_cast<std::ptrdiff_t>(n), rows.end(), rows.begin()))
      return n;
  return rows.size();
}

// Of a tool in a loop the last whole turn counts.
SensorList last_turn(Rows rows) {
  const auto turn = rows_of_turn(rows.seen);
  const auto begin = turn == 0 ? 0 : (rows.seen.size() / turn - 1) * turn;
  auto& devices = rows.list.readings.devices;
  std::vector<ToolDevice> kept;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (rows.row_of_device[i] >= begin && rows.row_of_device[i] < begin + turn)
      kept.push_back(std::move(devices[i]));
  devices = std::move(kept);
  rows.list.rows = static_cast<int>(turn);
  return std::move(rows.list);
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
void read_cells(Rows& rows, const std::vector<std::string_view>& cells) {
  const std::size_t name = all_digits(cells[0]) ? 1 : 0;
  if (name + 1 >= cells.size() || cells[name].empty()) return;
  begin_row(rows, cells[name],
            name == 1                    ? cells[0]
            : is_sensor_number(cells[1]) ? cells[1]
                                         : std::string_view{});
  for (std::size_t i = name + 1; i < cells.size(); ++i) {
    // Before a unit alone stands the number in a cell of its own, or no number at all: never the entity.
    if (is_power_unit(cells[i])) {
      const bool has_number = i > name + 1 && !is_sensor_number(cells[name + 1]);
      return add_sensor(rows, cells[name], has_number ? cells[i - 1] : std::string_view{}, cells[i]);
    }
    if (const auto found = in_watts(cells[i]))
      return add_sensor(rows, cells[name], found->first, found->second);
  }
}

// FreeIPMI's older form: "96: System Level (Current): 182.00 W (NA/NA): [OK]".
bool read_freeipmi_line(Rows& rows, std::string_view line) {
  const auto first = line.find(": ");
  if (first == std::string_view::npos || !all_digits(trim(line.substr(0, first)))) return false;
  const auto rest = line.substr(first + 2);
  const auto type_end = rest.find("): ");
  const auto type = rest.rfind(" (", type_end);
  if (type_end == std::string_view::npos || type == std::string_view::npos || type > type_end) return false;
  begin_row(rows, trim(rest.substr(0, type)), line.substr(0, first));
  const auto words = words_of(rest.substr(type_end + 3));
  if (words.size() >= 2 && is_power_unit(words[1]))
    add_sensor(rows, trim(rest.substr(0, type)), words[0], words[1]);
  return true;
}

// ipmiutil: "000a SDR Full 01 3b 20 a 01 snum 2e Power Meter = 1a OK 104.00 Watts".
bool read_ipmiutil_line(Rows& rows, std::string_view line) {
  const auto snum = line.find(" snum ");
  const auto equals = line.find(" = ");
  if (!contains(line, "SDR ") || snum == std::string_view::npos || equals == std::string_view::npos ||
      equals < snum)
    return false;
  const auto left = trim(line.substr(snum + 6, equals - snum - 6));
  begin_row(rows, left);
  const auto name = left.find(' ') == std::string_view::npos ? left : trim(left.substr(left.find(' ')));
  const auto words = words_of(line.substr(equals + 3));
  for (std::size_t i = 1; i < words.size(); ++i)
    if (is_power_unit(words[i])) {
      add_sensor(rows, name, words[i - 1], words[i]);
      break;
    }
  return true;
}

// `sensor get`: "Sensor ID : SYS_POWER (0x8a)", then "Sensor Reading : 175 (+/- 0) Watts".
bool read_sensor_get(Rows& rows, std::string_view line, std::string_view& open) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  const auto key = trim(line.substr(0, colon));
  const auto value = trim(line.substr(colon + 1));
  if (key == "Sensor ID") {
    const auto number = value.rfind(" (");
    open = trim(value.substr(0, number));
    begin_row(rows, value);
    return true;
  }
  if (key != "Sensor Reading" || open.empty()) return false;
  const auto words = words_of(value);
  if (!words.empty() && is_power_unit(words.back()))
    add_sensor(rows, open, trim(value.substr(0, value.find_first_of("(W"))), words.back());
  open = {};
  return true;
}

}  // namespace

SensorList read_sensor_list(const std::vector<std::string_view>& lines) {
  Rows rows;
  std::string_view open;
  for (const auto line : lines) {
    if (contains(line, "|")) {
      const auto cells = cells_of(line, '|');
      if (cells[0] == "ID" || cells[0] == "Record ID") continue;  // FreeIPMI's header
      if (cells.size() >= 3) read_cells(rows, cells);
      continue;
    }
    if (read_freeipmi_line(rows, line) || read_ipmiutil_line(rows, line) || read_sensor_get(rows, line, open))
      continue;
    const auto cells = cells_of(line, ',');
    if (cells.size() >= 4 && cells[0] != "ID" && !contains(cells[0], ":")) read_cells(rows, cells);
  }
  auto list = last_turn(std::move(rows));
  list.readings.unknown_devices = 0;
  for (const auto& device : list.readings.devices) list.readings.unknown_devices += device.power ? 0 : 1;
  return list;  // no total: a supply, a processor and the board's input contain each other
}

}  // namespace tidewatt::metering::tools
