#include "point_cache.h"

#include <array>
#include <nlohmann/json.hpp>

namespace tidewatt::emma {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr std::array kQualities{carbon::SignalQuality::measured, carbon::SignalQuality::estimated,
                                carbon::SignalQuality::forecast, carbon::SignalQuality::heuristic,
                                carbon::SignalQuality::fixed};

std::int64_t ms(UtcTime at) { return at.time_since_epoch().count(); }

Json head_of(const carbon::SeriesIdentity& identity) {
  return {{"version", kVersion},
          {"zone", identity.zone.value_or("")},
          {"kind", to_string(identity.kind)},
          {"boundary", to_string(identity.boundary)},
          {"basis", to_string(identity.basis)}};
}

std::optional<carbon::StoredPoint> point_of(const Json& row, const carbon::SeriesIdentity& identity) {
  if (!row.is_array() || row.size() != 9) return std::nullopt;
  for (const std::size_t integer : {0U, 1U, 5U, 6U})
    if (!row[integer].is_number_integer()) return std::nullopt;
  if (!row[2].is_number() || !row[3].is_string() || !row[4].is_string()) return std::nullopt;
  const auto time = [](const Json& value) { return UtcTime{Milliseconds{value.get<std::int64_t>()}}; };
  carbon::StoredPoint stored;
  stored.point.start = time(row[0]);
  stored.point.end = time(row[1]);
  stored.point.intensity = carbon::CarbonIntensity{row[2].get<double>()};
  stored.point.series = identity;
  bool known = false;
  for (const auto quality : kQualities)
    if (row[3].get_ref<const std::string&>() == to_string(quality)) {
      stored.point.quality = quality;
      known = true;
    }
  if (!known) return std::nullopt;
  stored.provider = row[4].get<std::string>();
  stored.fetched_at = time(row[5]);
  stored.revision = row[6].get<int>();
  if (row[7].is_number_integer()) stored.point.issued_at = time(row[7]);
  if (row[8].is_number()) stored.point.cfe_share = row[8].get<double>();
  return stored;
}

}  // namespace

std::string cache_text(const carbon::SignalBook& book) {
  Json out = head_of(book.identity());
  Json rows = Json::array();
  for (const auto& stored : book.everything()) {
    const auto& point = stored.point;
    rows.push_back({ms(point.start), ms(point.end), point.intensity.value(), to_string(point.quality),
                    stored.provider, ms(stored.fetched_at), stored.revision,
                    point.issued_at ? Json(ms(*point.issued_at)) : Json(nullptr),
                    point.cfe_share ? Json(*point.cfe_share) : Json(nullptr)});
  }
  out["points"] = std::move(rows);
  return out.dump() + "\n";
}

Result<std::vector<carbon::StoredPoint>> parse_cache(std::string_view text,
                                                     const carbon::SeriesIdentity& identity) {
  const auto all = Json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("points") || !all["points"].is_array())
    return fail(ErrorCode::corrupt, "the cache of the carbon signals is damaged");
  const auto head = head_of(identity);
  for (const auto& [name, value] : head.items())
    if (!all.contains(name) || all[name] != value)
      return fail(ErrorCode::corrupt, "the cache is of another series than configured: " + name + " differs");
  std::vector<carbon::StoredPoint> out;
  for (const auto& row : all["points"]) {
    auto point = point_of(row, identity);
    if (!point) return fail(ErrorCode::corrupt, "the cache of the carbon signals has a damaged row");
    out.push_back(*std::move(point));
  }
  return out;
}

}  // namespace tidewatt::emma
