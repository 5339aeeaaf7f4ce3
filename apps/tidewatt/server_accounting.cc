#include "server_accounting.h"

#include <algorithm>
#include <memory>

#include "local_time.h"
#include "tidewatt/carbon/hourly_series.h"
#include "tidewatt/reports/tariff.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

using config::Kind;
using config::Setting;

constexpr double kHoursPerYear = 8766;
constexpr std::size_t kLargestSeries = 64U << 20U;

Setting stated_number(const char* path, const char* minimum, const char* maximum, const char* help) {
  return Setting{.path = path, .kind = Kind::number, .minimum = minimum, .maximum = maximum, .help = help};
}

Setting source_of(const char* path, const char* of) {
  return Setting{.path = path, .help = std::string{"Who says so, in which document and year: "} + of + "."};
}

std::optional<reports::Stated> stated(const config::Settings& settings, const std::string& path,
                                      const std::string& source) {
  const auto value = settings.maybe_number(path);
  return value ? std::optional{reports::Stated{*value, settings.text(source)}} : std::nullopt;
}

/// One column of an hourly CSV file; values of any sign.
carbon::HourlySeries series_of(config::Settings& settings, const std::string& file_path,
                               const std::string& column_path, const FileSystem& files) {
  const auto file = settings.text(file_path);
  if (file.empty()) return {};
  const auto text = files.read_text(file, kLargestSeries);
  if (!text) {
    settings.add_problem(file_path, text.error().to_string());
    return {};
  }
  auto read = carbon::read_weather_csv(*text);
  if (!read) {
    settings.add_problem(file_path, read.error().to_string());
    return {};
  }
  const auto& names = read->table.names;
  const auto column = std::find(names.begin(), names.end(), settings.text(column_path));
  if (column == names.end()) {
    std::string known;
    for (const auto& name : names) known += (known.empty() ? "" : ", ") + name;
    settings.add_problem(column_path, "\"" + settings.text(column_path) + "\" is no column of " + file +
                                          " (known: " + known + ")");
    return {};
  }
  return {read->table.begin,
          std::move(read->table.columns[static_cast<std::size_t>(column - names.begin())])};
}

void take_tariff(config::Settings& settings, reports::Policy& policy, const FileSystem& files) {
  const auto text = settings.text("money.tariff");
  auto series = series_of(settings, "money.tariff_file", "money.tariff_column", files);
  if (!text.empty() && !series.hours.empty())
    settings.add_problem("money.tariff_file", "and money.tariff are both given: leave one out");
  if (!series.hours.empty()) {
    policy.tariff = "hourly, " + settings.text("money.tariff_file");
    policy.price_per_kwh = [prices = std::make_shared<carbon::HourlySeries>(std::move(series))](
                               UtcHour hour) -> std::optional<double> {
      const auto index = (hour - prices->begin).count();
      if (index < 0 || index >= static_cast<std::int64_t>(prices->hours.size())) return std::nullopt;
      return prices->hours[static_cast<std::size_t>(index)];
    };
    return;
  }
  if (text.empty()) return;
  const auto zone = settings.text("money.time_zone");
  if (!has_time_zone(zone)) {
    settings.add_problem("money.time_zone", "\"" + zone + "\" is no time zone like Europe/Berlin");
    return;
  }
  const auto tariff = reports::Tariff::parse(text);
  if (!tariff) {
    settings.add_problem("money.tariff", tariff.error().to_string());
    return;
  }
  policy.tariff = text + (tariff->flat() ? "" : " (" + zone + ")");
  policy.price_per_kwh = [tariff = *tariff, zone](UtcHour hour) -> std::optional<double> {
    if (tariff.flat()) return tariff.price({});
    const auto local = local_hour(zone, start_of(hour));
    return local ? std::optional{tariff.price(*local)} : std::nullopt;
  };
}

void take_battery(config::Settings& settings, reports::Policy& policy) {
  const auto capacity = settings.maybe_number("accounting.battery_kwh");
  const auto power = settings.maybe_number("accounting.battery_kw");
  if (!capacity && !power) return;
  if (!capacity || !power) {
    settings.add_problem("accounting.battery_kw",
                         "and accounting.battery_kwh belong together: give both or none");
    return;
  }
  policy.battery = reports::Battery{*capacity, *power, settings.number("accounting.battery_efficiency"),
                                    settings.number("accounting.battery_cost_per_kwh")};
}

}  // namespace

std::vector<Setting> accounting_settings() {
  return {
      stated_number("accounting.contracted_kwh_per_month", "0", "1000000000000",
                    "Clean energy bought by certificates or contracts, for the market-based column."),
      source_of("accounting.contracted_source", "the contracted energy"),
      stated_number("accounting.residual_kg_per_kwh", "0", "5",
                    "Residual mix: the market-based factor of what no contract covers."),
      source_of("accounting.residual_source", "the residual mix"),
      stated_number("accounting.upstream_kg_per_kwh", "0", "5",
                    "Upstream emissions of the grid's energy (life cycle minus direct), for Scope 3.3."),
      source_of("accounting.upstream_source", "the upstream factor"),
      stated_number("accounting.grid_loss_percent", "0", "50",
                    "Transmission and distribution losses, in percent of what is generated, for Scope 3.3."),
      source_of("accounting.grid_loss_source", "the losses"),
      stated_number("accounting.pue", "1", "5",
                    "Facility over IT energy of a period; overhead is a line of its own."),
      source_of("accounting.pue_source", "the PUE"),
      stated_number("accounting.water_litres_per_month", "0", "1000000000000",
                    "Water that the whole site uses in a month, for WUE."),
      source_of("accounting.water_source", "the use of water"),
      stated_number("accounting.embodied_kg_per_device", "0", "100000",
                    "Embodied carbon of one accelerator, in kg CO2e."),
      source_of("accounting.embodied_source", "the embodied carbon"),
      stated_number("accounting.device_life_years", "0.1", "50", "Over how many years it is spread."),
      Setting{
          .path = "accounting.supply_file",
          .help = "CSV of contracted clean supply by the hour (first column: UTC time), for 24/7 matching.",
          .metavar = "FILE"},
      Setting{.path = "accounting.supply_column", .fallback = "kwh", .help = "Its column in kWh."},
      stated_number("accounting.battery_kwh", "0", "1000000000",
                    "Capacity of a battery that surplus contracted energy charges."),
      stated_number("accounting.battery_kw", "0", "1000000000", "Its power."),
      Setting{.path = "accounting.battery_efficiency",
              .kind = Kind::number,
              .fallback = "0.9",
              .minimum = "0.01",
              .maximum = "1",
              .help = "Its round-trip efficiency."},
      Setting{.path = "accounting.battery_cost_per_kwh",
              .kind = Kind::number,
              .fallback = "0",
              .minimum = "0",
              .maximum = "1000",
              .help = "What a delivered kWh wears it, in money.currency."},
      Setting{.path = "money.tariff",
              .help = "Price per kWh, like 0.18, or by weekday and hour: \"0.14; mon-fri 8-20 0.24\"."},
      Setting{.path = "money.time_zone", .fallback = "UTC", .help = "Time zone of the tariff's hours."},
      Setting{.path = "money.tariff_file",
              .help = "CSV of hourly prices per kWh (first column: UTC time); may be negative.",
              .metavar = "FILE"},
      Setting{.path = "money.tariff_column", .fallback = "price", .help = "Its column."},
      Setting{.path = "money.currency", .fallback = "EUR", .help = "Currency of tariff and demand charge."},
      stated_number("money.demand_per_kw_month", "0", "100000",
                    "Demand charge per kW of a month's highest hourly mean."),
      Setting{.path = "money.carbon_price_eur_per_tonne",
              .kind = Kind::number,
              .fallback = "80",
              .minimum = "0",
              .maximum = "10000",
              .help = "Internal carbon price."},
  };
}

void take_accounting(config::Settings& settings, ServerArguments& arguments, const FileSystem& files) {
  auto& policy = arguments.api.accounting;
  for (const auto& entry : settings.list("energy.zone_factors"))
    if (const auto added = policy.zone_factors.add(entry); !added)
      settings.add_problem("energy.zone_factors", added.error().to_string());
  if (!policy.zone_factors.empty() && !arguments.api.factor.factor.configured)
    settings.add_problem("energy.zone_factors",
                         "needs energy.emission_factor_kgco2_per_kwh, too, for zones that it doesn't name");
  policy.contracted_kwh_per_month =
      stated(settings, "accounting.contracted_kwh_per_month", "accounting.contracted_source");
  policy.residual_kg_per_kwh =
      stated(settings, "accounting.residual_kg_per_kwh", "accounting.residual_source");
  policy.upstream_kg_per_kwh =
      stated(settings, "accounting.upstream_kg_per_kwh", "accounting.upstream_source");
  policy.grid_loss = stated(settings, "accounting.grid_loss_percent", "accounting.grid_loss_source");
  if (policy.grid_loss) policy.grid_loss->value /= 100;
  policy.pue = stated(settings, "accounting.pue", "accounting.pue_source");
  policy.water_litres_per_month =
      stated(settings, "accounting.water_litres_per_month", "accounting.water_source");
  policy.embodied_kg_per_device =
      stated(settings, "accounting.embodied_kg_per_device", "accounting.embodied_source");
  if (const auto years = settings.maybe_number("accounting.device_life_years"))
    policy.device_life_hours = *years * kHoursPerYear;
  if (policy.embodied_kg_per_device.has_value() != policy.device_life_hours.has_value())
    settings.add_problem("accounting.device_life_years",
                         "and accounting.embodied_kg_per_device belong together: give both or none");
  policy.supply_kwh = series_of(settings, "accounting.supply_file", "accounting.supply_column", files);
  take_battery(settings, policy);
  take_tariff(settings, policy, files);
  policy.currency = settings.text("money.currency");
  policy.demand_per_kw_month = settings.maybe_number("money.demand_per_kw_month");
  policy.carbon_price = carbon::EurosPerTonne{settings.number("money.carbon_price_eur_per_tonne")};
}

}  // namespace tidewatt::cli
