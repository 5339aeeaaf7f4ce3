#include "run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "run_folder.h"
#include "tidewatt/runner/outcome.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string length_text(Milliseconds length) {
  const auto minutes = std::chrono::round<std::chrono::minutes>(length).count();
  if (minutes < 1) return fmt::format("{:.1f} s", static_cast<double>(length.count()) / 1000);
  return minutes < 60 ? fmt::format("{} min", minutes)
                      : fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string grams(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f} gCO2/kWh", *value) : "—";
}

Json outcome_json(const runner::Order& order, const runner::Record& record, const runner::Plan& plan,
                  UtcTime now) {
  const auto outcome = outcome_of(order, record, plan, now);
  auto pieces = Json::array();
  for (const auto& piece : record.pieces)
    pieces.push_back({{"begin", format_rfc3339_short(piece.begin)},
                      {"end", piece.end ? Json(format_rfc3339_short(*piece.end)) : Json(nullptr)}});
  return {{"id", order.id},
          {"command", order.argv},
          {"state", to_string(record.state)},
          {"why", record.why},
          {"exit_code", record.exit_code ? Json(*record.exit_code) : Json(nullptr)},
          {"submitted", format_rfc3339_short(order.submitted)},
          {"deadline", order.deadline ? Json(format_rfc3339_short(*order.deadline)) : Json(nullptr)},
          {"pieces", std::move(pieces)},
          {"ran_seconds", static_cast<double>(outcome.ran.count()) / 1000},
          {"waited_seconds", static_cast<double>(outcome.waited.count()) / 1000},
          {"pauses", outcome.pauses},
          {"mean_gco2_per_kwh", number(outcome.mean_g_per_kwh)},
          {"baseline_gco2_per_kwh", number(outcome.baseline_g_per_kwh)},
          {"saving_percent_at_even_power", number(outcome.saving_percent)},
          {"notes", record.notes}};
}

}  // namespace

std::string minute_text(UtcTime at) {
  auto text = format_rfc3339(at).substr(0, 16);
  text[10] = ' ';
  return text + "Z";
}

std::string windows_text(const runner::Plan& plan) {
  std::vector<std::string> texts;
  for (const auto& window : plan.windows)
    texts.push_back(minute_text(window.begin) + " to " + minute_text(window.end).substr(11));
  return fmt::format("{}", fmt::join(texts, ", "));
}

void print_start(const runner::Order& order, const runner::Plan& plan, const std::string& folder) {
  fmt::print(stderr, "tidewatt run: run {} (state in {})\n", order.id, folder);
  if (plan.windows.empty()) {
    fmt::print(stderr, "tidewatt run: runs at once: {}\n", plan.why);
    return;
  }
  fmt::print(stderr, "tidewatt run: planned for {}; at {} at the latest\n", windows_text(plan),
             minute_text(latest_start(order, {}, order.submitted).value_or(order.submitted)));
}

void print_outcome(const runner::Order& order, const runner::Record& record, const runner::Plan& plan,
                   UtcTime now, bool json) {
  if (json) {
    fmt::print("{}\n",
               outcome_json(order, record, plan, now).dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  const auto outcome = outcome_of(order, record, plan, now);
  fmt::print(stderr, "tidewatt run: {}{}\n", record.why,
             record.exit_code ? fmt::format(", exit code {}", *record.exit_code) : "");
  for (const auto& note : record.notes) fmt::print(stderr, "tidewatt run: note: {}\n", note);
  fmt::print(stderr, "  ran                {} in {} piece{}\n", length_text(outcome.ran),
             record.pieces.size(), record.pieces.size() == 1 ? "" : "s");
  fmt::print(stderr, "  waited             {}\n", length_text(outcome.waited));
  fmt::print(stderr, "  intensity          {}\n", grams(outcome.mean_g_per_kwh));
  fmt::print(stderr, "  at once            {}\n", grams(outcome.baseline_g_per_kwh));
  fmt::print(stderr, "  carbon saved       {}\n",
             outcome.saving_percent ? fmt::format("{:.1f} % at even power", *outcome.saving_percent) : "—");
}

void print_runs(const std::shared_ptr<FileSystem>& files, const std::string& base, bool json) {
  auto all = Json::array();
  if (!json) fmt::print("{:<22} {:<8} {:>5}  {}\n", "run", "state", "exit", "command");
  for (const auto& id : run_ids(*files, base)) {
    const RunFolder folder{files, base + "/" + id};
    const auto order = folder.order();
    const auto record = folder.record();
    const auto plan = folder.plan();
    const auto clock = folder.clock();
    if (!order || !record || !plan || !clock) continue;
    if (json)
      all.push_back(outcome_json(*order, *record, *plan, (*clock)->utc_now()));
    else
      fmt::print("{:<22} {:<8} {:>5}  {}\n", id, to_string(record->state),
                 record->exit_code ? std::to_string(*record->exit_code) : "—", fmt::join(order->argv, " "));
  }
  if (json)
    fmt::print("{}\n", Json{{"runs", std::move(all)}}.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace tidewatt::cli
