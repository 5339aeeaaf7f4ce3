#include "local_source.h"

#include <algorithm>

#include "tidewatt/carbon/onsite.h"
#include "tidewatt/units/text.h"

namespace tidewatt::emma {
namespace {

using carbon::FetchFailure;

constexpr std::size_t kLargestFile = 64U << 20U;
constexpr Milliseconds kHour = std::chrono::hours{1};
constexpr Milliseconds kBack = std::chrono::hours{24 * 400};
constexpr Milliseconds kAhead = std::chrono::hours{96};
constexpr double kPerKilo = 1000;

std::string option(const carbon::ProviderSettings& settings, std::string_view name) {
  const auto found = settings.options.find(name);
  return found == settings.options.end() ? std::string{} : found->second;
}

void add(Fetched& into, const carbon::ProviderSettings& settings, UtcTime start, double grams,
         carbon::SignalQuality quality) {
  carbon::SignalPoint point;
  point.start = start;
  point.end = start + kHour;
  point.intensity = carbon::CarbonIntensity{grams};
  point.quality = quality;
  point.series = settings.identity;
  into.signal.points.push_back(std::move(point));
}

Fetched from_csv(const carbon::ProviderSettings& settings, const FileSystem& files, UtcTime now) {
  const auto text = files.read_text(option(settings, "file"), kLargestFile);
  if (!text) return failed(FetchFailure::unreachable, text.error().message);
  const auto read = carbon::read_series_csv(*text, option(settings, "column"));
  if (!read) return failed(FetchFailure::malformed, read.error().message);
  Fetched out;
  for (std::size_t i = 0; i < read->series.hours.size(); ++i) {
    const UtcTime start = start_of(read->series.begin + std::chrono::hours{static_cast<long>(i)});
    const auto& value = read->series.hours[i];
    if (!value || start < now - kBack || start > now + kAhead) continue;
    // An hour that hasn't begun can't have been measured.
    add(out, settings, start, *value,
        start > now ? carbon::SignalQuality::forecast : carbon::SignalQuality::measured);
  }
  if (out.signal.points.empty())
    return failed(FetchFailure::empty, "the file has no hour of the last 400 days");
  return out;
}

Fetched from_flows(const carbon::ProviderSettings& settings, const FileSystem& files, UtcTime now,
                   const carbon::HourlySeries& grid) {
  const auto text = files.read_text(option(settings, "file"), kLargestFile);
  if (!text) return failed(FetchFailure::unreachable, text.error().message);
  const auto read = carbon::read_weather_csv(*text);
  if (!read) return failed(FetchFailure::malformed, read.error().message);
  const auto& table = read->table;
  const auto column = [&](std::string_view name) -> const std::vector<std::optional<double>>* {
    const auto found = std::find(table.names.begin(), table.names.end(), name);
    return found == table.names.end() ? nullptr
                                      : &table.columns[static_cast<std::size_t>(found - table.names.begin())];
  };
  if (column("grid_kw") == nullptr)
    return failed(FetchFailure::malformed, "the flows have no column grid_kw");
  const auto factor = [&](std::string_view name) {
    return carbon::CarbonIntensity{parse_double(option(settings, name)).value_or(0)};
  };
  Fetched out;
  for (std::size_t i = 0; i < table.columns.front().size(); ++i) {
    const UtcHour hour = table.begin + std::chrono::hours{static_cast<long>(i)};
    if (start_of(hour) > now || start_of(hour) < now - kBack) continue;
    bool known = true;
    // A column that isn't there is a flow the site doesn't have; a cell that isn't there is not known.
    const auto power = [&](std::string_view name) {
      const auto* values = column(name);
      if (values == nullptr) return Watts{0};
      if (!(*values)[i]) known = false;
      return Watts{std::max((*values)[i].value_or(0), 0.0) * kPerKilo};
    };
    const carbon::SiteFlows flows{power("solar_kw"), power("wind_kw"), power("battery_kw"), power("grid_kw")};
    carbon::SiteFactors factors;
    factors.solar = factor("solar_g");
    factors.wind = factor("wind_g");
    const auto at = (hour - grid.begin).count();
    if (at >= 0 && at < static_cast<std::int64_t>(grid.hours.size()))
      if (const auto& value = grid.hours[static_cast<std::size_t>(at)])
        factors.grid = carbon::CarbonIntensity{*value};
    if (const auto* values = column("battery_g"); values != nullptr && (*values)[i])
      factors.battery = carbon::CarbonIntensity{*(*values)[i]};
    const auto intensity = known ? carbon::site_intensity(flows, factors) : std::nullopt;
    if (intensity) add(out, settings, start_of(hour), intensity->value(), carbon::SignalQuality::estimated);
  }
  if (out.signal.points.empty())
    return failed(FetchFailure::empty, "no hour has known flows and a known intensity of the grid");
  return out;
}

}  // namespace

bool is_local(const carbon::ProviderSettings& settings) {
  return settings.provider == "csv" || settings.provider == "static" || settings.provider == "onsite";
}

Fetched read_local(const carbon::ProviderSettings& settings, const FileSystem& files, UtcTime now,
                   const std::function<carbon::HourlySeries(const std::string& zone)>& grid_of) {
  if (settings.provider == "csv") return from_csv(settings, files, now);
  if (settings.provider == "onsite")
    return from_flows(settings, files, now, grid_of(option(settings, "grid")));
  Fetched out;
  add(out, settings, start_of(hour_of(now)), parse_double(option(settings, "g")).value_or(0),
      carbon::SignalQuality::fixed);
  return out;
}

}  // namespace tidewatt::emma
