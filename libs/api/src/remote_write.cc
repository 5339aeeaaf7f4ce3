// POST /api/v1/write: what a Prometheus sends, booked where nobody better meters it.
#include "tidewatt/remote_write/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "handlers.h"
#include "remote_energy.h"

namespace tidewatt::api {
namespace {

using ledger::CounterStep;
using ledger::TokenCounter;
using remote_write::EnergySeries;
using remote_write::TokenSeries;
using remote_write::TokenSide;

constexpr double kMostCounted = 9e15;  ///< what a double still counts one by one
constexpr int kMostRaces = 8;

/// The counter's step to `value`; nullopt where there is none.
std::optional<CounterStep> step_to(const std::optional<TokenCounter>& stands, TokenCounter after,
                                   TokenSide side, const std::string& group) {
  CounterStep step{stands, std::move(after), {}, {}};
  if (!stands) return step;
  if (step.after.at <= stands->at) return std::nullopt;
  if (step.after.value < stands->value && step.after.at < stands->at + kSoonestReset) return std::nullopt;
  // A counter that fell began anew at 0, and all it has is new.
  const auto adds = step.after.value < stands->value ? step.after.value : step.after.value - stands->value;
  (side == TokenSide::prompt ? step.adds.prompt : step.adds.completion) = adds;
  step.group_id = group;
  return step;
}

std::string group_of(const Registry& registry, const TokenSeries& series) {
  if (!series.group_id.empty()) return series.group_id;
  const auto* task = registry.find(series.cluster, series.task_id);
  return task == nullptr ? std::string{} : task->group_id;
}

/// Moves the counter, against whoever moves it at the same time.
Result<bool> count_tokens(Core& core, const TokenSeries& series, const std::string& group, UtcTime at,
                          double value) {
  for (int race = 0; race < kMostRaces; ++race) {
    TW_TRY(const auto stands, core.store.token_counter(series.cluster, series.identity));
    const auto step = step_to(stands, {series.cluster, series.identity, at, static_cast<std::int64_t>(value)},
                              series.side, group);
    if (!step) return false;
    TW_TRY(const bool moved, core.store.step_token_counter(*step));
    if (moved) return true;
  }
  return fail(ErrorCode::unavailable, "a counter of tokens is moved by too many at once", "send again");
}

Status take_tokens(Core& core, const Registry& registry, const TokenSeries& tokens,
                   std::vector<remote_write::Sample> samples) {
  auto& outcomes = core.metrics.remote_write;
  std::sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  const auto group = group_of(registry, tokens);
  if (group.size() > kLongestLabel || tokens.cluster.size() > kLongestLabel) {
    outcomes.unusable += samples.size();
    return {};
  }
  // Labels may be longer than what a database takes for a key.
  TokenSeries counter = tokens;
  counter.identity = sha256_hex(tokens.identity);
  const auto latest = core.clock.utc_now() + kRemoteFuture;
  for (const auto& sample : samples) {
    if (!sample.value || *sample.value < 0 || *sample.value > kMostCounted || sample.at > latest) {
      ++outcomes.unusable;
      continue;
    }
    TW_TRY(const bool moved, count_tokens(core, counter, group, sample.at, *sample.value));
    ++(!moved ? outcomes.old : group.empty() ? outcomes.no_task : outcomes.booked);
  }
  return {};
}

}  // namespace

net::Response post_remote_write(Core& core, const Call& call) {
  const auto encoding = call.request.header("content-encoding");
  const auto type = call.request.header("content-type").value_or("");
  if (encoding != std::string_view{"snappy"} ||
      type.find("proto=io.prometheus.write.v2") != std::string_view::npos)
    return problem_answer("unsupported_media_type",
                          "send Prometheus remote_write 1.0: protobuf with Content-Encoding: snappy");
  API_TRY(const auto parsed, remote_write::parse_write_request(call.request.body));
  API_TRY(const auto registry, core.registry());
  RemoteEnergy energy{core};
  for (const auto& series : parsed) {
    const auto meaning = remote_write::meaning_of(series);
    if (const auto* device = std::get_if<EnergySeries>(&meaning)) {
      energy.add(*device, series.samples);
    } else if (const auto* tokens = std::get_if<TokenSeries>(&meaning)) {
      API_TRY_STATUS(take_tokens(core, *registry, *tokens, series.samples));
    } else {
      core.metrics.remote_write.other += series.samples.size();
    }
  }
  API_TRY_STATUS(energy.book(registry->windows));
  return empty_answer(204);
}

}  // namespace tidewatt::api
