// Sends beats to a server over HTTP as agents do: in order, again until they are taken.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/beat.h"
#include "tidewatt/net/client.h"

namespace tidewatt::cli {

struct FeedCounts {
  std::uint64_t accepted = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t rejected = 0;
  std::string last_reason;
};

class Feeder {
 public:
  /// @param wait  sleeps so long, or returns true at once when it is time to stop
  Feeder(std::string url, std::string agent_token, std::string ops_token,
         std::function<bool(Milliseconds)> wait);

  /// Posts them in batches; what is answered `retry`, and what got no answer, is sent again. @return false:
  /// told to stop
  bool post(const std::vector<Beat>& beats);
  /// As the operator. @error what the server said
  Result<std::string> get(const std::string& path_and_query);
  Status send(const std::string& method, const std::string& path, const std::string& body);

  [[nodiscard]] const FeedCounts& counts() const { return counts_; }

 private:
  enum class Sent { all, again };
  Sent post_once(const std::vector<std::string>& texts);

  std::string url_;
  std::string agent_token_;
  std::string ops_token_;
  std::function<bool(Milliseconds)> wait_;
  std::unique_ptr<net::HttpClient> client_;
  FeedCounts counts_;
  bool failing_ = false;  ///< and told so
};

}  // namespace tidewatt::cli
