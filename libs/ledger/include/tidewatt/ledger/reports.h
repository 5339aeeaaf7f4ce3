// What tasks say of themselves: how far they are, and what they did for it. Beside the accounts, never in
// them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

namespace tidewatt::ledger {

/// One finished epoch. A task's epoch counts once: the first report of a number stays.
struct EpochReport {
  std::string cluster = "default";
  std::string task_id;
  std::int64_t epoch = 0;
  UtcTime at{};
  std::optional<std::int64_t> epochs_total;
  std::optional<Microjoules> energy_total;  ///< since the task began
  std::optional<std::chrono::microseconds> step_latency;
  friend bool operator==(const EpochReport&, const EpochReport&) = default;
};

struct Tokens {
  std::int64_t prompt = 0;
  std::int64_t completion = 0;
  friend bool operator==(const Tokens&, const Tokens&) = default;
};

/// Tokens of one request of a task group. A request id counts once.
struct UsageReport {
  std::string cluster = "default";
  std::string group_id;
  std::string request_id;
  UtcTime at{};
  Tokens tokens;
};

/// A group's tokens in one UTC hour: what is kept for good.
struct TokenHour {
  std::string cluster;
  std::string group_id;
  UtcHour hour{};
  Tokens tokens;
  friend bool operator==(const TokenHour&, const TokenHour&) = default;
};

/// Where a counter of tokens stood when it was last taken in.
struct TokenCounter {
  std::string cluster = "default";
  std::string series;  ///< whose counter it is: name and labels
  UtcTime at{};
  std::int64_t value = 0;
  friend bool operator==(const TokenCounter&, const TokenCounter&) = default;
};

/// A counter's step and the tokens that it adds, one transaction.
struct CounterStep {
  std::optional<TokenCounter> before;  ///< as it was read; nullopt = nobody had it
  TokenCounter after;
  std::string group_id;  ///< empty = the step adds nothing (a baseline, a task without a group)
  Tokens adds;           ///< in the hour of after.at
};

}  // namespace tidewatt::ledger
