// Whatever Slurm's programs print and whatever stands in the state: no crash, ids are digits, and what we
// write reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tidewatt/slurm/accounting.h"
#include "tidewatt/slurm/queue.h"
#include "tidewatt/slurm/state_file.h"
#include "tidewatt/slurm/wish.h"

namespace {

void look_at_id(const std::string& id) {
  if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const UtcTime now{std::chrono::seconds{1'796'000'000}};
  if (const auto queue = slurm::parse_queue(text, "m")) {
    for (const auto& job : queue->jobs) look_at_id(job.id);
    const auto plan = [&](Milliseconds, UtcTime) { return slurm::Begin{now + std::chrono::hours{5}, 1, 2}; };
    const auto round = next_round({}, *queue, plan, {}, now);
    for (const auto& action : round.actions) look_at_id(action.job);
    const auto again = slurm::parse_jobs(to_text(round.jobs));
    if (!again || *again != round.jobs) std::abort();
  }
  if (const auto jobs = slurm::parse_jobs(text)) {
    const auto again = slurm::parse_jobs(to_text(*jobs));
    if (!again || *again != *jobs) std::abort();
  }
  for (const auto& run : slurm::parse_job_completions(text, parse_rfc3339).runs) look_at_id(run.id);
  if (const auto runs = slurm::parse_sacct(text, "m"))
    for (const auto& run : runs->runs) look_at_id(run.id);
  (void)slurm::wish_of(text);
  (void)slurm::parse_length(text);
  return 0;
}
