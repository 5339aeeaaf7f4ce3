// Sends spooled beats to the server, in order, at least once.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/agent/backoff.h"
#include "tidewatt/agent/delivery.h"
#include "tidewatt/agent/spool.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/base/rng.h"
#include "tidewatt/net/client.h"

namespace tidewatt::agent {

struct SenderOptions {
  std::string url;  ///< of the heartbeats, complete
  std::string user_agent;
  std::size_t max_beats = 100;
  std::size_t max_bytes = 1U << 20U;  ///< of JSON in one request; the server's limit is well above
  std::size_t gzip_above = 1024;
};

struct SenderStats {
  Link link = Link::unknown;
  std::uint64_t sent = 0;  ///< acknowledged by the server: accepted or duplicate
  std::uint64_t duplicates = 0;
  std::uint64_t rejected = 0;  ///< the server won't ever take them
  std::uint64_t attempts = 0;
  std::uint64_t failures = 0;  ///< attempts after which we had to wait
  std::optional<SteadyTime> last_success;
};

/// One thread calls step(); stats() is for any.
class Sender {
 public:
  /// Gives the bearer token. Called at the first request and after a 401; nullopt = none is configured.
  using TokenSource = std::function<Result<std::optional<std::string>>()>;

  Sender(Spool& spool, const Clock& clock, Rng& rng, TokenSource token, SenderOptions options);

  /// Sends one batch if one is due.
  /// @return when to call again; nullopt = when there is a new beat
  std::optional<SteadyTime> step(net::HttpClient& client);
  /// One try now, whatever the back-off says: for the end of the process.
  void last_attempt(net::HttpClient& client);
  [[nodiscard]] SenderStats stats() const;

 private:
  void send(net::HttpClient& client, const std::vector<SpoolRecord>& batch);
  [[nodiscard]] net::ClientRequest request_for(const std::vector<SpoolRecord>& batch) const;
  void apply(const Verdict& verdict, const std::vector<SpoolRecord>& batch);
  void enter(Link link, const std::string& trouble);
  /// @return true when it is another token than before
  bool read_token();

  Spool& spool_;
  const Clock& clock_;
  Rng& rng_;
  TokenSource token_source_;
  SenderOptions options_;
  BackOff back_off_;
  std::size_t batch_limit_;
  std::optional<std::string> token_;
  bool token_read_ = false;
  std::string token_trouble_;
  bool no_token_told_ = false;
  SteadyTime not_before_{};
  std::string logged_trouble_;
  SteadyTime logged_at_{};
  mutable std::mutex mutex_;  // guards stats_
  SenderStats stats_;
};

}  // namespace tidewatt::agent
