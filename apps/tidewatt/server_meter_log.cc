#include "server_meter_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tidewatt::cli {

Result<MeterLog> parse_meter_log(std::string_view text, std::string_view file_name) {
  MeterLog meter;
  TW_TRY(meter.log, metering::parse_replay_log(text, file_name));
  for (const auto& [reason, rows] : meter.log.skipped) {
    const bool no_power = reason.find("power") != std::string::npos || reason == "card at exactly 0 W";
    (no_power ? meter.unknown : meter.unusable) += rows;
  }
  std::map<std::tuple<std::string, std::string, int>, UtcTime> last;
  std::erase_if(meter.log.samples, [&](const metering::ReplaySample& sample) {
    const auto [seen, is_first] = last.try_emplace({sample.node, sample.domain, sample.index}, sample.at);
    const bool repeated = !is_first && sample.at <= seen->second;
    if (repeated) ++meter.out_of_order;
    seen->second = std::max(seen->second, sample.at);
    return repeated;
  });
  return meter;
}

std::string rows_in_words(const MeterLog& meter) {
  const auto played = meter.log.samples.size();
  auto words = fmt::format("{} rows read: {} played, {} unknown watts, {} out of order",
                           played + meter.unknown + meter.out_of_order + meter.unusable, played,
                           meter.unknown, meter.out_of_order);
  if (meter.unusable > 0) words += fmt::format(", {} without a time, a node or all cells", meter.unusable);
  return words;
}

}  // namespace tidewatt::cli
