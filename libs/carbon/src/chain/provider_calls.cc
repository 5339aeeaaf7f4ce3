#include "tidewatt/carbon/provider_calls.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tidewatt::carbon {
namespace {

constexpr Milliseconds kDay = std::chrono::hours{24};
constexpr int kForecastHoursAsked = 72;

/// "2026-03-01T10:30Z", as the British service wants it.
std::string to_the_minute(UtcTime at) { return format_rfc3339_short(at).substr(0, 16) + "Z"; }
std::string to_the_second(UtcTime at) {
  return format_rfc3339_short(std::chrono::floor<std::chrono::seconds>(at));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return text;
}

std::string base_of(const ProviderSettings& settings, std::string_view usual) {
  const auto given = settings.options.find("url");
  std::string base{given == settings.options.end() ? usual : given->second};
  while (base.ends_with('/')) base.pop_back();
  return base;
}

ProviderCall call(const ProviderSettings& settings, std::string_view usual_base, std::string endpoint) {
  return {base_of(settings, usual_base) + "/" + endpoint, std::move(endpoint), {}, false};
}

std::string_view name_of(Want want) {
  return want == Want::latest ? "latest" : want == Want::history ? "history" : "forecast";
}

std::optional<ProviderCall> electricitymaps(const ProviderSettings& settings, Want want,
                                            const ProviderSecrets& secrets) {
  // v3 knows no production mix.
  const bool production = settings.identity.basis == SignalBasis::production;
  auto out = call(
      settings, "https://api.electricitymaps.com",
      fmt::format(
          "{}/carbon-intensity/{}?zone={}&emissionFactorType={}{}{}", production ? "v4" : "v3", name_of(want),
          settings.zone, settings.identity.boundary == SignalBoundary::direct ? "direct" : "lifecycle",
          production ? "&flowTraced=false&disableCallerLookup=true" : "&shouldUseFallbackCallerLookup=false",
          want == Want::forecast ? fmt::format("&horizonHours={}", kForecastHoursAsked) : ""));
  out.headers.emplace_back("auth-token", secrets.electricitymaps_token);
  return out;
}

std::optional<ProviderCall> watttime(const ProviderSettings& settings, Want want, UtcTime now) {
  const std::string region = "region=" + settings.zone + "&signal_type=co2_moer";
  // Values are published minutes to hours late.
  const auto back = want == Want::latest ? kDay / 8 : kDay;
  const std::string endpoint =
      want == Want::forecast ? fmt::format("v3/forecast?{}&horizon_hours={}", region, kForecastHoursAsked)
                             : fmt::format("v3/historical?{}&start={}&end={}", region,
                                           to_the_second(now - back), to_the_second(now));
  auto out = call(settings, "https://api.watttime.org", endpoint);
  out.needs_login = true;
  return out;
}

std::optional<ProviderCall> uk(const ProviderSettings& settings, Want want, UtcTime now) {
  const bool nation = settings.zone == "GB";
  const std::string from = to_the_minute(now);
  std::string endpoint;
  if (want == Want::latest)
    endpoint = nation ? "intensity" : "regional/regionid/" + settings.zone;
  else
    endpoint =
        fmt::format("{}intensity/{}/{}{}", nation ? "" : "regional/", from,
                    want == Want::history ? "pt24h" : "fw48h", nation ? "" : "/regionid/" + settings.zone);
  return call(settings, "https://api.carbonintensity.org.uk", endpoint);
}

std::optional<ProviderCall> rte(const ProviderSettings& settings, Want want, UtcTime now) {
  if (want != Want::latest) return std::nullopt;
  return call(
      settings, "https://odre.opendatasoft.com",
      fmt::format("api/explore/v2.1/catalog/datasets/eco2mix-national-tr/records?select=taux_co2%2Cdate_heure"
                  "&where=date_heure%20%3E%3D%20date%27{:%Y-%m-%d}%27%20and%20taux_co2%20is%20not%20null"
                  "&order_by=date_heure%20desc&limit=100&timezone=UTC",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(now - kDay))));
}

std::optional<ProviderCall> greengrid(const ProviderSettings& settings, Want want, UtcTime now,
                                      const ProviderSecrets& secrets) {
  if (want != Want::forecast) return std::nullopt;
  auto out = call(settings, "https://eco2grid.com",
                  fmt::format("green-grid-compass/v2/forecast/hourly?zone_code={}&start={}&end={}",
                              settings.zone, to_the_second(now), to_the_second(now + 2 * kDay)));
  // Not in `endpoint`: that may be shown.
  out.url += "&apikey=" + secrets.greengrid_key;
  return out;
}

/// Generation of the last hours by source; published an hour late and more, so that it seldom holds now.
std::optional<ProviderCall> entsoe(const ProviderSettings& settings, Want want, UtcTime now,
                                   const ProviderSecrets& secrets) {
  if (want == Want::forecast) return std::nullopt;
  const auto end = start_of(hour_of(now) + std::chrono::hours{1});
  const auto stamp = [](UtcTime at) {
    auto text = format_rfc3339_short(at).substr(0, 16);
    std::erase_if(text, [](char c) { return c == '-' || c == 'T' || c == ':'; });
    return text;
  };
  auto out =
      call(settings, "https://web-api.tp.entsoe.eu",
           fmt::format("api?documentType=A75&processType=A16&in_Domain={}&periodStart={}&periodEnd={}",
                       settings.zone, stamp(end - (want == Want::latest ? kDay / 4 : 2 * kDay)), stamp(end)));
  // Not in `endpoint`: that may be shown.
  out.url += "&securityToken=" + secrets.entsoe_token;
  return out;
}

}  // namespace

std::optional<ProviderCall> call_for(const ProviderSettings& settings, Want want, UtcTime now,
                                     const ProviderSecrets& secrets) {
  if (settings.provider == "electricitymaps") return electricitymaps(settings, want, secrets);
  if (settings.provider == "watttime") return watttime(settings, want, now);
  if (settings.provider == "uk") return uk(settings, want, now);
  if (settings.provider == "rte") return rte(settings, want, now);
  if (settings.provider == "greengrid") return greengrid(settings, want, now, secrets);
  if (settings.provider == "entsoe") return entsoe(settings, want, now, secrets);
  if (settings.provider == "energycharts") {
    // One answer holds the day's values and the forecast.
    if (want != Want::latest) return std::nullopt;
    return call(settings, "https://api.energy-charts.info", "co2eq?country=" + lower(settings.zone));
  }
  if (settings.provider == "peer") {
    auto out = call(settings, "", fmt::format("api/v1/carbon/{}/{}", settings.zone, name_of(want)));
    if (!secrets.peer_token.empty())
      out.headers.emplace_back("authorization", "Bearer " + secrets.peer_token);
    return out;
  }
  return std::nullopt;
}

ProviderCall login_call(const ProviderSettings& settings, const ProviderSecrets& secrets) {
  auto out = call(settings, "https://api.watttime.org", "login");
  out.headers.emplace_back("authorization",
                           "Basic " + base64(secrets.watttime_user + ":" + secrets.watttime_password));
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? kDigits[group >> (18U - 6U * k) & 63U] : '=';
  }
  return out;
}

}  // namespace tidewatt::carbon
