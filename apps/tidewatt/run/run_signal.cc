#include "run_signal.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "../gzip_text.h"
#include "tidewatt/carbon/hourly_series.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;

void take_point(const Json& point, std::vector<runner::SignalSlot>& slots) {
  if (!point.is_object()) return;
  const auto time = [&](const char* name) -> std::optional<UtcTime> {
    const auto found = point.find(name);
    return found != point.end() && found->is_string() ? parse_rfc3339(found->get<std::string>())
                                                      : std::nullopt;
  };
  const auto begin = time("start");
  const auto end = time("end");
  const auto value = point.find("gco2_per_kwh");
  if (begin && end && *end > *begin && value != point.end() && value->is_number())
    slots.push_back({*begin, *end, value->get<double>()});
}

/// The hours up to the one of `now` that both series have, without a hole.
std::optional<planning::ForecastPast> past_of(const carbon::HourlySeries& actual,
                                              const carbon::HourlySeries& foreseen, UtcTime now) {
  const auto at = [](const carbon::HourlySeries& series, UtcHour hour) -> std::optional<double> {
    const auto place = (hour - series.begin).count();
    return place >= 0 && place < static_cast<std::int64_t>(series.hours.size())
               ? series.hours[static_cast<std::size_t>(place)]
               : std::nullopt;
  };
  planning::ForecastPast past;
  auto hour = std::chrono::floor<std::chrono::hours>(now) - std::chrono::hours{1};
  for (std::size_t count = 0; count < planning::kPastDays * 24; ++count, hour -= std::chrono::hours{1}) {
    const auto came = at(actual, hour);
    const auto said = at(foreseen, hour);
    if (!came || !said) break;
    past.actual.push_back(*came);
    past.foreseen.push_back(*said);
  }
  if (past.actual.empty()) return std::nullopt;
  std::ranges::reverse(past.actual);
  std::ranges::reverse(past.foreseen);
  return past;
}

}  // namespace

ReadSignal signal_of_file(std::string path, std::string column) {
  return
      [path = std::move(path), column = std::move(column)](UtcTime now, UtcTime until) -> Result<RunSignal> {
        TW_TRY(const std::string text, read_text_or_gzip(path));
        auto read = carbon::read_series_csv(text, column);
        if (!read) return tl::unexpected(read.error().with_context(path));
        RunSignal signal;
        auto& slots = signal.slots;
        for (std::size_t i = 0; i < read->series.hours.size(); ++i) {
          const UtcHour hour = read->series.begin + std::chrono::hours{static_cast<long>(i)};
          const auto end = start_of(hour + std::chrono::hours{1});
          if (read->series.hours[i] && end > now && start_of(hour) < until)
            slots.push_back({start_of(hour), end, *read->series.hours[i]});
        }
        // Most files have no such column.
        if (const auto foreseen = carbon::read_series_csv(text, std::string{planning::kForeseenColumn}))
          signal.past = past_of(read->series, foreseen->series, now);
        return signal;
      };
}

ReadSignal signal_of_server(ServerAccess access, std::string zone) {
  return
      [access = std::move(access), zone = std::move(zone)](UtcTime now, UtcTime until) -> Result<RunSignal> {
        const auto hours =
            std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::hours>(until - now).count(), 1, 96);
        const auto path = "/api/v1/carbon/" + encode_component(zone);
        RunSignal signal;
        auto& slots = signal.slots;
        TW_TRY(const auto forecast, get(access, fmt::format("{}/forecast?hours={}", path, hours)));
        const auto json = Json::parse(forecast, nullptr, false);
        if (!json.is_object() || !json.contains("forecast"))
          return fail(ErrorCode::corrupt, "the server's forecast can't be read");
        for (const auto& point : json["forecast"]) take_point(point, slots);
        // What is measured of the current slot counts more than what was foreseen.
        if (const auto latest = get(access, path + "/latest")) {
          const auto now_json = Json::parse(*latest, nullptr, false);
          if (now_json.is_object() && now_json.contains("point")) take_point(now_json["point"], slots);
        }
        return signal;
      };
}

ReadSignal history_of_server(ServerAccess access, std::string zone) {
  return
      [access = std::move(access), zone = std::move(zone)](UtcTime from, UtcTime until) -> Result<RunSignal> {
        const auto first = start_of(hour_of(from));  // a slot is told by its begin
        TW_TRY(const auto body,
               get(access, fmt::format("/api/v1/carbon/{}/history?from={}&to={}", encode_component(zone),
                                       format_rfc3339_short(first), format_rfc3339_short(until))));
        const auto json = Json::parse(body, nullptr, false);
        if (!json.is_object() || !json.contains("history"))
          return fail(ErrorCode::corrupt, "the server's history can't be read");
        RunSignal signal;
        for (const auto& point : json["history"]) take_point(point, signal.slots);
        return signal;
      };
}

}  // namespace tidewatt::cli
