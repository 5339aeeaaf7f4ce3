#include "server_carbon.h"

#include <algorithm>
#include <exception>

#include "tidewatt/base/log.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

using config::Kind;
using config::Setting;

constexpr Milliseconds kLook{1'000};
constexpr std::size_t kMostZones = 256;

std::string secret(config::Settings& settings, const char* path, const FileSystem& files) {
  auto read = settings.secret(path, files);
  if (!read) {
    settings.add_problem(path, read.error().to_string());
    return {};
  }
  return std::move(*read).value_or("");
}

bool uses(const std::vector<carbon::ChainSettings>& zones, std::string_view provider) {
  return std::any_of(zones.begin(), zones.end(), [&](const auto& zone) {
    return std::any_of(zone.providers.begin(), zone.providers.end(),
                       [&](const auto& one) { return one.provider == provider; });
  });
}

/// A provider that wants a secret and has none can only fail: said at the start.
void need(config::Settings& settings, const std::vector<carbon::ChainSettings>& zones, const char* provider,
          const char* path, const std::string& value) {
  if (value.empty() && uses(zones, provider))
    settings.add_problem(path, std::string{"is missing: a zone of carbon.zones asks "} + provider);
}

void check_grids(config::Settings& settings, const std::vector<carbon::ChainSettings>& zones) {
  for (const auto& zone : zones)
    for (const auto& provider : zone.providers) {
      const auto grid = provider.options.find("grid");
      if (grid == provider.options.end()) continue;
      const auto found = std::find_if(zones.begin(), zones.end(),
                                      [&](const auto& other) { return other.zone == grid->second; });
      if (found == zones.end() || found->zone == zone.zone)
        settings.add_problem("carbon.zones",
                             zone.zone + ": grid=" + grid->second + " is no other zone of the list");
      else if (found->identity.kind != carbon::SignalKind::average ||
               found->identity.boundary != zone.identity.boundary)
        settings.add_problem("carbon.zones", zone.zone + ": grid=" + grid->second +
                                                 " is a series of another kind or boundary");
    }
}

}  // namespace

std::vector<Setting> carbon_settings() {
  return {
      Setting{.path = "carbon.zones",
              .kind = Kind::map,
              .help = "Zone -> its providers of live carbon intensity in the order they are asked, like "
                      "\"DE: electricitymaps, static g=380 boundary=life_cycle basis=consumption\"."},
      Setting{.path = "carbon.ttl",
              .kind = Kind::duration,
              .fallback = "3600s",
              .minimum = "60s",
              .maximum = "1d",
              .help = "How long a value may be shown as stale, and how often forecasts are fetched."},
      Setting{.path = "carbon.timeout",
              .kind = Kind::duration,
              .fallback = "5s",
              .minimum = "500ms",
              .maximum = "30s",
              .help = "How long one answer of a provider may take."},
      Setting{.path = "carbon.ca_file",
              .help = "PEM file with a certificate to trust at providers besides the system's.",
              .metavar = "FILE"},
      Setting{
          .path = "carbon.alert_webhook",
          .kind = Kind::secret,
          .help = "URL that a degraded zone is posted to as {\"text\": ...}, as Slack's webhooks take it.",
          .env = "TIDEWATT_CARBON_ALERT_WEBHOOK"},
      Setting{.path = "carbon.alertmanager",
              .help = "Alertmanager that degraded zones are raised at, like http://127.0.0.1:9093.",
              .metavar = "URL"},
      Setting{.path = "carbon.electricitymaps_token",
              .kind = Kind::secret,
              .help = "Token for Electricity Maps.",
              .env = "TIDEWATT_ELECTRICITYMAPS_TOKEN"},
      Setting{.path = "carbon.watttime_user", .help = "Account at WattTime."},
      Setting{.path = "carbon.watttime_password",
              .kind = Kind::secret,
              .help = "Password of that account.",
              .env = "TIDEWATT_WATTTIME_PASSWORD"},
      Setting{.path = "carbon.greengrid_key",
              .kind = Kind::secret,
              .help = "Key for Green Grid Compass.",
              .env = "TIDEWATT_GREENGRID_KEY"},
      Setting{.path = "carbon.entsoe_token",
              .kind = Kind::secret,
              .help = "Security token for ENTSO-E.",
              .env = "TIDEWATT_ENTSOE_TOKEN"},
      Setting{.path = "carbon.peer_token",
              .kind = Kind::secret,
              .help = "Token for other tidewatt servers that zones are asked from.",
              .env = "TIDEWATT_PEER_TOKEN"},
  };
}

/// Where chain alerts go besides the log and the pages.
void take_targets(config::Settings& settings, ServerArguments& arguments, const FileSystem& files) {
  auto& targets = arguments.carbon_alerts;
  targets.webhook_url = secret(settings, "carbon.alert_webhook", files);
  targets.alertmanager_url = settings.text("carbon.alertmanager");
  for (const auto& [path, url] : {std::pair{"carbon.alert_webhook", targets.webhook_url},
                                  std::pair{"carbon.alertmanager", targets.alertmanager_url}})
    if (!url.empty() && !url.starts_with("http://") && !url.starts_with("https://"))
      settings.add_problem(path, "is no http:// or https:// address");
}

void take_carbon(config::Settings& settings, ServerArguments& arguments, const FileSystem& files) {
  auto& live = arguments.carbon;
  for (const auto& [zone, text] : settings.map("carbon.zones")) {
    auto chain = carbon::parse_chain(zone, text);
    if (!chain)
      settings.add_problem("carbon.zones", zone + ": " + chain.error().to_string());
    else if (live.zones.size() == kMostZones)
      settings.add_problem("carbon.zones", "has more than 256 zones");
    else
      live.zones.push_back(*std::move(chain));
  }
  check_grids(settings, live.zones);
  live.ttl = settings.duration("carbon.ttl");
  live.secrets = {secret(settings, "carbon.electricitymaps_token", files),
                  settings.text("carbon.watttime_user"),
                  secret(settings, "carbon.watttime_password", files),
                  secret(settings, "carbon.greengrid_key", files),
                  secret(settings, "carbon.peer_token", files),
                  secret(settings, "carbon.entsoe_token", files)};
  need(settings, live.zones, "electricitymaps", "carbon.electricitymaps_token",
       live.secrets.electricitymaps_token);
  need(settings, live.zones, "watttime", "carbon.watttime_user", live.secrets.watttime_user);
  need(settings, live.zones, "watttime", "carbon.watttime_password", live.secrets.watttime_password);
  need(settings, live.zones, "greengrid", "carbon.greengrid_key", live.secrets.greengrid_key);
  need(settings, live.zones, "entsoe", "carbon.entsoe_token", live.secrets.entsoe_token);
  need(settings, live.zones, "peer", "carbon.peer_token", live.secrets.peer_token);
  take_targets(settings, arguments, files);
  arguments.carbon_timeout = settings.duration("carbon.timeout");
  arguments.carbon_ca_file = settings.text("carbon.ca_file");
  if (!arguments.carbon_ca_file.empty())
    if (const auto pem = files.read_text(arguments.carbon_ca_file); !pem)
      settings.add_problem("carbon.ca_file", pem.error().to_string());
}

CarbonThread::CarbonThread(std::shared_ptr<emma::Emma> emma, std::unique_ptr<emma::ChainAlerts> alerts)
    : emma_{std::move(emma)}, alerts_{std::move(alerts)}, thread_{[this] { run(); }} {}

CarbonThread::~CarbonThread() {
  {
    const std::scoped_lock lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void CarbonThread::run() {
  for (;;) {
    try {
      emma_->refresh_due();
      if (alerts_) alerts_->look(emma_->zones());
    } catch (const std::exception& error) {
      log::error("carbon signals can't be refreshed", {{"error", error.what()}});
    }
    std::unique_lock lock{mutex_};
    if (wake_.wait_for(lock, kLook, [this] { return stopping_; })) return;
  }
}

}  // namespace tidewatt::cli
