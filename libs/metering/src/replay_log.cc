#include "tidewatt/metering/replay_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "tidewatt/metering/beat.h"
#include "tidewatt/units/text.h"
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

std::optional<std::size_t> column(const std::vector<std::string_view>& header, std::string_view name) {
  for (std::size_t i = 0; i < header.size(); ++i)
    if (header[i].substr(0, header[i].find(" [")) == name) return i;
  return std::nullopt;
}

std::optional<std::size_t> any_column(const std::vector<std::string_view>& header,
                                      std::initializer_list<std::string_view> names) {
  for (const auto name : names)
    if (const auto found = column(header, name)) return found;
  return std::nullopt;
}

// nullopt and a reason when the row can't be used.
struct Row {
  std::optional<ReplaySample> sample;
  std::string_view skipped;
};

Row power_of(ReplaySample sample, std::string_view printed, bool zero_is_a_reading) {
  const auto power = tools::parse_watts(printed);
  if (!power.watts) return {std::nullopt, "power is no number"};
  if (power.watts->value() < 0) return {std::nullopt, "negative power"};
  if (!quantise(*power.watts)) return {std::nullopt, "implausible power"};
  if (power.watts->value() == 0 && !zero_is_a_reading) return {std::nullopt, "card at exactly 0 W"};
  sample.watts = *power.watts;
  return {std::move(sample), {}};
}

// t_ms,node,meter,watts; a log of one meter needs no meter column, one of one node no node column
class MeterCsv {
 public:
  static std::optional<MeterCsv> from(const std::vector<std::string_view>& header) {
    const auto t = any_column(header, {"t_ms", "t", "time", "timestamp", "at"});
    const auto watts = any_column(header, {"watts", "power_watts"});
    if (!t || !watts) return std::nullopt;
    return MeterCsv{*t, column(header, "t_ms") == t, *watts, column(header, "meter"),
                    any_column(header, {"node", "node_id"})};
  }
  [[nodiscard]] Row read(const std::vector<std::string_view>& cells, const std::string& node) const {
    ReplaySample sample;
    const auto at = time_of(cells[t_], milliseconds_);
    if (!at) return {std::nullopt, "no time"};
    sample.at = *at;
    sample.node = node_ ? std::string{cells[*node_]} : node;
    // The meter at the plug sees the whole machine; others see a part that no total may add to it.
    const auto meter = meter_ ? cells[*meter_] : "ac";
    sample.domain = meter == "ac" ? kDomainPlatform : meter;
    if (sample.node.empty() || sample.domain.empty()) return {std::nullopt, "no node or meter"};
    return power_of(std::move(sample), cells[watts_], true);
  }

 private:
  MeterCsv(std::size_t t, bool milliseconds, std::size_t watts, std::optional<std::size_t> meter,
           std::optional<std::size_t> node)
      : t_(t), milliseconds_(milliseconds), watts_(watts), meter_(meter), node_(node) {}
  std::size_t t_;
  bool milliseconds_;
  std::size_t watts_;
  std::optional<std::size_t> meter_, node_;
};

// timestamp, index, power.draw [W]
class CardCsv {
 public:
  static std::optional<CardCsv> from(const std::vector<std::string_view>& header) {
    CardCsv csv;
    const auto timestamp = column(header, "timestamp");
    auto power = column(header, "power.draw.instant");
    if (!power) power = column(header, "power.draw");
    csv.index_ = column(header, "index");
    csv.uuid_ = column(header, "uuid");
    if (!csv.uuid_) csv.uuid_ = column(header, "gpu_uuid");
    csv.node_ = column(header, "node");
    if (!timestamp || !power) return std::nullopt;
    csv.timestamp_ = *timestamp;
    csv.power_ = *power;
    return csv;
  }
  [[nodiscard]] Row read(const std::vector<std::string_view>& cells, const std::string& node) const {
    ReplaySample sample;
    const auto at = time_of(cells[timestamp_], false);
    if (!at) return {std::nullopt, "no time"};
    sample.at = *at;
    sample.node = node_ ? std::string{cells[*node_]} : node;
    sample.domain = kDomainGpu;
    if (index_) {
      const auto index = parse_int64(cells[*index_]);
      if (!index || *index < 0 || *index > 4096) return {std::nullopt, "index is no number"};
      sample.index = static_cast<int>(*index);
    }
    if (uuid_) sample.uuid = cells[*uuid_];
    return power_of(std::move(sample), cells[power_], false);
  }

 private:
  std::size_t timestamp_ = 0, power_ = 0;
  std::optional<std::size_t> index_, uuid_, node_;
};

template <class Form>
void read_rows(const Form& form, const std::vector<std::string_view>& lines, std::size_t header_line,
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
    const double watts = power->is_number() ? power->get<double>() : -1;
    if (!quantise(Watts{watts})) {
      ++log.skipped[power->is_number() && watts < 0 ? "negative power" : "power is no number"];
      continue;
    }
    ReplaySample sample = base;
    sample.watts = Watts{watts};
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
    const auto beat = Json::parse(line, nullptr, false);
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
  const auto head = trim(lines[first]);
  const auto header = cells_of(head, ',');
  if (head.starts_with('{')) {
    read_beats(lines, log);
  } else if (const auto meter = MeterCsv::from(header)) {
    read_rows(*meter, lines, first, stem_of(file_name), log);
  } else if (const auto cards = CardCsv::from(header)) {
    read_rows(*cards, lines, first, stem_of(file_name), log);
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
