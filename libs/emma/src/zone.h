// What is kept of one zone and of the providers of its chain. Its settings never change; all else is guarded
// by Emma's mutex.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/carbon/chain_settings.h"
#include "tidewatt/carbon/forecast_scores.h"
#include "tidewatt/carbon/provider_calls.h"
#include "tidewatt/carbon/provider_health.h"
#include "tidewatt/carbon/signal_book.h"
#include "tidewatt/carbon/signal_chain.h"
#include "tidewatt/carbon/signals.h"

namespace tidewatt::emma {

struct Provider {
  carbon::ProviderSettings settings;
  /// By what is asked: a plan may cover values and no forecasts.
  std::array<carbon::ProviderHealth, 3> healths;
  carbon::ProviderStatus status;
  carbon::Want main = carbon::Want::latest;  ///< what it is judged by
  bool without_value = false;                ///< it answered last, but with nothing that holds then

  [[nodiscard]] carbon::ProviderHealth& health(carbon::Want want) {
    return healths.at(static_cast<std::size_t>(want));
  }
  [[nodiscard]] const carbon::ProviderHealth& health() const {
    return healths.at(static_cast<std::size_t>(main));
  }
};

struct Zone {
  explicit Zone(carbon::ChainSettings chain) : settings{std::move(chain)}, book{settings.identity} {
    for (const auto& provider : settings.providers) {
      providers.push_back({provider, {}, {}, carbon::Want::latest});
      providers.back().status.provider = provider.provider;
    }
  }
  carbon::ChainSettings settings;
  carbon::SignalBook book;
  carbon::ForecastScores scores;
  std::optional<carbon::Forecast> own;
  std::vector<Provider> providers;
  carbon::FetchGate gate;
  UtcTime forecasts_due{};
  UtcTime scored_to{};
  std::optional<carbon::ChainStep> step;
  std::optional<UtcTime> step_since;
};

}  // namespace tidewatt::emma
