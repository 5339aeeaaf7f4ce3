// KEDA's external scaler over gRPC: how many replicas a policy wants now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::keda_grpc {

struct ScalerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;            ///< 0 = any free port
  std::string tls_certificate_file;  ///< PEM; empty = plain. Renewed files are taken by themselves.
  std::string tls_key_file;
  Milliseconds look{5'000};       ///< how often an open stream is looked after
  std::size_t most_streams = 64;  ///< each holds a thread
};

/// Thread-safe, and quick. @return nullopt = there is no such policy
using ReplicasOf = std::function<std::optional<int>(std::string_view policy)>;

/// Serves until it is destroyed. A trigger names its policy in its metadata: `policy: NAME`.
class Scaler {
 public:
  /// @error invalid_input (address), conflict (port taken)
  static Result<std::unique_ptr<Scaler>> listen(const ScalerOptions& options, ReplicasOf replicas_of);
  virtual ~Scaler() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
};

}  // namespace tidewatt::keda_grpc
