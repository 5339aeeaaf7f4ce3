#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "tidewatt/agent/spool.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/net/http.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::agent {

/// Takes other agents' beats and puts them into our spool, from where they go on to our server: for sites
/// with one way out. `accepted` means: on this machine's disk. What the server thinks of a beat stays between
/// it and the relay: a beat that it refuses is logged and counted here.
class Relay {
 public:
  /// Gives the token that senders must show; read anew for each request, so that it can be rotated. nullopt =
  /// none.
  using TokenSource = std::function<Result<std::optional<std::string>>()>;

  Relay(Spool& spool, const Clock& clock, TokenSource token);

  /// POST /api/v1/heartbeats, as the server answers it. Thread-safe.
  net::Response take(const net::Request& request);
  /// Beats taken since the start.
  [[nodiscard]] std::uint64_t taken() const { return taken_; }

 private:
  std::optional<net::Response> refuse(const net::Request& request) const;

  Spool& spool_;
  const Clock& clock_;
  TokenSource token_;
  std::mutex mutex_;
  wire::BeatParser parser_;
  std::atomic<std::uint64_t> taken_ = 0;
};

}  // namespace tidewatt::agent
