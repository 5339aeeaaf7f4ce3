// `--query-gpu=... --format=csv`: columns by the header's names; without a header by the names in the
// command.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tidewatt/units/text.h"
#include "tools/nvidia_smi.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kNvidiaSmiCsvName = "nvidia-smi";
constexpr double kMebi = 1024.0 * 1024.0;

struct Column {
  std::string_view name;  ///< "power.draw"
  std::string_view unit;  ///< "W" from "power.draw [W]"
};

Column column_of(std::string_view cell) {
  const auto bracket = cell.find(" [");
  if (bracket == std::string_view::npos || !cell.ends_with(']')) return {cell, {}};
  return {trim(cell.substr(0, bracket)), cell.substr(bracket + 2, cell.size() - bracket - 3)};
}

class Row {
 public:
  Row(const std::vector<Column>& columns, const std::vector<std::string_view>& cells)
      : columns_(columns), cells_(cells) {}

  [[nodiscard]] std::optional<Candidate> cell(std::string_view name, bool averaged = false) const {
    for (std::size_t i = 0; i < columns_.size() && i < cells_.size(); ++i)
      if (columns_[i].name == name)
        return Candidate{cells_[i], averaged, columns_[i].unit.empty() ? "W" : columns_[i].unit};
    return std::nullopt;
  }
  [[nodiscard]] std::string_view text(std::string_view name, std::string_view other = {}) const {
    const auto found = cell(name);
    if (found) return found->text;
    return other.empty() ? std::string_view{} : text(other);
  }

 private:
  const std::vector<Column>& columns_;
  const std::vector<std::string_view>& cells_;
};

// "45 %", "1628 MiB", "45": the number in front.
std::optional<double> number_in(std::string_view text) {
  const auto words = words_of(text);
  return words.empty() ? std::nullopt : parse_double(words[0]);
}

void read_extras(ToolDevice& device, const Row& row) {
  if (const auto util = number_in(row.text("utilization.gpu")); util && *util >= 0 && *util <= 100)
    device.util = *util / 100;
  if (const auto used = number_in(row.text("memory.used")); used && *used >= 0 && *used < 1e9)
    device.memory_used_bytes = static_cast<std::int64_t>(*used * kMebi);
  if (const auto celsius = number_in(row.text("temperature.gpu"));
      celsius && *celsius > -100 && *celsius < 300)
    device.temperature_c = celsius;
}

ToolDevice device_of(const Row& row, std::int64_t order) {
  ToolDevice device;
  device.index = parse_int64(row.text("index")).value_or(order);
  device.name = row.text("name", "gpu_name");
  device.uuid = row.text("uuid", "gpu_uuid");
  if (!device.uuid.starts_with("GPU-")) device.uuid.clear();  // "[N/A]" of two cards isn't one identity
  device.bus_id = row.text("pci.bus_id", "gpu_bus_id");
  for (const std::string_view name : {"power.limit", "enforced.power.limit"})
    if (const auto limit = row.cell(name); limit && !device.power_limit)
      set_limit(device, limit->text, limit->unit);
  std::vector<Candidate> candidates;
  for (const std::string_view name : {"power.draw.instant", "power.draw", "power.draw.average"})
    if (const auto draw = row.cell(name, name == "power.draw.average")) candidates.push_back(*draw);
  set_power(device, candidates, "no power.draw column was asked for");
  if (const auto average = row.cell("power.draw.average")) {
    ToolDevice judged;
    judged.power_limit = device.power_limit;
    set_power(judged, {*average}, "");
    device.average = judged.power;
  }
  read_extras(device, row);
  return device;
}

bool is_header(const std::vector<std::string_view>& cells) {
  for (const auto cell : cells) {
    const auto name = column_of(cell).name;
    if (name.starts_with("power.") || name == "index" || name == "uuid" || name == "gpu_uuid" ||
        name == "timestamp")
      return true;
  }
  return false;
}

// "[N/A]", "N/A": the tool's word for none.
bool is_none(std::string_view cell) {
  return cell.starts_with('[') || cell == "N/A" || cell == "ERR!" || cell == "Unknown Error" ||
         cell == "Not Supported" || cell == "GPU is lost";
}

bool is_bus_id(std::string_view cell) {
  return std::count(cell.begin(), cell.end(), ':') == 2 && std::count(cell.begin(), cell.end(), '.') == 1 &&
         cell.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

// Text in which nothing is what its column says would be a card that doesn't exist.
bool is_row(const std::vector<Column>& columns, const std::vector<std::string_view>& cells) {
  bool asked = false;
  for (std::size_t i = 0; i < columns.size() && i < cells.size(); ++i) {
    const auto name = columns[i].name;
    const auto cell = cells[i];
    const bool is_index = name == "index";
    const bool is_uuid = name == "uuid" || name == "gpu_uuid";
    const bool is_bus = name == "pci.bus_id" || name == "gpu_bus_id";
    const bool is_power = contains(name, "power.");
    if (!is_index && !is_uuid && !is_bus && !is_power) continue;
    asked = true;
    if (is_none(cell) || (is_index && parse_int64(cell)) || (is_bus && is_bus_id(cell)) ||
        (is_uuid && (cell.starts_with("GPU-") || cell.starts_with("MIG-"))) ||
        (is_power && (number_in(cell) || parse_watts(cell, "W").watts)))
      return true;
  }
  return !asked;
}

// "41" at the very end may be a piece of "412.50 W".
bool is_cut(const Column& column, std::string_view cell) {
  return contains(column.name, "power.") && !cell.ends_with('W') && !cell.ends_with(']');
}

// "count" says on every row how many GPUs there are.
bool announces_more(const std::vector<Column>& columns, const std::vector<std::string_view>& cells,
                    std::size_t read) {
  for (std::size_t i = 0; i < columns.size() && i < cells.size(); ++i)
    if (columns[i].name == "count")
      if (const auto count = parse_int64(cells[i])) return *count > static_cast<std::int64_t>(read);
  return false;
}

bool loops(std::string_view command) {
  for (const auto word : words_of(command))
    if (word == "-l" || word.starts_with("-l=") || word.starts_with("-lms") || word.starts_with("--loop"))
      return true;
  return false;
}

}  // namespace

std::vector<std::string_view> nvidia_query_fields(std::string_view command) {
  const auto words = words_of(command);
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const std::string_view option : {"--query-gpu", "--query"})
      if (words[i].starts_with(option)) {
        auto list = words[i].substr(option.size());
        if (list.starts_with('='))
          list.remove_prefix(1);
        else if (list.empty() && i + 1 < words.size())
          list = words[i + 1];
        else
          continue;
        auto fields = cells_of(list, ',');
        for (const auto field : fields)  // "--query-gpu=<206 fields>" names nothing
          if (field.empty() ||
              field.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._0123456789") !=
                  std::string_view::npos)
            return {};
        return fields;
      }
  return {};
}

Result<ToolReadings> parse_nvidia_csv(std::string_view command, std::string_view text) {
  const auto lines = lines_of(text);
  std::vector<Column> columns;
  std::size_t first = 0;
  while (first < lines.size() && trim(lines[first]).empty()) ++first;
  const auto head = first < lines.size() ? cells_of(lines[first], ',') : std::vector<std::string_view>{};
  if (is_header(head)) {
    for (const auto cell : head) columns.push_back(column_of(cell));
    ++first;
  } else {
    for (const auto field : nvidia_query_fields(command)) columns.push_back({field, {}});
  }
  if (columns.empty())
    return layout_error(kNvidiaSmiCsvName, first + 1,
                        "a CSV header with power.draw (or the command's --query-gpu= list)",
                        first < lines.size() ? lines[first] : "");
  const bool identified = std::any_of(columns.begin(), columns.end(), [](const Column& column) {
    return column.name == "index" || column.name == "uuid" || column.name == "gpu_uuid";
  });
  const bool numbered = std::any_of(columns.begin(), columns.end(),
                                    [](const Column& column) { return column.name == "index"; });
  if (!identified && loops(command))
    return fail(ErrorCode::invalid_input,
                "nvidia-smi: CSV of a loop without index or uuid: rows can't be told apart",
                "add index,uuid to --query-gpu");

  ToolReadings readings;
  std::vector<std::string_view> last_cells;
  std::map<std::string, std::size_t, std::less<>>
      known;  // identity -> place: a later row of the same GPU replaces
  for (std::size_t i = first; i < lines.size(); ++i) {
    if (trim(lines[i]).empty()) continue;
    const auto cells = cells_of(lines[i], ',');
    if (is_header(cells) && cells.size() == columns.size()) continue;                        // -l repeats it
    if (columns.size() > 1 && cells.size() == 1 && words_of(cells[0]).size() > 2) continue;  // a message
    const bool open = i + 1 == lines.size() && is_open(text);
    if (!open && !is_row(columns, cells))
      return layout_error(kNvidiaSmiCsvName, i + 1,
                          "a GPU's number, UUID, PCI address or watts in their columns", trim(lines[i]));
    auto device = device_of(Row{columns, cells}, static_cast<std::int64_t>(readings.devices.size()));
    last_cells = cells;
    if (open && (cells.size() < columns.size() || is_cut(columns.back(), cells.back()))) {
      device.power.reset();
      device.average.reset();
      device.power_limit.reset();
      device.reason = fmt::format("{}: line {} ends the text within its {} of {} cells", kTruncated, i + 1,
                                  cells.size(), columns.size());
    } else if (cells.size() != columns.size()) {
      // A truncated row is right up to its last cell, a row with a cell too many nowhere.
      device = cells.size() > columns.size() ? ToolDevice{} : device;
      if (cells.size() > columns.size()) device.index = static_cast<std::int64_t>(readings.devices.size());
      device.power.reset();
      device.average.reset();
      device.power_limit.reset();
      device.reason = fmt::format("garbled: line {} has {} cells, the header names {}", i + 1, cells.size(),
                                  columns.size());
    }
    const auto* number = std::get_if<std::int64_t>(&device.index);
    const auto identity =
        !device.uuid.empty() ? device.uuid : fmt::format("#{}", number != nullptr ? *number : -1);
    if (const auto [place, is_new] = known.emplace(identity, readings.devices.size());
        is_new || !identified) {
      readings.devices.push_back(std::move(device));
    } else {
      if (!numbered) device.index = readings.devices[place->second].index;  // counted when it was new
      readings.devices[place->second] = std::move(device);
    }
  }
  if (readings.devices.empty())
    return layout_error(kNvidiaSmiCsvName, lines.size(), "a row per GPU below the header",
                        lines.empty() ? "" : lines.back());
  add_up(readings);
  // Without a line end rows may follow that were cut off.
  if (is_open(text) || announces_more(columns, last_cells, readings.devices.size())) readings.total.reset();
  return readings;
}

}  // namespace tidewatt::metering::tools
