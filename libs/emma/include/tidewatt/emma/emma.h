// Asks the providers of each zone and answers readers from memory. See docs/method/signals.md.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/carbon/chain_settings.h"
#include "tidewatt/carbon/provider_calls.h"
#include "tidewatt/carbon/signals.h"
#include "tidewatt/net/client.h"

namespace tidewatt::emma {

/// A client for one exchange; its deadline is the time-out of an answer.
using HttpFactory = std::function<std::unique_ptr<net::HttpClient>()>;

struct Options {
  std::vector<carbon::ChainSettings> zones;
  carbon::ProviderSecrets secrets;
  std::string cache_folder;  ///< empty = nothing is kept on disk
  Milliseconds ttl{3'600'000};
};

class Emma final : public carbon::Signals {
 public:
  /// Takes what the cache holds. A zone's damaged cache is told in the log and begun anew.
  /// @param http, files, clock outlive this
  Emma(Options options, HttpFactory http, FileSystem& files, const Clock& clock);
  ~Emma() override;

  /// Fetches what is due for a zone, unless somebody is doing so. Blocks for the exchanges. Thread-safe.
  void refresh(const std::string& zone);
  /// The same for all zones, one after the other.
  void refresh_due();

  [[nodiscard]] std::vector<carbon::ZoneStatus> zones() const override;
  [[nodiscard]] std::optional<carbon::ZoneStatus> zone(const std::string& zone) const override;
  [[nodiscard]] std::optional<std::vector<carbon::StoredPoint>> history(const std::string& zone,
                                                                        const UtcRange& range,
                                                                        bool all_revisions) const override;
  [[nodiscard]] std::optional<carbon::ZoneForecast> forecast(const std::string& zone,
                                                             int hours) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidewatt::emma
