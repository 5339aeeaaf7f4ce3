// Zones whose values a test sets.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/carbon/signals.h"

namespace tidewatt::api::testing {

class FixedSignals final : public carbon::Signals {
 public:
  std::map<std::string, carbon::ZoneStatus> all;

  void set(const std::string& zone, double grams, std::string degraded = {}) {
    auto& status = all[zone];
    status.identity.zone = zone;
    carbon::StoredPoint point;
    point.point.intensity = carbon::CarbonIntensity{grams};
    status.decision = {carbon::ChainStep::latest, point, std::nullopt, std::move(degraded), std::nullopt};
  }
  [[nodiscard]] std::vector<carbon::ZoneStatus> zones() const override {
    std::vector<carbon::ZoneStatus> out;
    for (const auto& [name, status] : all) out.push_back(status);
    return out;
  }
  [[nodiscard]] std::optional<carbon::ZoneStatus> zone(const std::string& zone) const override {
    const auto found = all.find(zone);
    return found == all.end() ? std::nullopt : std::optional{found->second};
  }
  [[nodiscard]] std::optional<std::vector<carbon::StoredPoint>> history(const std::string&, const UtcRange&,
                                                                        bool) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<carbon::ZoneForecast> forecast(const std::string&, int) const override {
    return std::nullopt;
  }
};

}  // namespace tidewatt::api::testing
