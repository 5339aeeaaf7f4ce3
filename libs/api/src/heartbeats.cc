// POST /api/v1/heartbeats
#include "handlers.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::api {
namespace {

/// The store's own words name addresses and paths; they are in the log.
constexpr std::string_view kRetryLater =
    "it can't be booked now: send it again; the server's log has the reason";

}  // namespace

net::Response post_heartbeats(Core& core, const Call& call) {
  // Its buffers are reused from request to request.
  thread_local wire::BeatParser parser;
  const auto started = core.clock.mono_now();
  auto parsed = parser.parse(call.request.body);
  if (!parsed) return problem_answer("invalid_body", parsed.error().to_string());

  const ledger::Receipt receipt{core.clock.utc_now(), started.time_since_epoch(), core.options.server_run};
  std::vector<wire::BeatAnswer> answers(parsed->size());
  std::vector<ledger::ReceivedBeat> received;
  std::vector<std::size_t> places;
  received.reserve(parsed->size());
  places.reserve(parsed->size());
  for (std::size_t i = 0; i < parsed->size(); ++i) {
    auto& beat = (*parsed)[i];
    if (!beat) {
      answers[i] = {"rejected", beat.error().to_string()};
      core.metrics.beats_refused.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    received.push_back({&*beat, receipt});
    places.push_back(i);
  }
  std::vector<PowerRound> powers;  // taken before booking, which moves the devices out
  if (core.options.forward)
    for (const auto& one : received) powers.push_back(power_of(*one.beat));
  // A registry that can't be read is no reason to refuse beats: they are answered `retry` by the ledger when
  // the store is down, and without windows the both-ends rule holds.
  const auto registry = core.registry();
  static const ledger::ClusterWindows none;
  const auto results = core.ledger.book(received, registry ? (*registry)->windows : none);
  for (std::size_t i = 0; i < powers.size(); ++i)
    if (results[i].outcome == ledger::BeatOutcome::accepted && !powers[i].devices.empty())
      core.options.forward->add(std::move(powers[i]));
  for (std::size_t i = 0; i < results.size(); ++i)
    answers[places[i]] = {std::string{ledger::to_string(results[i].outcome)},
                          results[i].outcome == ledger::BeatOutcome::retry && call.principal.role != Role::ops
                              ? std::string{kRetryLater}
                              : results[i].reason};

  net::Response response;
  response.headers["content-type"] = "application/json";
  response.body = wire::answers_to_json(answers);
  const auto took = core.clock.mono_now() - started;
  core.metrics.ingest.observe(Seconds{static_cast<double>(took.count()) / 1000.0});
  return response;
}

}  // namespace tidewatt::api
