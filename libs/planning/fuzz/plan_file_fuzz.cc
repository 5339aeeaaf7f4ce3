// Whatever a plan file holds: a one-line refusal or an answer, and the same one twice.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/planning/plan_file.h"
#include "tidewatt/planning/planner.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt;
  using namespace tidewatt::planning;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  PlanSurroundings surroundings;
  surroundings.read_csv = [&](const std::string&) -> Result<std::string> { return std::string{text}; };
  surroundings.has_zone = [](const std::string& zone) { return zone.size() < 10; };
  surroundings.local = [](const std::string&, const CivilTime& civil) -> std::optional<LocalInstants> {
    if (civil.hour == 2) return std::nullopt;
    const UtcTime at = std::chrono::sys_days{std::chrono::year{civil.year} / civil.month / civil.day} +
                       std::chrono::hours{civil.hour};
    return LocalInstants{at, at + civil.below_minute};
  };
  const auto problem = parse_plan(text, surroundings);
  if (!problem) {
    if (problem.error().to_string().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  // Planning itself is bounded by time, not by the input's size: only small plans are run here.
  if (problem->jobs.size() > 4 || problem->slots > 48 || problem->sites.size() > 3) return 0;
  for (const auto& job : problem->jobs)
    if (job.duration > 600 || job.release > 6000) return 0;
  if (to_json(*problem, plan(*problem, nullptr)) != to_json(*problem, plan(*problem, nullptr))) std::abort();
  return 0;
}
