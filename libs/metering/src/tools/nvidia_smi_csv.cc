// `--query-gpu=... --format=csv`: columns by the header's names; without a header by the names in the
// command.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "tidewatt/units/text.h"
#include "tools/nvidia_smi.h"
#include "tools/samples.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kNvidiaSmiCsvName = "nvidia-smi";
constexpr std::string_view kMig = "MIG-";
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

bool is_bus_id(std::string_view cell) {
  return std::count(cell.begin(), cell.end(), ':') == 2 && std::count(cell.begin(), cell.end(), '.') == 1 &&
         cell.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

// "MIG-GPU-<the card's>/1/0" of older drivers names its card. "[N/A]" of two cards isn't one identity.
std::string_view card_uuid(std::string_view uuid) {
  if (uuid.starts_with("MIG-GPU-")) uuid = uuid.substr(kMig.size(), uuid.find('/') - kMig.size());
  // Nor are zeros, as a board without its serial number prints them.
  return uuid.starts_with("GPU-") && uuid.find_first_not_of("0-", 4) != std::string_view::npos
             ? uuid
             : std::string_view{};
}

ToolDevice device_of(const Row& row, std::int64_t order) {
  ToolDevice device;
  device.index = parse_int64(row.text("index")).value_or(order);
  device.name = row.text("name", "gpu_name");
  device.uuid = card_uuid(row.text("uuid", "gpu_uuid"));
  device.bus_id = row.text("pci.bus_id", "gpu_bus_id");
  if (!is_bus_id(device.bus_id)) device.bus_id.clear();
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

namespace {

bool has_column(const std::vector<Column>& columns, std::initializer_list<std::string_view> names) {
  return std::any_of(columns.begin(), columns.end(), [&](const Column& column) {
    return std::find(names.begin(), names.end(), column.name) != names.end();
  });
}

// Rows of one text under the header that was printed last. A later row of the same card replaces the earlier.
class QueryRows {
 public:
  void begin_table(std::vector<Column> columns) {
    const bool identified = has_column(columns, {"index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id"});
    draws_ = has_column(columns, {"power.draw", "power.draw.average", "power.draw.instant"});
    skipped_ = !draws_ && !identified && !readings_.devices.empty();
    // Without names for the cards on both sides only the order is left: a new snapshot takes the place of
    // the one before it.
    if (draws_ && !(identified && identified_)) {
      readings_.devices.clear();
      places_ = {};
      numbered_places_.clear();
      cards_of_instances_.clear();
    }
    identified_ = identified;
    numbered_ = has_column(columns, {"index"});
    columns_ = std::move(columns);
    order_ = 0;
    time_.reset();
  }

  Status add(const std::vector<std::string_view>& cells, std::size_t line, std::string_view printed,
             bool open) {
    if (skipped_) return {};
    const Row row{columns_, cells};
    if (!open && !is_row(columns_, cells))
      return layout_error(kNvidiaSmiCsvName, line,
                          "a GPU's number, UUID, PCI address or watts in their columns", trim(printed));
    const auto time = row.cell("timestamp");
    if (!identified_ && time) {
      if (time_ && *time_ != time->text)
        return layout_error(kNvidiaSmiCsvName, line,
                            "index or uuid in the CSV: rows of several times can't be told apart",
                            trim(printed));
      time_ = time->text;
    }
    cells_ = cells;
    auto device = device_of(row, order_);
    judge_cells(device, cells, line, open);
    if (row.text("uuid", "gpu_uuid").starts_with(kMig) && cells.size() <= columns_.size())
      return add_instance(std::move(device), line, printed);
    return add_card(std::move(device), line, printed);
  }

  [[nodiscard]] std::size_t columns() const { return columns_.size(); }
  [[nodiscard]] bool identified() const { return identified_; }
  [[nodiscard]] bool is_empty() const { return readings_.devices.empty(); }

  ToolReadings finish(bool open) {
    add_up(readings_);
    // Without a line end rows may follow that were cut off.
    if (open || announces_more(columns_, cells_, readings_.devices.size())) readings_.total.reset();
    return std::move(readings_);
  }

 private:
  void judge_cells(ToolDevice& device, const std::vector<std::string_view>& cells, std::size_t line,
                   bool open) {
    std::string reason;
    if (open && (cells.size() < columns_.size() || is_cut(columns_.back(), cells.back()))) {
      reason = fmt::format("{}: line {} ends the text within its {} of {} cells", kTruncated, line,
                           cells.size(), columns_.size());
    } else if (cells.size() != columns_.size()) {
      // A truncated row is right up to its last cell, a row with a cell too many nowhere.
      if (cells.size() > columns_.size()) {
        device = {};
        device.index = order_;
      }
      reason = fmt::format("garbled: line {} has {} cells, the header names {}", line, cells.size(),
                           columns_.size());
    } else {
      return;
    }
    device.power.reset();
    device.average.reset();
    device.power_limit.reset();
    device.reason = std::move(reason);
  }

  Status add_card(ToolDevice device, std::size_t line, std::string_view printed) {
    const auto place = places_.find(readings_.devices, device);
    if (place == DevicePlaces::npos || !identified_) {
      places_.add(device, readings_.devices.size());
      if (numbered_) numbered_places_.insert(readings_.devices.size());
      readings_.devices.push_back(std::move(device));
      ++order_;
      return {};
    }
    auto& known = readings_.devices[place];
    if (numbered_ && numbered_places_.contains(place) && known.index != device.index)
      return layout_error(kNvidiaSmiCsvName, line, "a UUID per card, but two numbers print the same",
                          trim(printed));
    if (order_ <= static_cast<std::int64_t>(place)) order_ = static_cast<std::int64_t>(place) + 1;
    // A table of other things says nothing of what the card draws.
    if (!draws_ && known.power) return {};
    if (!numbered_) device.index = known.index;  // counted when it was new
    if (numbered_) numbered_places_.insert(place);
    if (device.uuid.empty()) device.uuid = known.uuid;
    if (device.bus_id.empty()) device.bus_id = known.bus_id;
    known = std::move(device);
    places_.add(known, place);
    return {};
  }

  // What a MIG instance reads is its card's power: it counts once a card, and nowhere where the card isn't
  // told.
  Status add_instance(ToolDevice device, std::size_t line, std::string_view printed) {
    const bool names_card = numbered_ || !device.uuid.empty() || !device.bus_id.empty();
    if (!names_card && !readings_.devices.empty()) return {};  // stands below its card, or below a sibling
    if (names_card) {
      const auto place = places_.find(readings_.devices, device);
      if (place != DevicePlaces::npos && !cards_of_instances_.contains(place))
        return {};  // the card has a row
      cards_of_instances_.insert(place == DevicePlaces::npos ? readings_.devices.size() : place);
    } else {
      device.power.reset();
      device.average.reset();
      device.reason = "a MIG instance's power is its card's: ask for index or pci.bus_id too";
    }
    return add_card(std::move(device), line, printed);
  }

  std::vector<Column> columns_;
  bool identified_ = false;
  bool numbered_ = false;
  bool draws_ = false;    ///< some column is a draw
  bool skipped_ = false;  ///< rows that tell neither a card nor a draw
  std::int64_t order_ = 0;
  std::optional<std::string_view> time_;
  std::vector<std::string_view> cells_;  ///< of the last row
  ToolReadings readings_;
  DevicePlaces places_;
  std::set<std::size_t> numbered_places_;     ///< whose number was printed, not counted
  std::set<std::size_t> cards_of_instances_;  ///< known by their instances' rows only
};

}  // namespace

Result<ToolReadings> parse_nvidia_csv(std::string_view command, std::string_view text) {
  const auto lines = lines_of(text);
  QueryRows rows;
  std::size_t first = 0;
  while (first < lines.size() && trim(lines[first]).empty()) ++first;
  if (first == lines.size() || !is_header(cells_of(lines[first], ','))) {
    std::vector<Column> asked;
    for (const auto field : nvidia_query_fields(command)) asked.push_back({field, {}});
    if (asked.empty())
      return layout_error(kNvidiaSmiCsvName, first + 1,
                          "a CSV header with power.draw (or the command's --query-gpu= list)",
                          first < lines.size() ? lines[first] : "");
    rows.begin_table(std::move(asked));
  }
  for (std::size_t i = first; i < lines.size(); ++i) {
    if (trim(lines[i]).empty()) continue;
    const auto cells = cells_of(lines[i], ',');
    if (is_header(cells)) {
      std::vector<Column> columns;
      for (const auto cell : cells) columns.push_back(column_of(cell));
      rows.begin_table(std::move(columns));
    }
    if (!rows.identified() && loops(command))
      return fail(ErrorCode::invalid_input,
                  "nvidia-smi: CSV of a loop without index or uuid: rows can't be told apart",
                  "add index,uuid to --query-gpu");
    if (is_header(cells)) continue;
    if (rows.columns() > 1 && cells.size() == 1 && words_of(cells[0]).size() > 2) continue;  // a message
    TW_TRY_STATUS(rows.add(cells, i + 1, lines[i], i + 1 == lines.size() && is_open(text)));
  }
  if (rows.is_empty())
    return layout_error(kNvidiaSmiCsvName, lines.size(), "a row per GPU below the header",
                        lines.empty() ? "" : lines.back());
  return rows.finish(is_open(text));
}

}  // namespace tidewatt::metering::tools
