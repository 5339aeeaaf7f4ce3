// The zones' carbon intensity: how it stands, how it was, how it will be.
#include <fmt/format.h>

#include "handlers.h"
#include "tidewatt/carbon/signals.h"
#include "tidewatt/units/text.h"

namespace tidewatt::api {
namespace {

constexpr Milliseconds kLongestHistory = std::chrono::hours{24 * 31};
constexpr std::int64_t kMostHours = 96;
constexpr std::int64_t kUsualHours = 72;

Json head_json(const carbon::SeriesIdentity& identity) {
  return Json{{"zone", identity.zone.value_or("")},
              {"kind", to_string(identity.kind)},
              {"boundary", to_string(identity.boundary)},
              {"basis", to_string(identity.basis)}};
}

Json point_json(const carbon::StoredPoint& stored) {
  const auto& point = stored.point;
  return Json{{"start", time(point.start)},
              {"end", time(point.end)},
              {"gco2_per_kwh", point.intensity.value()},
              {"cfe_share", number(point.cfe_share)},
              {"kind", to_string(point.series.kind)},
              {"quality", to_string(point.quality)},
              {"provider", stored.provider},
              {"fetched_at", time(stored.fetched_at)},
              {"issued_at", time(point.issued_at)},
              {"revision", stored.revision}};
}

Json point_json(const std::optional<carbon::StoredPoint>& stored) {
  return stored ? point_json(*stored) : Json(nullptr);
}

/// What is common to an overview's row and a zone's answer.
Json state_json(const carbon::ZoneStatus& zone) {
  Json out = head_json(zone.identity);
  const auto& decision = zone.decision;
  out["state"] = to_string(decision.step);
  out["since"] = time(zone.since);
  out["quality"] = decision.value ? Json(to_string(decision.value->point.quality)) : Json(nullptr);
  out["age_seconds"] = decision.age ? seconds(*decision.age) : Json(nullptr);
  out["degraded_reason"] = decision.degraded_reason.empty() ? Json(nullptr) : Json(decision.degraded_reason);
  return out;
}

Json provider_json(const carbon::ProviderStatus& provider) {
  return Json{{"provider", provider.provider},
              {"state", provider.state},
              {"failure", provider.failure.empty() ? Json(nullptr) : Json(provider.failure)},
              {"last_success_at", time(provider.last_success_at)},
              {"next_try_at", time(provider.next_try_at)},
              {"successes", provider.successes},
              {"failures", provider.failures}};
}

net::Response no_zone(std::string_view zone) {
  return problem_answer("not_found",
                        fmt::format("there is no carbon zone \"{}\": see /api/v1/carbon/zones", zone));
}

Result<std::int64_t> hours_of(const Call& call) {
  const auto text = call.parameter("hours");
  if (text.empty()) return kUsualHours;
  const auto hours = parse_int64(text);
  if (!hours || *hours < 1 || *hours > kMostHours)
    return fail(ErrorCode::invalid_input, fmt::format("hours={} is no number in 1..{}", text, kMostHours));
  return *hours;
}

}  // namespace

net::Response list_carbon_zones(Core& core, const Call&) {
  Json zones = Json::array();
  if (const auto& signals = core.options.signals)
    for (const auto& zone : signals->zones()) {
      Json row = state_json(zone);
      row["gco2_per_kwh"] =
          zone.decision.value ? Json(zone.decision.value->point.intensity.value()) : Json(nullptr);
      row["providers"] = Json::array();
      for (const auto& provider : zone.providers) row["providers"].push_back(provider_json(provider));
      zones.push_back(std::move(row));
    }
  return json_answer(200, Json{{"zones", std::move(zones)}});
}

net::Response get_carbon_latest(Core& core, const Call& call) {
  const auto zone = core.options.signals ? core.options.signals->zone(call.ids.front()) : std::nullopt;
  if (!zone) return no_zone(call.ids.front());
  Json answer = state_json(*zone);
  answer["at"] = time(core.clock.utc_now());
  answer["point"] = point_json(zone->decision.value);
  // For display only: decisions never use it.
  answer["stale_point"] = point_json(zone->decision.stale);
  return json_answer(200, answer);
}

net::Response get_carbon_history(Core& core, const Call& call) {
  API_TRY(const auto range, time_range(call, core.clock.utc_now()));
  if (range.asked.length() > kLongestHistory)
    return problem_answer("invalid_request", "a history of more than 31 days: ask in parts");
  const auto points = core.options.signals
                          ? core.options.signals->history(call.ids.front(), range.asked,
                                                          call.parameter("revisions") == "true")
                          : std::nullopt;
  const auto zone = points ? core.options.signals->zone(call.ids.front()) : std::nullopt;
  if (!zone) return no_zone(call.ids.front());
  Json answer = head_json(zone->identity);
  answer["from"] = time(range.asked.begin);
  answer["to"] = time(range.asked.end);
  answer["history"] = Json::array();
  for (const auto& point : *points) answer["history"].push_back(point_json(point));
  return json_answer(200, answer);
}

net::Response get_carbon_forecast(Core& core, const Call& call) {
  API_TRY(const auto hours, hours_of(call));
  const auto forecast = core.options.signals
                            ? core.options.signals->forecast(call.ids.front(), static_cast<int>(hours))
                            : std::nullopt;
  if (!forecast) return no_zone(call.ids.front());
  Json answer = head_json(forecast->identity);
  answer["issued_at"] = time(forecast->issued_at);
  answer["forecast"] = Json::array();
  for (const auto& slot : forecast->slots) {
    Json row = point_json(slot.point);
    row["p10"] = slot.p10 ? Json(slot.p10->value()) : Json(nullptr);
    row["p90"] = slot.p90 ? Json(slot.p90->value()) : Json(nullptr);
    answer["forecast"].push_back(std::move(row));
  }
  answer["scores"] = Json::array();
  for (const auto& score : forecast->scores)
    answer["scores"].push_back(Json{{"forecaster", score.forecaster},
                                    {"day", score.day},
                                    {"mape", score.record.error * 100},
                                    {"slots", score.record.slots}});
  return json_answer(200, answer);
}

}  // namespace tidewatt::api
