#include "tidewatt/metering/replay_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "tidewatt/metering/beat.h"
#include "tidewatt/metering/plausibility.h"
#include "tidewatt/units/text.h"
#include "tools/json_text.h"
#include "tools/label.h"
#include "tools/text.h"

namespace tidewatt::metering {
namespace {

using tools::cells_of;
using tools::lines_of;

std::string stem_of(std::string_view file_name) {
  if (const auto slash = file_name.rfind('/'); slash != std::string_view::npos)
    file_name.remove_prefix(slash + 1);
  const auto stem = file_name.substr(0, file_name.find('.'));
  return stem.empty() ? "replay" : std::string{stem};
}

// "2024/05/10 11:43:39.163" as nvidia-smi prints it, else RFC 3339 (UTC where it names no zone), else
// a number since 1970, whose unit is milliseconds where the column says so.
std::optional<UtcTime> time_of(std::string_view text, bool milliseconds) {
  if (const auto ms = parse_int64(text); ms && milliseconds)
    return *ms > 0 ? std::optional{UtcTime{Milliseconds{*ms}}} : std::nullopt;
  if (const auto number = parse_double(text)) {
    // Seconds and milliseconds of our time differ by a thousand. Other numbers (seconds from the start of a
    // log, say) are no time.
    constexpr double kLeastSeconds = 1e8;
    constexpr double kLeastMilliseconds = 1e11;
    constexpr double kMost = 1e14;
    if (!(*number >= kLeastSeconds && *number < kMost)) return std::nullopt;
    const double ms = *number < kLeastMilliseconds ? *number * kPerKilo : *number;
    return UtcTime{Milliseconds{std::llround(ms)}};
  }
  if (const auto rfc = parse_rfc3339(text)) return rfc;
  std::string spelled{text};
  constexpr std::size_t kDateLength = 10;
  if (spelled.size() > kDateLength && spelled[4] == '-') return parse_rfc3339(spelled + "Z");
  if (spelled.size() <= kDateLength || spelled[4] != '/' || spelled[7] != '/') return std::nullopt;
  spelled[4] = spelled[7] = '-';
  spelled[kDateLength] = 'T';
  return parse_rfc3339(spelled + "Z");
}

// "power.draw [mW]", "watts (kW)": the name and the unit behind it.
struct HeaderCell {
  std::string_view name, unit;
};

HeaderCell header_cell(std::string_view cell) {
  const auto open = cell.find_first_of("[(");
  if (open == std::string_view::npos) return {cell, {}};
  const auto close = cell.find_first_of("])", open);
  if (close == std::string_view::npos) return {cell, {}};
  return {trim(cell.substr(0, open)), trim(cell.substr(open + 1, close - open - 1))};
}

std::optional<std::size_t> column(const std::vector<std::string_view>& header, std::string_view name) {
  for (std::size_t i = 0; i < header.size(); ++i)
    if (header_cell(header[i]).name == name) return i;
  return std::nullopt;
}

std::optional<std::size_t> any_column(const std::vector<std::string_view>& header,
                                      std::initializer_list<std::string_view> names) {
  for (const auto name : names)
    if (const auto found = column(header, name)) return found;
  return std::nullopt;
}

struct PowerColumn {
  std::size_t at = 0;
  std::string_view unit;
};

// Most wanted first. A column in a unit of something else is no power.
std::vector<PowerColumn> power_columns(const std::vector<std::string_view>& header,
                                       std::initializer_list<std::string_view> names) {
  std::vector<PowerColumn> found;
  for (const auto name : names)
    if (const auto at = column(header, name)) {
      const auto unit = header_cell(header[*at]).unit;
      if (unit.empty() || tools::is_watt_unit(unit)) found.push_back({*at, unit.empty() ? "W" : unit});
    }
  return found;
}

// nullopt and a reason when the row can't be used.
struct Row {
  std::optional<ReplaySample> sample;
  std::string_view skipped;
};

std::string_view why_unusable(Watts power, bool zero_is_a_reading) {
  if (power.value() < 0) return "negative power";
  if (!quantise(power) || power.value() > kMaxDeviceWatts || !why_implausible(power, std::nullopt).empty())
    return "implausible power";
  if (power.value() == 0 && !zero_is_a_reading) return "card at exactly 0 W";
  return {};
}

// The first column that has a reading, as the agent takes it.
Row power_of(ReplaySample sample, const std::vector<std::string_view>& cells,
             const std::vector<PowerColumn>& columns, bool zero_is_a_reading) {
  std::string_view first_reason;
  for (const auto& column : columns) {
    const auto power = tools::parse_watts(cells[column.at], column.unit);
    const auto reason = power.watts ? why_unusable(*power.watts, zero_is_a_reading) : "power is no number";
    if (reason.empty()) {
      sample.watts = *power.watts;
      return {std::move(sample), {}};
    }
    if (first_reason.empty() || power.watts) first_reason = reason;
  }
  return {std::nullopt, first_reason};
}

// What tells the devices of one node apart. A number is taken as it is; devices that are known by their UUID
// or PCI address only are numbered as they come.
class Identity {
 public:
  explicit Identity(const std::vector<std::string_view>& header)
      : index_(any_column(header, {"index", "gpu_index"})), uuid_(any_column(header, {"uuid", "gpu_uuid"})) {
    for (const std::string_view name :
         {"uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "serial", "gpu_serial"})
      if (const auto found = column(header, name)) names_.push_back(*found);
  }

  [[nodiscard]] bool tells_apart() const { return index_ || !names_.empty(); }

  /// @return why the row names no device; empty = it does, or the log has no column that could
  std::string_view read(const std::vector<std::string_view>& cells, ReplaySample& sample) {
    if (uuid_ && is_name(cells[*uuid_])) sample.uuid = cells[*uuid_];
    if (index_) {
      const auto index = parse_int64(cells[*index_]);
      if (!index || *index < 0 || *index > kMostDevices) return "index is no number";
      sample.index = static_cast<int>(*index);
      return {};
    }
    if (names_.empty()) return {};
    for (const auto at : names_) {
      if (!is_name(cells[at])) continue;
      const auto [place, is_new] =
          numbers_.try_emplace({sample.node, sample.domain, fmt::format("{}:{}", at, cells[at])},
                               counts_[{sample.node, sample.domain}]);
      if (is_new && ++counts_[{sample.node, sample.domain}] > kMostDevices)
        return "more devices than a node has";
      sample.index = place->second;
      return {};
    }
    return "names no device";
  }

 private:
  static constexpr int kMostDevices = 4096;

  // "[N/A]" of two cards, or zeros of two, isn't one identity.
  static bool is_name(std::string_view cell) {
    return !cell.empty() && cell.front() != '[' && !tools::same_ignoring_case(cell, "N/A") &&
           cell.find_first_not_of("0-GPUgpu:.x ") != std::string_view::npos;
  }

  std::optional<std::size_t> index_, uuid_;
  std::vector<std::size_t> names_;
  std::map<std::tuple<std::string, std::string, std::string>, int> numbers_;
  std::map<std::pair<std::string, std::string>, int> counts_;
};

// t_ms,node,meter,watts; a log of one meter needs no meter column, one of one node no node column
class MeterCsv {
 public:
  static std::optional<MeterCsv> from(const std::vector<std::string_view>& header) {
    const auto t = any_column(header, {"t_ms", "t", "time", "timestamp", "at"});
    auto power = power_columns(header, {"watts", "power_watts"});
    if (!t || power.empty()) return std::nullopt;
    return MeterCsv{header, *t, std::move(power)};
  }
  [[nodiscard]] Row read(const std::vector<std::string_view>& cells, const std::string& node) {
    ReplaySample sample;
    const auto at = time_of(cells[t_], milliseconds_);
    if (!at) return {std::nullopt, "no time"};
    sample.at = *at;
    sample.node = node_ ? std::string{cells[*node_]} : node;
    // The meter at the plug sees the whole machine; others see a part that no total may add to it.
    const auto meter = meter_ ? cells[*meter_] : "ac";
    sample.domain = meter == "ac" ? kDomainPlatform : meter;
    if (sample.node.empty() || sample.domain.empty()) return {std::nullopt, "no node or meter"};
    if (const auto reason = identity_.read(cells, sample); !reason.empty()) return {std::nullopt, reason};
    return power_of(std::move(sample), cells, power_, true);
  }
  [[nodiscard]] bool tells_apart() const { return identity_.tells_apart(); }

 private:
  MeterCsv(const std::vector<std::string_view>& header, std::size_t t, std::vector<PowerColumn> power)
      : t_(t),
        milliseconds_(column(header, "t_ms") == t),
        power_(std::move(power)),
        meter_(column(header, "meter")),
        node_(any_column(header, {"node", "node_id"})),
        identity_(header) {}
  std::size_t t_;
  bool milliseconds_;
  std::vector<PowerColumn> power_;
  std::optional<std::size_t> meter_, node_;
  Identity identity_;
};

// timestamp, index, power.draw [W]
class CardCsv {
 public:
  static std::optional<CardCsv> from(const std::vector<std::string_view>& header) {
    const auto timestamp = column(header, "timestamp");
    auto power = power_columns(header, {"power.draw.instant", "power.draw"});
    if (!timestamp || power.empty()) return std::nullopt;
    return CardCsv{header, *timestamp, std::move(power)};
  }
  [[nodiscard]] Row read(const std::vector<std::string_view>& cells, const std::string& node) {
    ReplaySample sample;
    const auto at = time_of(cells[timestamp_], false);
    if (!at) return {std::nullopt, "no time"};
    sample.at = *at;
    sample.node = node_ ? std::string{cells[*node_]} : node;
    sample.domain = kDomainGpu;
    if (const auto reason = identity_.read(cells, sample); !reason.empty()) return {std::nullopt, reason};
    return power_of(std::move(sample), cells, power_, false);
  }
  [[nodiscard]] bool tells_apart() const { return identity_.tells_apart(); }

 private:
  CardCsv(const std::vector<std::string_view>& header, std::size_t timestamp, std::vector<PowerColumn> power)
      : timestamp_(timestamp),
        power_(std::move(power)),
        node_(any_column(header, {"node", "node_id"})),
        identity_(header) {}
  std::size_t timestamp_;
  std::vector<PowerColumn> power_;
  std::optional<std::size_t> node_;
  Identity identity_;
};

template <class Form>
void read_rows(Form& form, const std::vector<std::string_view>& lines, std::size_t header_line,
               const std::string& node, ReplayLog& log) {
  const auto columns = cells_of(lines[header_line], ',').size();
  for (std::size_t i = header_line + 1; i < lines.size(); ++i) {
    if (trim(lines[i]).empty() || lines[i] == lines[header_line]) continue;
    const auto cells = cells_of(lines[i], ',');
    if (cells.size() != columns) {
      ++log.skipped["other number of cells than the header"];
      continue;
    }
    if (auto row = form.read(cells, node); row.sample)
      log.samples.push_back(std::move(*row.sample));
    else
      ++log.skipped[std::string{row.skipped}];
  }
}

// Rows that the log's columns can't tell apart are several devices': the first of each time alone would be a
// fraction of the energy. A row that is doubled here and there is ignored; a card's without a name would be
// another card.
Status refuse_mixed(const std::vector<ReplaySample>& sorted, bool told_apart, std::string_view file_name) {
  struct Device {
    UtcTime at{}, repeated{};
    std::size_t times = 0, repeats = 0;
  };
  std::map<std::tuple<std::string, std::string, int>, Device> devices;
  for (const auto& sample : sorted) {
    auto& device = devices[{sample.node, sample.domain, sample.index}];
    if (device.times > 0 && sample.at == device.at) {
      ++device.repeats;
      device.repeated = sample.at;
    } else {
      ++device.times;
      device.at = sample.at;
    }
  }
  for (const auto& [key, device] : devices) {
    const bool nameless_card = !told_apart && std::get<1>(key) == kDomainGpu && device.repeats > 0;
    if (!nameless_card && (device.repeats < 2 || device.repeats * 2 < device.times)) continue;
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: several rows of {}, and no column tells whose they are", file_name,
                            format_rfc3339(device.repeated)),
                "log a column that names the device (index, uuid or pci.bus_id) and, of several, the node");
  }
  return {};
}

using Json = nlohmann::json;

std::string string_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

void read_devices(const Json& beat, const char* list, const char* domain, const ReplaySample& base,
                  ReplayLog& log) {
  const auto devices = beat.find(list);
  if (devices == beat.end() || !devices->is_array()) return;
  for (const auto& device : *devices) {
    if (!device.is_object()) {
      ++log.skipped["device is no object"];
      continue;
    }
    const auto power = device.find("power_watts");
    if (power == device.end() || power->is_null()) {
      ++log.skipped["power unknown"];
      continue;
    }
    const auto reason =
        power->is_number() ? why_unusable(Watts{power->get<double>()}, true) : "power is no number";
    if (!reason.empty()) {
      ++log.skipped[std::string{reason}];
      continue;
    }
    ReplaySample sample = base;
    sample.watts = Watts{power->get<double>()};
    const auto named = string_in(device, "domain");
    sample.domain = named.empty() ? domain : named;
    sample.uuid = string_in(device, "uuid");
    const auto index = device.find("index");
    const auto number = index != device.end() && index->is_number_integer() ? index->get<std::int64_t>() : 0;
    sample.index = static_cast<int>(std::clamp<std::int64_t>(number, 0, 4096));
    log.samples.push_back(std::move(sample));
  }
}

void read_beats(const std::vector<std::string_view>& lines, ReplayLog& log) {
  for (const auto line : lines) {
    if (trim(line).empty()) continue;
    const auto beat = tools::parse_json(line);
    if (!beat.is_object()) {
      ++log.skipped["line is no JSON object"];
      continue;
    }
    ReplaySample base;
    base.node = string_in(beat, "node_id");
    const auto at = parse_rfc3339(string_in(beat, "sampled_at"));
    if (base.node.empty() || !at) {
      ++log.skipped[at ? "no node_id" : "no time"];
      continue;
    }
    base.at = *at;
    read_devices(beat, "gpu_stats", "gpu", base, log);
    read_devices(beat, "rails", "cpu_package", base, log);
    read_devices(beat, "platform", "platform", base, log);
  }
}

auto order_of(const ReplaySample& s) { return std::tie(s.at, s.node, s.domain, s.index); }

}  // namespace

Result<ReplayLog> parse_replay_log(std::string_view text, std::string_view file_name) {
  const auto lines = lines_of(text);
  std::size_t first = 0;
  while (first < lines.size() && trim(lines[first]).empty()) ++first;
  if (first == lines.size())
    return fail(ErrorCode::invalid_input, fmt::format("{}: the log is empty", file_name));
  ReplayLog log;
  bool told_apart = true;
  const auto head = trim(lines[first]);
  const auto header = cells_of(head, ',');
  if (head.starts_with('{')) {
    read_beats(lines, log);
  } else if (auto meter = MeterCsv::from(header)) {
    read_rows(*meter, lines, first, stem_of(file_name), log);
    told_apart = meter->tells_apart();
  } else if (auto cards = CardCsv::from(header)) {
    read_rows(*cards, lines, first, stem_of(file_name), log);
    told_apart = cards->tells_apart();
  } else {
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: line {}: no known log: '{}'", file_name, first + 1, head.substr(0, 80)),
                "known: CSV t_ms,node,meter,watts; CSV of nvidia-smi with timestamp and power.draw; beats as "
                "JSON lines");
  }
  if (log.samples.empty()) {
    std::string why;
    for (const auto& [reason, count] : log.skipped)
      why += fmt::format("{}{} ({} x)", why.empty() ? "" : ", ", reason, count);
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: no usable row: {}", file_name, why.empty() ? "no rows" : why));
  }
  std::stable_sort(log.samples.begin(), log.samples.end(),
                   [](const ReplaySample& a, const ReplaySample& b) { return order_of(a) < order_of(b); });
  if (!head.starts_with('{')) TW_TRY_STATUS(refuse_mixed(log.samples, told_apart, file_name));
  return log;
}

std::vector<ReplayEnergy> expected_energy(const ReplayLog& log, Milliseconds max_gap) {
  std::map<std::tuple<std::string, std::string, int>, UtcTime> last;
  std::map<std::pair<std::string, std::string>, ReplayEnergy> sums;
  for (const auto& sample : log.samples) {
    auto& sum = sums[{sample.node, sample.domain}];
    sum.node = sample.node;
    sum.domain = sample.domain;
    const auto power = quantise(sample.watts);
    const auto [seen, is_first] = last.try_emplace({sample.node, sample.domain, sample.index}, sample.at);
    if (!is_first && sample.at <= seen->second) continue;
    ++sum.samples;
    const auto elapsed = is_first ? Milliseconds{0} : sample.at - seen->second;
    seen->second = sample.at;
    const auto counted = std::min(elapsed, max_gap);
    sum.energy += WideMicrojoules::from_raw(WideMicrojoules::Int{power ? power->n : 0} * counted.count());
    sum.counted += counted;
    sum.gap += elapsed - counted;
  }
  std::vector<ReplayEnergy> out;
  out.reserve(sums.size());
  for (auto& [key, sum] : sums) out.push_back(std::move(sum));
  return out;
}

}  // namespace tidewatt::metering
