// An API server: where it is, who we are there, one request at a time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/net/client.h"

namespace CLI {
class App;
}

namespace tidewatt::cli {

/// Asked to end: SIGTERM, or an end of one of our threads.
using StopFlag = std::atomic<bool>;

struct KubeAccess {
  std::string url;
  std::string token;       ///< as a kubeconfig has it inline
  std::string token_file;  ///< read for each request: a cluster renews it
  std::string ca_file;
  std::string ca_pem;
  std::string name_space = "default";  ///< where our own objects lie

  std::string kubeconfig;  ///< as given; empty: KUBECONFIG
  /// Adds --api-server, --api-token-file, --api-ca-file, --kubeconfig and --namespace.
  void add_options(CLI::App& command);
  /// Fills in what wasn't given: from the kubeconfig, else from the account that a pod has.
  Status complete();
};

/// What a kubeconfig's current context says.
/// @error invalid_input  also where it signs in by other means than a token
Status apply_kubeconfig(std::string_view text, const std::string& path, KubeAccess& access);

class KubeApi {
 public:
  /// @param deadline  of one exchange
  KubeApi(KubeAccess access, Milliseconds deadline, std::size_t most_bytes = std::size_t{64} << 20U);

  /// Any status is an answer. @param body  JSON; empty = none
  Result<net::Response> ask(const std::string& method, const std::string& path, std::string body = {},
                            std::string content_type = "application/json");
  Result<net::Response> watch(const std::string& path, const net::Streaming& streaming);
  [[nodiscard]] const KubeAccess& access() const { return access_; }

 private:
  Result<net::ClientRequest> made(const std::string& method, const std::string& path) const;

  KubeAccess access_;
  std::unique_ptr<net::HttpClient> client_;
};

}  // namespace tidewatt::cli
