// POST /api/v1/tasks/{id}/progress, and GET /api/v1/tasks/{id} with what follows from it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "body.h"
#include "energy_view.h"
#include "handlers.h"
#include "task_view.h"
#include "tidewatt/tasks/progress.h"
#include "token_view.h"

namespace tidewatt::api {
namespace {

constexpr std::int64_t kMostEpochNumber = 1'000'000'000;
constexpr double kMostJoules = 9e12;  ///< what 64 bits of microjoules hold: 2.5 TWh
constexpr double kMostStepSeconds = 1e9;
constexpr std::size_t kEpochsRead = 10'000;
constexpr std::size_t kEpochsShown = 200;

double joules_in(Microjoules energy) { return static_cast<double>(energy.n) / 1e6; }

WideMicrojoules microjoules(Joules energy) {
  // A prediction may be beyond any account; it is shown as the largest one.
  return WideMicrojoules{Microjoules{static_cast<std::int64_t>(std::min(energy.value(), kMostJoules) * 1e6)}};
}

Json progress_json(std::span<const ledger::EpochReport> reports) {
  if (reports.empty()) return nullptr;
  const auto& latest = reports.back();
  const auto epochs = tasks::epochs_of(reports);
  const auto count = std::min(reports.size(), kEpochsShown);
  Json shown = Json::array();
  for (auto i = reports.size() - count; i < reports.size(); ++i)
    shown.push_back(
        Json{{"epoch", reports[i].epoch},
             {"at", time(reports[i].at)},
             {"energy_joules", epochs[i].energy ? Json(epochs[i].energy->value()) : Json(nullptr)},
             {"seconds", epochs[i].seconds ? Json(epochs[i].seconds->value()) : Json(nullptr)}});
  return Json{
      {"epoch", latest.epoch},
      {"epochs_total", latest.epochs_total ? Json(*latest.epochs_total) : Json(nullptr)},
      {"reported_at", time(latest.at)},
      {"energy_joules_total", latest.energy_total ? Json(joules_in(*latest.energy_total)) : Json(nullptr)},
      {"step_latency_seconds",
       latest.step_latency ? Json(static_cast<double>(latest.step_latency->count()) / 1e6) : Json(nullptr)},
      {"epochs", std::move(shown)}};
}

Json fit_json(const tasks::FitSummary& fit) {
  return Json{{"epochs_used", fit.epochs_used},
              {"warm_up_epochs", fit.warm_up_epochs},
              {"changed_at_epoch", fit.changed_at ? Json(*fit.changed_at) : Json(nullptr)},
              {"evaluation_every", fit.evaluation ? Json(fit.evaluation->period) : Json(nullptr)},
              {"steady_epoch_joules", fit.steady_epoch.value()}};
}

Json prediction_json(const Core& core, const Call& call, const tasks::Prediction& predicted,
                     UtcTime last_at) {
  Json out{{"epochs", predicted.horizon},
           {"energy_joules", predicted.energy.value()},
           {"interval_90_joules", {predicted.low.value(), predicted.high.value()}},
           {"energy_kwh", kwh(microjoules(predicted.energy))},
           {"seconds", predicted.seconds ? Json(predicted.seconds->value()) : Json(nullptr)},
           {"finish_at", nullptr},
           {"model", fit_json(predicted.fit)},
           {"quality", "estimated"}};
  constexpr double kLongest = 3e9;  // seconds: a century
  if (predicted.seconds && predicted.seconds->value() < kLongest)
    out["finish_at"] =
        time(last_at + Milliseconds{static_cast<std::int64_t>(predicted.seconds->value() * 1000.0)});
  add_carbon_amount(out, core, call, microjoules(predicted.energy));
  return out;
}

Json hindsight_json(const std::optional<tasks::Hindsight>& hindsight) {
  if (!hindsight) return nullptr;
  const auto& predicted = hindsight->predicted;
  return Json{{"trained_epochs", tasks::kFewestEpochs},
              {"epochs", predicted.horizon},
              {"predicted_joules", predicted.energy.value()},
              {"interval_90_joules", {predicted.low.value(), predicted.high.value()}},
              {"actual_joules", hindsight->actual.value()},
              {"error_percent", hindsight->error_percent},
              {"in_interval", hindsight->in_interval}};
}

}  // namespace

net::Response post_task_progress(Core& core, const Call& call) {
  API_TRY(const auto body, Body::parse(call.request, {"epoch", "epochs_total", "energy_joules_total",
                                                      "step_latency_seconds", "at"}));
  ledger::EpochReport report;
  API_TRY(const auto epoch, body.whole_number("epoch", 0, kMostEpochNumber));
  if (!epoch)
    return problem_answer("invalid_request", "epoch is missing: give the number of the finished epoch");
  report.epoch = *epoch;
  API_TRY(report.epochs_total, body.whole_number("epochs_total", 0, kMostEpochNumber));
  API_TRY(const auto energy, body.amount("energy_joules_total", kMostJoules));
  if (energy) report.energy_total = Microjoules{std::llround(*energy * 1e6)};
  API_TRY(const auto step, body.amount("step_latency_seconds", kMostStepSeconds));
  if (step) report.step_latency = std::chrono::microseconds{std::llround(*step * 1e6)};
  API_TRY(const auto at, body.time("at"));
  report.at = at.value_or(core.clock.utc_now());
  API_TRY(const auto task, reported_task(core, call));
  report.cluster = task.cluster;
  report.task_id = task.task_id;
  API_TRY(const bool fresh, core.store.add_epoch(report));
  return json_answer(200, Json{{"status", fresh ? "accepted" : "duplicate"}});
}

net::Response get_task(Core& core, const Call& call) {
  API_TRY(const auto range, time_range(call, core.clock.utc_now()));
  API_TRY(const auto task, visible_task(core, call));
  API_TRY(const auto reports, core.store.epochs(task.cluster, task.task_id, kEpochsRead));
  API_TRY(const auto running, running_tasks(core));
  API_TRY(const auto tokens, TokenView::load(core, call, range));
  API_TRY(auto efficiency, tokens.group_json(core, task.cluster, task.group_id));
  Json answer{{"task_id", task.task_id},
              {"cluster", task.cluster},
              {"team", task.team},
              {"group_id", task.group_id},
              {"kind", task.kind},
              {"state", state_of(task, running.contains({task.cluster, task.task_id}), core.clock.utc_now())},
              {"started_at", time(task.started_at)},
              {"finished_at", time(task.finished_at)}};
  answer["progress"] = progress_json(reports);
  const auto outlook = tasks::outlook(reports);
  answer["prediction"] =
      outlook.remaining ? prediction_json(core, call, *outlook.remaining, reports.back().at) : Json(nullptr);
  answer["prediction_reason"] = outlook.reason.empty() ? Json(nullptr) : Json(outlook.reason);
  // Where the first epochs aren't read any more, what the first prediction was isn't known.
  answer["first_prediction"] =
      reports.size() < kEpochsRead ? hindsight_json(tasks::first_prediction(reports)) : Json(nullptr);
  answer["token_efficiency"] = std::move(efficiency);
  const auto view = carbon_view(core, call);
  if (view.visible)
    answer["emission_factor"] = factor_json(core.options.factor.factor);
  else
    answer["carbon_hidden_reason"] = view.hidden_reason;
  return json_answer(200, answer);
}

}  // namespace tidewatt::api
