#include "tidewatt/slurm/state_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tidewatt::slurm {
namespace {

using StateJson = nlohmann::json;

constexpr std::string_view kStateSchema = "tidewatt-slurm-controller/1";
constexpr std::size_t kMostStateBytes = 64U << 20U;
constexpr int kMostRequeues = 1'000'000;

std::optional<UtcTime> state_time(const StateJson& job, const char* name) {
  const auto found = job.find(name);
  return found != job.end() && found->is_string() ? parse_rfc3339(found->get<std::string>()) : std::nullopt;
}

std::optional<Stage> state_stage(const StateJson& job) {
  const auto found = job.find("stage");
  if (found == job.end() || !found->is_string()) return std::nullopt;
  for (const auto stage : {Stage::waiting, Stage::requeueing, Stage::released})
    if (*found == to_string(stage)) return stage;
  return std::nullopt;
}

std::optional<Tracked> tracked_from(const StateJson& job) {
  if (!job.is_object()) return std::nullopt;
  const auto submitted = state_time(job, "submitted");
  const auto latest = state_time(job, "latest_start");
  const auto stage = state_stage(job);
  const auto requeues = job.find("requeues");
  const auto begin = job.find("begin");
  if (!submitted || !latest || !stage || begin == job.end() || requeues == job.end() ||
      !requeues->is_number_integer() || *requeues < 0 || *requeues > kMostRequeues)
    return std::nullopt;
  Tracked tracked{*submitted, *latest, state_time(job, "begin"), *stage, requeues->get<int>()};
  if (!tracked.begin && !begin->is_null()) return std::nullopt;
  return tracked;
}

}  // namespace

std::string to_text(const Jobs& jobs) {
  auto list = StateJson::object();
  for (const auto& [id, job] : jobs)
    list[id] = {{"submitted", format_rfc3339(job.submitted)},
                {"latest_start", format_rfc3339(job.latest_start)},
                {"begin", job.begin ? StateJson(format_rfc3339(*job.begin)) : StateJson(nullptr)},
                {"stage", to_string(job.stage)},
                {"requeues", job.requeues}};
  return StateJson{{"schema", kStateSchema}, {"jobs", std::move(list)}}.dump(1) + "\n";
}

Result<Jobs> parse_jobs(std::string_view text) {
  const auto bad = [](const std::string& why) {
    return fail(ErrorCode::corrupt, fmt::format("the controller's state can't be used: {}", why),
                "remove the file: jobs that wait keep their begin times; look for held ones with squeue");
  };
  if (text.size() > kMostStateBytes) return bad("it is too large");
  const auto json = StateJson::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("schema") || json["schema"] != kStateSchema ||
      !json.contains("jobs") || !json["jobs"].is_object())
    return bad("it is no state of this version");
  Jobs jobs;
  for (const auto& [id, job] : json["jobs"].items()) {
    const auto tracked = tracked_from(job);
    if (!tracked) return bad("a job lacks what is needed");
    jobs.emplace(id, *tracked);
  }
  return jobs;
}

}  // namespace tidewatt::slurm
