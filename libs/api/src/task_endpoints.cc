// GET /api/v1/tasks/{id}/endpoints and .../traces: a task's energy by what was asked of it.
#include <fmt/format.h>

#include <algorithm>

#include "energy_view.h"
#include "handlers.h"
#include "open_gaps.h"
#include "task_view.h"

namespace tidewatt::api {
namespace {

/// Of the domains that make the task's total; nullopt = nothing is known.
std::optional<WideMicrojoules> in_total(const traces::DomainEnergy& energy, const Totals& totals) {
  std::optional<WideMicrojoules> sum;
  for (const auto& [domain, amount] : energy)
    if (totals.in_total(domain)) sum = sum.value_or(WideMicrojoules{}) + amount;
  return sum;
}

Json exact(std::optional<WideMicrojoules> energy) {
  return energy ? Json(energy->to_string()) : Json(nullptr);
}

/// Rounded to the microjoule, half up.
Json per_request(std::optional<WideMicrojoules> energy, std::int64_t requests) {
  if (!energy || requests <= 0) return nullptr;
  const WideMicrojoules::Int twice = 2 * WideMicrojoules::Int{requests};
  return WideMicrojoules::from_raw((2 * energy->raw() + requests) / twice).to_string();
}

Json span_time(traces::SpanTime at) { return time(std::chrono::floor<Milliseconds>(at)); }
Json in_seconds(traces::Nanoseconds duration) { return static_cast<double>(duration.count()) / 1e9; }

Json endpoint_json(const traces::EndpointSum& endpoint, const Totals& totals) {
  const auto energy = in_total(endpoint.energy, totals);
  Json row{{"service", endpoint.service},
           {"route", endpoint.route},
           {"requests", endpoint.requests},
           {"failed", endpoint.failed}};
  row.update(amount_json(energy));
  row["energy_per_request_uj"] = per_request(energy, endpoint.requests);
  row["coverage"] = endpoint.request_time.count() > 0
                        ? Json(static_cast<double>(endpoint.covered_time.count()) /
                               static_cast<double>(endpoint.request_time.count()))
                        : Json(nullptr);
  row["mean_seconds"] =
      endpoint.requests > 0 ? in_seconds(endpoint.request_time / endpoint.requests) : Json(nullptr);
  return row;
}

Json notes_of(const traces::Report& report, std::optional<WideMicrojoules> open) {
  Json notes = Json::array();
  if (open && *open > WideMicrojoules{})
    notes.push_back(note("spans_open",
                         "the latest intervals still wait for late spans: their split may change",
                         Json{{"open_energy_uj", open->to_string()}}));
  if (report.late_spans > 0)
    notes.push_back(note("late_spans", "some spans came after part of their time was shared out",
                         Json{{"spans", report.late_spans}}));
  if (report.refused > 0)
    notes.push_back(
        note("refused_spans",
             "some spans were not taken in: what they used stands with the others or under no span",
             Json{{"spans", report.refused}}));
  return notes;
}

}  // namespace

net::Response get_task_endpoints(Core& core, const Call& call) {
  API_TRY(const auto range, time_range(call, core.clock.utc_now()));
  API_TRY(const auto task, visible_task(core, call));
  // Before the ledger's sum: what is booked meanwhile is in that one, and told as not observed.
  const SpanBooks::Task key{task.cluster, task.task_id};
  auto report = core.span_books.report(key, range.from, range.to);
  API_TRY(const auto sums, read_sums(core, {ledger::Scope::task, task.cluster, {task.task_id}, {}}, range));
  const auto totals = totals_of(sums.accounts);
  const auto energy = totals.energy();
  Json answer{{"task_id", task.task_id},
              {"cluster", task.cluster},
              {"from", format_rfc3339_short(start_of(range.from))},
              {"to", format_rfc3339_short(start_of(range.to))},
              {"attribution", "estimated"},
              {"spans_since", time(core.span_books.since(key))}};
  answer.update(amount_json(energy));
  if (!report) report.emplace();
  const auto no_span = in_total(report->no_span, totals);
  const auto open = in_total(report->open, totals);
  std::optional<WideMicrojoules> of_spans;
  Json rows = Json::array();
  std::stable_sort(report->endpoints.begin(), report->endpoints.end(), [&](const auto& a, const auto& b) {
    return in_total(a.energy, totals) > in_total(b.energy, totals);
  });
  for (const auto& endpoint : report->endpoints) {
    if (const auto part = in_total(endpoint.energy, totals))
      of_spans = of_spans.value_or(WideMicrojoules{}) + *part;
    rows.push_back(endpoint_json(endpoint, totals));
  }
  const bool observed = no_span || of_spans;
  const auto shared = no_span.value_or(WideMicrojoules{}) + of_spans.value_or(WideMicrojoules{});
  answer["spans_energy_uj"] = observed ? exact(of_spans.value_or(WideMicrojoules{})) : Json(nullptr);
  answer["no_span_energy_uj"] = exact(no_span);
  answer["not_observed_energy_uj"] = energy ? exact(*energy - shared) : Json(nullptr);
  answer["open_energy_uj"] = exact(open);
  answer["reason"] = !report->endpoints.empty() || observed ? Json(nullptr) : Json("no_spans");
  answer["endpoints"] = std::move(rows);
  answer["notes"] = notes_of(*report, open);
  return json_answer(200, answer);
}

net::Response get_task_traces(Core& core, const Call& call) {
  API_TRY(const auto page, page_of(call));
  API_TRY(const auto task, visible_task(core, call));
  API_TRY(const auto accounts, core.store.accounts({ledger::Scope::task, task.cluster, {task.task_id}, {}}));
  const auto totals = totals_of(accounts);
  Json rows = Json::array();
  for (const auto& trace : core.span_books.latest_traces({task.cluster, task.task_id}, page.limit)) {
    Json row{{"trace_id", traces::to_string(trace.trace)},
             {"service", trace.service},
             {"route", trace.route},
             {"begin", span_time(trace.begin)},
             {"seconds", in_seconds(trace.end - trace.begin)},
             {"spans", trace.spans},
             {"failed", trace.failed}};
    row.update(amount_json(in_total(trace.energy, totals)));
    row["open"] = trace.open;
    rows.push_back(std::move(row));
  }
  return json_answer(200, Json{{"task_id", task.task_id},
                               {"cluster", task.cluster},
                               {"attribution", "estimated"},
                               {"traces", std::move(rows)}});
}

}  // namespace tidewatt::api
