// Sends the power of booked beats on to a remote_write receiver, for curves that outlive `retention`.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tidewatt/api/power_forward.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/config/settings.h"
#include "tidewatt/net/client.h"
#include "tidewatt/remote_write/write_request.h"

namespace tidewatt::cli {

struct ForwardSettings {
  std::string url;         ///< empty = nothing is forwarded
  std::string token_file;  ///< read for each request, so that a token may be replaced; empty = none
  std::string ca_file;
};

std::vector<config::Setting> forward_settings();
ForwardSettings forward_from(config::Settings& settings);

/// A bounded queue and one thread. What the receiver can't take now is sent again, in order; when it is away
/// for too long the oldest samples go first, counted.
class RemoteWriteForward final : public api::PowerForward {
 public:
  static constexpr std::size_t kMostWaiting = 200'000;  ///< samples
  static constexpr std::size_t kMostInRequest = 2'000;

  /// @param files  outlives this
  RemoteWriteForward(ForwardSettings settings, const FileSystem& files);
  ~RemoteWriteForward() override;
  RemoteWriteForward(const RemoteWriteForward&) = delete;
  RemoteWriteForward& operator=(const RemoteWriteForward&) = delete;

  void add(api::PowerRound round) override;
  [[nodiscard]] api::ForwardCounts counts() const override;

 private:
  enum class Sent : std::uint8_t { taken, refused, later };

  void run();
  std::vector<api::PowerRound> next_batch();
  Sent send(const std::string& body);
  void tell(Sent outcome);
  static std::string body_of(const std::vector<api::PowerRound>& batch);

  ForwardSettings settings_;
  const FileSystem& files_;
  std::unique_ptr<net::HttpClient> client_;
  std::string trouble_;  ///< of the last exchange
  bool failing_ = false;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<api::PowerRound> waiting_;
  api::ForwardCounts counts_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tidewatt::cli
