// One question to one provider.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "tidewatt/base/clock.h"
#include "tidewatt/carbon/provider_calls.h"
#include "tidewatt/carbon/provider_health.h"
#include "tidewatt/carbon/signal.h"
#include "tidewatt/emma/emma.h"

namespace tidewatt::emma {

struct Fetched {
  carbon::ParsedSignal signal;
  std::optional<carbon::FetchFailure> failure;
  std::string why;  ///< of the failure, one line
  std::optional<Milliseconds> retry_after;
};

Fetched failed(carbon::FetchFailure failure, std::string why);

/// Thread-safe. Logins are shared by all zones.
class Fetcher {
 public:
  Fetcher(HttpFactory http, carbon::ProviderSecrets secrets, const Clock& clock)
      : http_{std::move(http)}, secrets_{std::move(secrets)}, clock_{clock} {}

  /// Whether the provider has an answer of that kind at all.
  [[nodiscard]] bool has(const carbon::ProviderSettings& settings, carbon::Want want) const;
  Fetched fetch(const carbon::ProviderSettings& settings, carbon::Want want);

 private:
  struct Login {
    std::string token;
    SteadyTime since{};
    std::optional<SteadyTime> tried;
  };
  Result<net::Response> send(const carbon::ProviderCall& call, const std::string& token);
  /// @param refused the token that was refused; empty = none was
  Result<std::string> token(const carbon::ProviderSettings& settings, const std::string& refused);

  HttpFactory http_;
  carbon::ProviderSecrets secrets_;
  const Clock& clock_;
  std::mutex login_mutex_;
  Login login_;
};

}  // namespace tidewatt::emma
