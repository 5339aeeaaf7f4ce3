#include "server_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "server_access.h"
#include "server_accounting.h"
#include "server_carbon.h"
#include "server_kubernetes.h"
#include "server_sso.h"
#include "tidewatt/store/postgres.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

using config::Kind;
using config::Setting;

constexpr double kSecondsPerMinute = 60;
/// What may be stated of a factor; marginal ones are no factors for inventories.
constexpr std::array kFactorKinds{carbon::FactorKind::average, carbon::FactorKind::residual,
                                  carbon::FactorKind::fossil_only, carbon::FactorKind::ets_compliance,
                                  carbon::FactorKind::lifecycle_average};
constexpr std::array kBoundaries{carbon::SignalBoundary::unknown, carbon::SignalBoundary::direct,
                                 carbon::SignalBoundary::co2_only, carbon::SignalBoundary::life_cycle};

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

std::optional<Watts> watts(const config::Settings& settings, std::string_view path) {
  const auto value = settings.maybe_number(path);
  return value ? std::optional{Watts{*value}} : std::nullopt;
}

carbon::FactorInForce factor_of(const config::Settings& settings) {
  carbon::FactorSettings factor;
  // The environment isn't in the table: an invalid value there is a warning, and the file's value holds.
  factor.env_value = environment("ENERGY_GRID_EMISSION_FACTOR");
  factor.env_source = environment("ENERGY_GRID_EMISSION_SOURCE");
  if (const auto value = settings.maybe_number("energy.emission_factor_kgco2_per_kwh"))
    factor.config_value = carbon::KilogramsPerKwh{*value};
  factor.config_source = settings.text("energy.emission_source");
  factor.gas = settings.text("energy.emission_gas") == "co2" ? carbon::Gas::co2 : carbon::Gas::co2e;
  if (const auto year = settings.maybe_integer("energy.emission_year")) factor.year = static_cast<int>(*year);
  for (const auto kind : kFactorKinds)
    if (carbon::to_string(kind) == settings.text("energy.emission_kind")) factor.kind = kind;
  for (const auto boundary : kBoundaries)
    if (carbon::to_string(boundary) == settings.text("energy.emission_boundary")) factor.boundary = boundary;
  return carbon::factor_in_force(factor);
}

void check_listen(config::Settings& settings, ServerArguments& arguments) {
  const auto endpoint = parse_endpoint(settings.text("listen"));
  if (!endpoint) {
    settings.add_problem("listen", endpoint.error().to_string());
    return;
  }
  arguments.address = endpoint->address;
  arguments.port = endpoint->port;
  const bool tls = !arguments.tls_certificate.empty();
  if (tls != !arguments.tls_key.empty())
    settings.add_problem("tls.certificate", "tls.certificate and tls.key belong together: give both or none");
  if (!is_loopback(arguments.address) && !tls && !settings.boolean("insecure_listen"))
    settings.add_problem(
        "listen",
        fmt::format("{} is reachable from other machines and there is no TLS: give tls.certificate and "
                    "tls.key, or --insecure-listen where the network is trusted",
                    arguments.address));
}

void check_cpu(config::Settings& settings, ServerArguments& arguments) {
  const auto idle = watts(settings, "energy.cpu_idle_watts");
  const auto max = watts(settings, "energy.cpu_max_watts");
  arguments.api.cpu_model = carbon::cpu_power_model(idle, max);
  if ((idle || max) && !arguments.api.cpu_model)
    settings.add_problem(
        "energy.cpu_max_watts",
        "an estimate needs energy.cpu_idle_watts and energy.cpu_max_watts, with idle <= max");
}

void take_store(config::Settings& settings, ServerArguments& arguments, const FileSystem& files) {
  arguments.store = settings.text("store");
  if (arguments.store != "sqlite" && arguments.store != "memory" && !store::is_postgres_url(arguments.store))
    settings.add_problem(
        "store", fmt::format("unknown value \"{}\"; known: sqlite, memory, postgresql://USER@HOST/DATABASE",
                             store::without_password(arguments.store)));
  auto password = settings.secret("store_password", files);
  if (!password)
    settings.add_problem("store_password", password.error().to_string());
  else
    arguments.store_password = std::move(*password).value_or("");
}

/// Every setting as it holds, a URL's password hidden.
std::string described(const config::Settings& settings) {
  auto text = settings.describe();
  const auto url = settings.text("store");
  if (const auto at = text.find("store: " + url); at != std::string::npos && store::is_postgres_url(url))
    text.replace(at + 7, url.size(), store::without_password(url));
  return text;
}

std::vector<Setting> own_settings() {
  return {
      Setting{.path = "listen",
              .fallback = "127.0.0.1:7310",
              .help = "Address and port to serve on.",
              .metavar = "HOST:PORT"},
      Setting{.path = "insecure_listen",
              .kind = Kind::boolean,
              .fallback = "false",
              .help = "Serve other machines without TLS."},
      Setting{.path = "tls.certificate", .help = "PEM file with the certificate chain.", .metavar = "FILE"},
      Setting{.path = "tls.key", .help = "PEM file with the certificate's key.", .metavar = "FILE"},
      Setting{.path = "data",
              .help = "Folder of the ledger and the token files (default: the user's data folder).",
              .metavar = "DIR"},
      Setting{.path = "store",
              .fallback = "sqlite",
              .help = "Where the ledger is kept: sqlite, memory (lost at exit) or a postgresql:// URL.",
              .metavar = "sqlite|memory|URL",
              .env = "TIDEWATT_STORE"},
      Setting{.path = "store_password",
              .kind = Kind::secret,
              .help = "Password for PostgreSQL.",
              .env = "TIDEWATT_STORE_PASSWORD"},
      Setting{.path = "workers",
              .kind = Kind::integer,
              .fallback = "0",
              .minimum = "0",
              .maximum = "256",
              .help = "Threads that answer requests; 0 = one per core, at least 2."},
      Setting{.path = "energy.emission_factor_kgco2_per_kwh",
              .kind = Kind::number,
              .help = "Emission factor of the grid, in kg per kWh."},
      Setting{.path = "energy.emission_source",
              .help = "Who published the factor, in which document and year."},
      Setting{.path = "energy.emission_gas",
              .kind = Kind::choice,
              .fallback = "co2e",
              .choices = {"co2", "co2e"},
              .help = "What the factor counts."},
      Setting{.path = "energy.emission_year",
              .kind = Kind::integer,
              .minimum = "1990",
              .maximum = "2100",
              .help = "The year the factor is for."},
      Setting{.path = "energy.emission_kind",
              .kind = Kind::choice,
              .fallback = "average",
              .choices = {"average", "residual", "fossil_only", "ets_compliance", "lifecycle_average"},
              .help = "What the factor is; only averages give carbon figures in reports."},
      Setting{.path = "energy.emission_boundary",
              .kind = Kind::choice,
              .fallback = "unknown",
              .choices = {"unknown", "direct", "co2_only", "life_cycle"},
              .help = "What the factor contains; only direct and co2_only may enter Scope 2."},
      Setting{
          .path = "energy.zone_factors",
          .kind = Kind::list,
          .help =
              "Factors of zones and years for reports, each with its source: \"DE 2025 0.363 co2 direct: UBA "
              "2026\"; the factor above is for zones that none names.",
          .metavar = "LIST"},
      Setting{.path = "energy.max_gap_seconds",
              .kind = Kind::number,
              .fallback = "60",
              .minimum = "1",
              .maximum = "86400",
              .help = "Longer intervals count this much, the rest is a gap.",
              .env = "ENERGY_MAX_GAP_SECONDS"},
      Setting{.path = "energy.cpu_idle_watts",
              .kind = Kind::number,
              .minimum = "0",
              .help = "Power of an idle node's CPUs, for the CPU estimate."},
      Setting{.path = "energy.cpu_max_watts",
              .kind = Kind::number,
              .minimum = "0",
              .help = "Power of a busy node's CPUs, for the CPU estimate."},
      Setting{.path = "curves.retention",
              .kind = Kind::duration,
              .fallback = "7d",
              .minimum = "1h",
              .help = "How long curves are kept; totals are kept for good."},
      Setting{.path = "nodes.silent_after",
              .kind = Kind::duration,
              .fallback = "90s",
              .minimum = "1s",
              .help = "A node unheard of for longer is silent."},
      Setting{.path = "rate_limits.people_per_second",
              .kind = Kind::number,
              .fallback = "50",
              .minimum = "0",
              .help = "Requests per token; 0 = no limit."},
      Setting{.path = "rate_limits.agents_per_second",
              .kind = Kind::number,
              .fallback = "50000",
              .minimum = "0",
              .help = "Requests per agent token; 0 = no limit."},
      Setting{.path = "rate_limits.sign_ins_per_minute",
              .kind = Kind::number,
              .fallback = "60",
              .minimum = "0",
              .help = "Sign-ins per remote address; 0 = no limit."},
  };
}

}  // namespace

const config::SettingsTable& server_settings_table() {
  static const config::SettingsTable kTable{[] {
    auto settings = own_settings();
    for (auto& setting : carbon_settings()) settings.push_back(std::move(setting));
    for (auto& setting : forward_settings()) settings.push_back(std::move(setting));
    for (auto& setting : accounting_settings()) settings.push_back(std::move(setting));
    for (auto& setting : kubernetes_settings()) settings.push_back(std::move(setting));
    for (auto& setting : sso_settings()) settings.push_back(std::move(setting));
    return settings;
  }()};
  return kTable;
}

Result<Endpoint> parse_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  const auto port =
      colon == std::string::npos ? std::nullopt : parse_int64(std::string_view{text}.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535)
    return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is no HOST:PORT", text),
                "give one like 127.0.0.1:7310");
  std::string address = text.substr(0, colon);
  if (address.size() >= 2 && address.front() == '[' && address.back() == ']')
    address = address.substr(1, address.size() - 2);
  if (address.empty()) address = "0.0.0.0";
  if (address == "localhost") address = "127.0.0.1";
  return Endpoint{address, static_cast<std::uint16_t>(*port)};
}

bool is_loopback(const std::string& address) { return address == "::1" || address.starts_with("127."); }

LoadedServer load_server_settings(const std::string& config_file, const std::vector<Flag>& flags,
                                  const FileSystem& files) {
  LoadedServer loaded;
  config::Settings settings{server_settings_table()};
  if (!config_file.empty()) {
    if (const auto text = files.read_text(config_file)) {
      settings.load_yaml(*text, config_file);
    } else {
      loaded.problems.push_back(text.error().to_string());
    }
  }
  settings.load_environment(environment);
  for (const auto& flag : flags) settings.set(flag.path, flag.value, "command line");
  settings.finish();
  ServerArguments& arguments = loaded.arguments;
  arguments.tls_certificate = settings.text("tls.certificate");
  arguments.tls_key = settings.text("tls.key");
  arguments.data_folder = settings.text("data").empty() ? default_data_folder() : settings.text("data");
  // One setting that is wrong hides nothing about the others: who repairs a file wants to hear it all.
  const bool values_hold = settings.problems().empty();
  check_listen(settings, arguments);
  check_cpu(settings, arguments);
  take_store(settings, arguments, files);
  if (values_hold) {
    const auto workers = settings.integer("workers");
    arguments.workers = workers > 0 ? static_cast<std::size_t>(workers)
                                    : std::max<std::size_t>(2, std::thread::hardware_concurrency());
    arguments.api.version = TIDEWATT_VERSION;
    arguments.api.factor = factor_of(settings);
    arguments.api.max_gap = Milliseconds{std::llround(settings.number("energy.max_gap_seconds") * kPerKilo)};
    arguments.api.curve_retention = settings.duration("curves.retention");
    arguments.api.silent_after = settings.duration("nodes.silent_after");
    arguments.api.secure_cookies = !arguments.tls_certificate.empty();
    const double people = settings.number("rate_limits.people_per_second");
    const double agents = settings.number("rate_limits.agents_per_second");
    arguments.api.people = {people, std::max(1.0, people * 4)};
    arguments.api.agents = {agents, std::max(1.0, agents * 2)};
    const double sign_ins = settings.number("rate_limits.sign_ins_per_minute");
    arguments.api.sign_in = {sign_ins / kSecondsPerMinute, std::max(1.0, sign_ins / 3)};
  }
  take_sso(settings, arguments, files);
  take_carbon(settings, arguments, files);
  arguments.forward = forward_from(settings);
  take_accounting(settings, arguments, files);
  if (values_hold) take_kubernetes(settings, arguments);
  for (const auto& problem : settings.problems()) loaded.problems.push_back(problem.to_string());
  loaded.effective = described(settings);
  return loaded;
}

}  // namespace tidewatt::cli
