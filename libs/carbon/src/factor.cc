#include "tidewatt/carbon/factor.h"

#include <fmt/format.h>

#include <cmath>

#include "tidewatt/units/text.h"

namespace tidewatt::carbon {
namespace {

constexpr std::string_view kEnvValue = "ENERGY_GRID_EMISSION_FACTOR";
constexpr std::string_view kEnvSource = "ENERGY_GRID_EMISSION_SOURCE";
constexpr std::string_view kConfigValue = "energy.emission_factor_kgco2_per_kwh";
constexpr std::string_view kConfigSource = "energy.emission_source";

std::string stated(const std::optional<std::string>& text) {
  return text ? std::string{trim(*text)} : std::string{};
}

/// Why a value can't be a factor; empty when it can.
std::string complaint(KilogramsPerKwh value) {
  if (!std::isfinite(value.value()) || value.value() <= 0) return "must be a number above 0";
  if (value > kLargestPlausible)
    return fmt::format("is above {} kg/kWh, which no grid emits: give kilograms, not grams, per kWh",
                       format_double(kLargestPlausible.value()));
  return {};
}

Factor configured(KilogramsPerKwh value, std::string source, const FactorSettings& settings) {
  return Factor{value,         settings.gas,  std::move(source), true,
                settings.year, settings.kind, settings.boundary};
}

std::optional<Factor> from_environment(const FactorSettings& settings, FactorInForce& result) {
  auto& warnings = result.warnings;
  const std::string text = stated(settings.env_value);
  if (text.empty()) return std::nullopt;
  const auto number = parse_double(text);
  const std::string why = number ? complaint(KilogramsPerKwh{*number}) : "must be a number above 0";
  if (!why.empty()) {
    warnings.push_back(fmt::format("{}={} {}; it is ignored", kEnvValue, text, why));
    result.value_ignored = true;
    return std::nullopt;
  }
  std::string source = stated(settings.env_source);
  if (source.empty()) {
    source = "env, no source stated";
    warnings.push_back(fmt::format("{}={} has no source: set {} to the publisher, document and year",
                                   kEnvValue, text, kEnvSource));
  }
  return configured(KilogramsPerKwh{*number}, std::move(source), settings);
}

std::optional<Factor> from_configuration(const FactorSettings& settings, FactorInForce& result) {
  auto& warnings = result.warnings;
  if (!settings.config_value) return std::nullopt;
  const std::string text = format_double(settings.config_value->value());
  if (const std::string why = complaint(*settings.config_value); !why.empty()) {
    warnings.push_back(fmt::format("{}: {} {}; it is ignored", kConfigValue, text, why));
    result.value_ignored = true;
    return std::nullopt;
  }
  std::string source{trim(settings.config_source)};
  if (source.empty()) {
    source = "config, no source stated";
    warnings.push_back(fmt::format("{}: {} has no source: set {} to the publisher, document and year",
                                   kConfigValue, text, kConfigSource));
  }
  return configured(*settings.config_value, std::move(source), settings);
}

}  // namespace

std::string_view to_string(Gas gas) { return gas == Gas::co2 ? "co2" : "co2e"; }
std::string_view unit_of(Gas gas) { return gas == Gas::co2 ? "kgCO2/kWh" : "kgCO2e/kWh"; }

FactorInForce factor_in_force(const FactorSettings& settings) {
  FactorInForce result;
  if (auto factor = from_environment(settings, result)) {
    result.factor = *std::move(factor);
    return result;
  }
  const std::string env_source = stated(settings.env_source);
  if (auto factor = from_configuration(settings, result)) {
    if (!env_source.empty())
      result.warnings.push_back(
          fmt::format("{}={} is ignored: {} gives no usable value, the configured factor is in force",
                      kEnvSource, env_source, kEnvValue));
    result.factor = *std::move(factor);
    return result;
  }
  std::string source = env_source.empty() ? std::string{trim(settings.config_source)} : env_source;
  const std::string placeholder = format_double(kPlaceholder.value());
  if (source.empty()) {
    source = "placeholder, not published by any agency";
    result.warnings.push_back(fmt::format(
        "no emission factor is configured: {} kg/kWh is a placeholder that no agency published; set {} or {}",
        placeholder, kEnvValue, kConfigValue));
  } else {
    result.warnings.push_back(
        fmt::format("emission source \"{}\" comes without a usable value: the value is still the placeholder "
                    "{}; set {} or {}",
                    source, placeholder, kEnvValue, kConfigValue));
    source += fmt::format(" (warning: the value is still the placeholder {})", placeholder);
  }
  result.factor.value = kPlaceholder;
  result.factor.source = std::move(source);
  return result;
}

GramsPerKwh intensity_of(const Factor& factor) { return GramsPerKwh{factor.value.value() * kPerKilo}; }

GramsCo2 carbon_of(WattHours energy, const Factor& factor) { return energy * intensity_of(factor); }

}  // namespace tidewatt::carbon
