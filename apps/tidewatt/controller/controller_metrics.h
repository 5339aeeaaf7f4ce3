// What the controller did, for Prometheus; and whether it lives, for Kubernetes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tidewatt/net/server.h"

namespace tidewatt::cli {

struct ControllerCounts {
  using Count = std::atomic<std::uint64_t>;
  Count by_window{0}, by_latest_start{0}, by_job{0}, by_no_signal{0};
  Count write_failures{0};    ///< patches and events that the API server refused, or that had no answer
  Count accounts_known{0};    ///< ended pods whose carbon was written
  Count accounts_missing{0};  ///< ... for whom it was written that it isn't known
  Count held{0}, overdue{0};  ///< at the last look: a gauge each
  Count looks{0};
  std::atomic<bool> complete{false};  ///< everything was listed once

  void opened(std::string_view by);
};

/// Prometheus text format 0.0.4.
std::string controller_metrics_text(const ControllerCounts& counts, bool leads);

/// Answers /metrics and /healthz. @param address  HOST:PORT @error as net::Server::listen
Result<std::unique_ptr<net::Server>> serve_controller_metrics(const std::string& address,
                                                              const ControllerCounts& counts,
                                                              std::function<bool()> leads);

}  // namespace tidewatt::cli
