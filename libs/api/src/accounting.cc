// Reports and accounting: the same figures of a period or of any window.
#include <fmt/format.h>

#include "handlers.h"
#include "tenant_view.h"
#include "tidewatt/reports/gather.h"
#include "tidewatt/reports/text.h"

namespace tidewatt::api {
namespace {

constexpr std::size_t kLongestWindow = 366U * 24;

net::Response of_the_site(std::string_view scope) {
  return problem_answer(
      "forbidden",
      fmt::format("scope={} holds other teams' energy too (use scope=team, task_group or task)", scope));
}

Result<reports::Report> report_for(Core& core, const Call& call, reports::Question question) {
  TW_TRY(const auto nodes, core.store.nodes());
  TW_TRY(const auto seals, core.store.seals());
  reports::Policy policy = core.options.accounting;
  policy.factor = core.options.factor.factor;
  policy.with_simulated = question.with_simulated;
  TenantView view;
  if (call.is_tenant()) {
    TW_TRY(view, tenant_view(core, call, nullptr));
    question.tasks = &view.tasks;
    question.team = call.principal.team;
    policy.contracts_hidden = policy.contracted_kwh_per_month.has_value();
    policy.contracted_kwh_per_month.reset();
    policy.water_hidden = policy.water_litres_per_month.has_value();
    policy.water_litres_per_month.reset();
    policy.supply_kwh = {};
    policy.battery.reset();
  }
  question.with_whole =
      policy.contracted_kwh_per_month || policy.water_litres_per_month || !policy.supply_kwh.hours.empty();
  if (core.options.signals) policy.zones = reports::zones_of(*core.options.signals, question.window, seals);
  TW_TRY(const auto moved, core.store.moved_tasks());
  question.moved = &moved;
  std::vector<ledger::TokenHour> tokens;
  if (question.scope == reports::Scope::task_group) {
    TW_TRY(tokens, core.store.token_hours(question.window.from, question.window.to));
    question.tokens = &tokens;
  }
  std::shared_ptr<const Registry> registry;
  const reports::ReadTasks tasks = [&]() -> Result<std::span<const ledger::TaskInfo>> {
    TW_TRY(registry, core.registry());
    return std::span<const ledger::TaskInfo>{registry->tasks};
  };
  TW_TRY(const auto booked, reports::gather_asking(core.store, question, tasks, nodes, seals));
  if (const auto window = reports::moved_window(booked); window && core.options.signals)
    policy.moved_zones = reports::zones_of(*core.options.signals, *window, seals);
  return reports::make_report(booked, policy, carbon_view(core, call));
}

net::Response answer(Core& core, const Call& call, const reports::Window& window, const std::string& period) {
  reports::Question question;
  question.window = window;
  question.id = call.parameter("id");
  question.cluster = call.parameter("cluster");
  const std::string scope = call.parameter("scope", call.is_tenant() ? "team" : "cluster");
  const auto known = reports::scope_from(scope);
  if (!known)
    return problem_answer(
        "invalid_request",
        fmt::format("scope={} is unknown (known: cluster, node, team, task_group, task)", scope));
  question.scope = *known;
  if (call.is_tenant() && (*known == reports::Scope::cluster || *known == reports::Scope::node))
    return of_the_site(scope);
  const std::string simulated = call.parameter("simulated", "leave_out");
  if (simulated != "leave_out" && simulated != "include")
    return problem_answer("invalid_request",
                          fmt::format("simulated={} is unknown (known: leave_out, include)", simulated));
  question.with_simulated = simulated == "include";
  const std::string format_name = call.parameter("format", "json");
  const auto format = reports::format_from(format_name);
  if (!format)
    return problem_answer("invalid_request",
                          fmt::format("format={} is unknown (known: json, csv, md, html)", format_name));
  const std::string language_name = call.parameter("lang", "en");
  const auto language = reports::language_from(language_name);
  if (!language)
    return problem_answer("invalid_request",
                          fmt::format("lang={} is unknown (known: en, zh)", language_name));
  API_TRY(auto report, report_for(core, call, question));
  report.period = period;
  net::Response response;
  response.headers["content-type"] = std::string{reports::media_type(*format)};
  if (*format != reports::Format::json)
    response.headers["content-disposition"] = fmt::format(
        "{}; filename=\"tidewatt-{}-{}.{}\"", *format == reports::Format::html ? "inline" : "attachment",
        period.empty() ? "accounting" : period, scope, reports::file_ending(*format));
  if (*format == reports::Format::html)
    response.headers["content-security-policy"] =
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'";
  response.body = reports::to_text(report, *format, *language);
  return response;
}

}  // namespace

net::Response get_accounting(Core& core, const Call& call) {
  API_TRY(const auto range, time_range(call, core.clock.utc_now()));
  const reports::Window window{range.from, range.to};
  if (window.hours() > kLongestWindow)
    return problem_answer("invalid_request", "a window of more than 366 days: ask in parts");
  return answer(core, call, window, {});
}

net::Response get_report(Core& core, const Call& call) {
  const auto period = reports::parse_period(call.ids.front());
  if (!period)
    return problem_answer(
        "invalid_request",
        fmt::format("\"{}\" is no period: give one like 2026-11, 2026-Q4 or 2026", call.ids.front()));
  return answer(core, call, period->window(), period->text);
}

}  // namespace tidewatt::api
