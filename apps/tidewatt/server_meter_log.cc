#include "server_meter_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

std::optional<std::size_t> column(const std::vector<std::string_view>& header,
                                  std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  }
  return std::nullopt;
}

std::optional<UtcTime> time_of(std::string_view text) {
  if (const auto milliseconds = parse_int64(text)) return UtcTime{Milliseconds{*milliseconds}};
  if (const auto at = parse_rfc3339(text)) return at;
  return parse_rfc3339(std::string{text} + "Z");
}

std::optional<Watts> power_of(std::string_view text) {
  const auto value = parse_double(text);
  if (!value || !quantise(Watts{*value})) return std::nullopt;
  return Watts{*value};
}

}  // namespace

Result<MeterLog> parse_meter_log(std::string_view text) {
  MeterLog log;
  std::optional<std::size_t> at_column;
  std::optional<std::size_t> watts_column;
  std::optional<std::size_t> node_column;
  std::optional<std::size_t> meter_column;
  std::size_t number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) continue;
    const auto fields = split(line);
    if (!at_column) {
      at_column = column(fields, {"t_ms", "t", "time", "timestamp", "at"});
      watts_column = column(fields, {"watts", "power_watts"});
      node_column = column(fields, {"node", "node_id"});
      meter_column = column(fields, {"meter"});
      if (!at_column || !watts_column)
        return fail(ErrorCode::invalid_input,
                    fmt::format("line {}: \"{}\" names no time and watts columns", number, line),
                    "give a CSV header like t_ms,node,watts");
      continue;
    }
    const auto most =
        std::max({*at_column, *watts_column, node_column.value_or(0), meter_column.value_or(0)});
    if (fields.size() <= most)
      return fail(ErrorCode::invalid_input,
                  fmt::format("line {}: \"{}\" has {} fields", number, line, fields.size()),
                  fmt::format("the header has at least {}", most + 1));
    if (meter_column && fields[*meter_column] != "ac") continue;
    const auto at = time_of(fields[*at_column]);
    if (!at)
      return fail(ErrorCode::invalid_input,
                  fmt::format("line {}: \"{}\" is no time", number, fields[*at_column]),
                  "give milliseconds since 1970 or RFC 3339");
    log.samples.push_back(
        {*at, node_column ? std::string{fields[*node_column]} : "0", power_of(fields[*watts_column])});
  }
  std::stable_sort(log.samples.begin(), log.samples.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  std::map<std::string, UtcTime> last;
  std::erase_if(log.samples, [&](const MeterSample& sample) {
    const auto known = last.find(sample.node);
    if (known != last.end() && sample.at <= known->second) {
      ++log.dropped;
      return true;
    }
    last[sample.node] = sample.at;
    if (!sample.power) ++log.unknown;
    return false;
  });
  if (log.samples.empty())
    return fail(ErrorCode::invalid_input, "the log holds no sample", "is it the right file?");
  return log;
}

WideMicrojoules exact_energy(const MeterLog& log, Milliseconds max_gap) {
  WideMicrojoules sum;
  std::map<std::string, UtcTime> last_known;
  for (const auto& sample : log.samples) {
    const auto power = sample.power ? quantise(*sample.power) : std::nullopt;
    if (!power) continue;
    const auto before = last_known.find(sample.node);
    if (before != last_known.end())
      sum += Microjoules{power->n * std::min(sample.at - before->second, max_gap).count()};
    last_known[sample.node] = sample.at;
  }
  return sum;
}

}  // namespace tidewatt::cli
