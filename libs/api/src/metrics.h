// Counters of the API and the text that Prometheus reads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cluster_metrics.h"
#include "tidewatt/api/power_forward.h"
#include "tidewatt/carbon/signals.h"
#include "tidewatt/ledger/ledger.h"
#include "tidewatt/net/server.h"

namespace tidewatt::api {

/// What became of the samples that a Prometheus sent.
struct RemoteWriteOutcomes {
  using Count = std::atomic<std::uint64_t>;
  Count booked{0};
  Count shadow{0};    ///< another source is the one of record
  Count old{0};       ///< not newer than what is booked
  Count no_node{0};   ///< no label names a node
  Count no_task{0};   ///< tokens of nobody's group
  Count unusable{0};  ///< stale, not finite, negative, absurd, of the future
  Count other{0};     ///< means neither energy nor tokens here
};

/// What became of the spans that services sent.
struct SpanOutcomes {
  using Count = std::atomic<std::uint64_t>;
  Count accepted{0};
  Count duplicate{0};
  Count too_old{0};   ///< their time was shared out already
  Count no_room{0};   ///< the task, or all together, has too many
  Count no_task{0};   ///< no attribute names a task
  Count unusable{0};  ///< no ids, no times, of the future
};

struct Metrics {
  Histogram ingest;
  Histogram requests;
  std::array<std::atomic<std::uint64_t>, 6> answers{};  ///< by status class: [2] = 2xx
  std::atomic<std::uint64_t> beats_refused{0};  ///< beats that were no beats (bad JSON inside a good body)
  std::atomic<std::uint64_t> events_sent{0};
  RemoteWriteOutcomes remote_write;
  SpanOutcomes spans;
  ClusterMetrics cluster;

  std::mutex audit_mutex;
  std::optional<ledger::AuditDifference> audit;          ///< nullopt until the first audit
  std::optional<WideMicrojoules> team_hours_difference;  ///< nullopt until the first look at them
};

/// What was refused at the door.
struct RefusedAccess {
  std::uint64_t sign_ins = 0;
  std::uint64_t tokens = 0;
};

/// Prometheus text format 0.0.4.
std::string metrics_text(Metrics& metrics, const ledger::LedgerCounters& ledger, const RefusedAccess& refused,
                         const std::optional<net::ServerStats>& server, std::string_view version,
                         std::size_t nodes_live, std::size_t nodes_total);

/// Commits that were acknowledged and lost, in the same format.
std::string damage_metrics_text(std::uint64_t lost_commits);
std::string forward_metrics_text(const ForwardCounts& counts);

/// The zones' chains, in the same format; empty where there is none.
std::string carbon_metrics_text(const std::vector<carbon::ZoneStatus>& zones);

}  // namespace tidewatt::api
