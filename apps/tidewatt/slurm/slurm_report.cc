// tidewatt slurm report: energy, carbon, waiting and saving of each job, beside what Slurm's accounting says.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../command.h"
#include "../input.h"
#include "../local_time.h"
#include "slurm_clock.h"
#include "slurm_commands.h"
#include "slurm_programs.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/runner/outcome.h"
#include "tidewatt/tasks/receipt.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kGramsPerKilogram = 1000;
constexpr double kMicrojoules = 1e6;

struct ReportOptions {
  SlurmSignal signal;
  SlurmPlace place;
  std::string accounting_file;
  std::string time_zone = "localtime";
  std::string range = "24h";
  std::string job;
  std::string cluster;
  bool json = false;
};

/// One job, all its runs together.
struct JobAccount {
  std::string id, user, state;
  std::optional<UtcTime> submitted;
  runner::Record record;  ///< its pieces
  runner::Outcome outcome;
  std::optional<double> slurm_joules;
  std::optional<std::string> energy_uj;  ///< as the server wrote it: exact
  std::optional<double> energy_joules;
  std::optional<double> carbon_grams;
  std::optional<double> run_now_grams;
  std::string carbon_source;
  double coverage = 1;
  bool estimated = false;
};

slurm::LocalTime local_clock(const std::string& zone) {
  return [zone](std::string_view text) -> std::optional<UtcTime> {
    // As if it were UTC, to take it apart.
    const auto plain = parse_rfc3339(std::string(text) + "Z");
    if (!plain) return std::nullopt;
    const auto day = std::chrono::floor<std::chrono::days>(*plain);
    const std::chrono::year_month_day date{day};
    const auto minutes = std::chrono::floor<std::chrono::minutes>(*plain - day);
    planning::CivilTime civil;
    civil.year = static_cast<int>(date.year());
    civil.month = static_cast<int>(static_cast<unsigned>(date.month()));
    civil.day = static_cast<int>(static_cast<unsigned>(date.day()));
    civil.hour = static_cast<int>(minutes.count() / 60);
    civil.minute = static_cast<int>(minutes.count() % 60);
    civil.below_minute = *plain - day - minutes;
    const auto instants = local_instants(zone, civil);
    // An hour that the clocks show twice: nobody says which.
    if (!instants || instants->earlier != instants->later) return std::nullopt;
    return instants->earlier;
  };
}

Result<slurm::Accounting> read_accounting(const ReportOptions& options, UtcRange range) {
  if (options.accounting_file.empty()) return SlurmPrograms{options.place}.accounting(range);
  TW_TRY(const auto text, read_all(options.accounting_file));
  return slurm::parse_job_completions(text, local_clock(options.time_zone));
}

/// By job; the runs of a job that was requeued are its pieces.
std::vector<JobAccount> accounts_of(const slurm::Accounting& accounting, UtcRange range,
                                    const std::string& wanted) {
  std::map<std::uint64_t, JobAccount> by_id;
  for (const auto& run : accounting.runs) {
    if (!wanted.empty() && run.id != wanted) continue;
    if (wanted.empty() && run.submitted && (*run.submitted >= range.end || *run.submitted < range.begin))
      continue;
    auto& account = by_id[parse_uint64(run.id).value_or(0)];
    account.id = run.id;
    account.user = run.user;
    account.state = run.state;
    if (run.submitted && (!account.submitted || *run.submitted < *account.submitted))
      account.submitted = run.submitted;
    if (run.started && run.ended && *run.ended > *run.started)
      account.record.pieces.push_back({*run.started, run.ended});
    else if (run.started && !run.ended)
      account.record.pieces.push_back({*run.started, std::nullopt});
    if (run.slurm_joules) account.slurm_joules = account.slurm_joules.value_or(0) + *run.slurm_joules;
  }
  std::vector<JobAccount> out;
  for (auto& [id, account] : by_id) {
    std::ranges::sort(account.record.pieces, {}, &runner::Piece::begin);
    out.push_back(std::move(account));
  }
  return out;
}

/// Times as a trial's clock would have shown them.
void set_outcome(JobAccount& account, const std::optional<ReadSignal>& signal, const slurm::RealTime& time,
                 UtcTime now, std::string& failure) {
  if (!account.submitted || account.record.pieces.empty()) return;
  runner::Order order;
  order.submitted = time.shown(*account.submitted);
  runner::Record record = account.record;
  UtcTime last = order.submitted;
  for (auto& piece : record.pieces) {
    piece.begin = time.shown(piece.begin);
    if (piece.end) piece.end = time.shown(*piece.end);
    last = std::max(last, piece.end.value_or(time.shown(now)));
  }
  record.state = record.pieces.back().end ? runner::State::ended : runner::State::running;
  runner::Plan plan;
  if (signal) {
    auto slots = (*signal)(order.submitted, last + std::chrono::hours{1});
    if (slots)
      plan.signal = std::move(slots->slots);
    else
      failure = slots.error().to_string();
    std::ranges::sort(plan.signal, {}, &runner::SignalSlot::begin);
  }
  account.outcome = outcome_of(order, record, plan, last);
  account.outcome.ran = time.real(account.outcome.ran);
  account.outcome.waited = time.real(account.outcome.waited);
}

Status set_energy(JobAccount& account, const ReportOptions& options, UtcTime now) {
  if (account.record.pieces.empty()) return {};
  const auto hour = std::chrono::hours{1};
  const auto from = start_of(hour_of(account.record.pieces.front().begin));
  const auto to = start_of(hour_of(account.record.pieces.back().end.value_or(now))) + hour;
  auto path = fmt::format("/api/v1/tasks/{}/energy?from={}&to={}", encode_component("slurm/" + account.id),
                          format_rfc3339_short(from), format_rfc3339_short(to));
  if (!options.cluster.empty()) path += "&cluster=" + encode_component(options.cluster);
  TW_TRY(const auto answer, get_any(options.signal.access, path));
  constexpr int kOkStatus = 200, kUnknownTask = 404;
  if (answer.status == kUnknownTask) return {};  // no agent saw it
  if (answer.status != kOkStatus)
    return fail(ErrorCode::unavailable, fmt::format("the server answers {}", answer.status),
                "name a token that may read, with --token-file");
  const auto json = Json::parse(answer.body, nullptr, false);
  if (!json.is_object()) return fail(ErrorCode::corrupt, "the server's answer can't be read");
  if (const auto uj = json.find("energy_uj"); uj != json.end() && uj->is_string()) {
    account.energy_uj = uj->get<std::string>();
    if (const auto number = parse_double(*account.energy_uj)) account.energy_joules = *number / kMicrojoules;
  }
  if (const auto kg = json.find("carbon_kgco2e"); kg != json.end() && kg->is_number()) {
    account.carbon_grams = kg->get<double>() * kGramsPerKilogram;
    account.carbon_source = "server";
  }
  if (const auto share = json.find("coverage"); share != json.end() && share->is_number())
    account.coverage = share->get<double>();
  account.estimated = json.value("attribution", Json(nullptr)) == "shared_estimated";
  return {};
}

/// The server's carbon counts; without one it is energy times the signal's mean. At once = the same energy at
/// the mean of as long a time from the submission, at even power.
void set_carbon(JobAccount& account) {
  const auto& mean = account.outcome.mean_g_per_kwh;
  const auto& baseline = account.outcome.baseline_g_per_kwh;
  if (!account.energy_joules || !mean) return;
  if (!account.carbon_grams) {
    account.carbon_grams = *account.energy_joules / kJoulesPerKwh * *mean;
    account.carbon_source = "signal";
  }
  if (baseline && *mean > 0) account.run_now_grams = *account.carbon_grams * *baseline / *mean;
}

std::optional<double> saved(const JobAccount& account) {
  if (!account.carbon_grams || !account.run_now_grams) return std::nullopt;
  return *account.run_now_grams - *account.carbon_grams;
}

std::string receipt(const JobAccount& account) {
  tasks::JobReceipt receipt;
  if (account.energy_joules) receipt.energy = Joules{*account.energy_joules};
  if (account.carbon_grams) receipt.carbon = GramsCo2{*account.carbon_grams};
  if (account.run_now_grams) receipt.run_now = GramsCo2{*account.run_now_grams};
  receipt.coverage = account.coverage;
  receipt.estimated = account.estimated;
  return receipt_text(receipt);
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

bool ran_at_all(const JobAccount& account) { return account.submitted && !account.record.pieces.empty(); }

Json seconds_json(const JobAccount& account, Milliseconds length) {
  return ran_at_all(account) ? Json(static_cast<double>(length.count()) / 1000) : Json(nullptr);
}

Json account_json(const JobAccount& account) {
  return {{"job", account.id},
          {"task_id", "slurm/" + account.id},
          {"user", account.user},
          {"state", account.state},
          {"submitted", account.submitted ? Json(format_rfc3339_short(*account.submitted)) : Json(nullptr)},
          {"started", account.record.pieces.empty()
                          ? Json(nullptr)
                          : Json(format_rfc3339_short(account.record.pieces.front().begin))},
          {"waited_seconds", seconds_json(account, account.outcome.waited)},
          {"ran_seconds", seconds_json(account, account.outcome.ran)},
          {"energy_uj", account.energy_uj ? Json(*account.energy_uj) : Json(nullptr)},
          {"slurm_energy_joules", number_or_null(account.slurm_joules)},
          {"carbon_g", number_or_null(account.carbon_grams)},
          {"carbon_source", account.carbon_source.empty() ? Json(nullptr) : Json(account.carbon_source)},
          {"run_now_carbon_g", number_or_null(account.run_now_grams)},
          {"saved_g", number_or_null(saved(account))},
          {"mean_ci_g_per_kwh", number_or_null(account.outcome.mean_g_per_kwh)},
          {"run_now_ci_g_per_kwh", number_or_null(account.outcome.baseline_g_per_kwh)},
          {"receipt", receipt(account)}};
}

std::string length_cell(const JobAccount& account, Milliseconds length) {
  if (!ran_at_all(account)) return "—";
  const auto seconds = std::chrono::round<std::chrono::seconds>(length).count();
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string cell(const std::optional<double>& value, std::string_view unit) {
  return value ? fmt::format("{:.4g} {}", *value, unit) : "—";
}

void print_accounts(const std::vector<JobAccount>& accounts) {
  fmt::print("{:<10} {:<12} {:<12} {:>10} {:>10} {:>12} {:>12} {:>12}  receipt\n", "job", "user", "state",
             "waited", "ran", "energy", "carbon", "saved");
  for (const auto& one : accounts) {
    const auto kwh = one.energy_joules ? std::optional{*one.energy_joules / kJoulesPerKwh} : std::nullopt;
    fmt::print("{:<10} {:<12} {:<12} {:>10} {:>10} {:>12} {:>12} {:>12}  {}\n", one.id, one.user, one.state,
               length_cell(one, one.outcome.waited), length_cell(one, one.outcome.ran), cell(kwh, "kWh"),
               cell(one.carbon_grams, "g"), cell(saved(one), "g"), receipt(one));
  }
}

/// Both halves of a sum that is known in part.
Json totals_json(const std::vector<JobAccount>& accounts) {
  double energy_kwh = 0, carbon = 0, saving = 0;
  std::size_t no_energy = 0, no_carbon = 0, no_saving = 0;
  for (const auto& one : accounts) {
    one.energy_joules ? void(energy_kwh += *one.energy_joules / kJoulesPerKwh) : void(++no_energy);
    one.carbon_grams ? void(carbon += *one.carbon_grams) : void(++no_carbon);
    const auto gain = saved(one);
    gain ? void(saving += *gain) : void(++no_saving);
  }
  return {{"jobs", accounts.size()},          {"energy_kwh", energy_kwh},
          {"jobs_without_energy", no_energy}, {"carbon_g", carbon},
          {"jobs_without_carbon", no_carbon}, {"saved_g", saving},
          {"jobs_without_saving", no_saving}};
}

int report_jobs(const ReportOptions& options) {
  options.signal.check(false);
  if (!options.job.empty() && !parse_uint64(options.job)) usage_error("--job", "is a job's number");
  if (!has_time_zone(options.time_zone))
    usage_error("--time-zone", fmt::format("\"{}\" is no time zone like Europe/Berlin", options.time_zone));
  const auto now = os::SystemClock{}.utc_now();
  const UtcRange range{now - length_of("--range", options.range), now};
  const auto accounting = read_accounting(options, range);
  if (!accounting) return report("slurm report", accounting.error());
  auto accounts = accounts_of(*accounting, range, options.job);
  const auto signal = options.signal.history();
  const auto time = options.signal.time();
  std::string no_energy, no_signal;
  for (auto& account : accounts) {
    set_outcome(account, signal, time, now, no_signal);
    if (no_energy.empty())
      if (const auto read = set_energy(account, options, now); !read) no_energy = read.error().to_string();
    set_carbon(account);
  }
  if (!no_energy.empty()) fmt::print(stderr, "tidewatt slurm report: energy is unknown: {}\n", no_energy);
  if (!no_signal.empty()) fmt::print(stderr, "tidewatt slurm report: savings are unknown: {}\n", no_signal);
  if (accounting->unreadable > 0)
    fmt::print(stderr,
               "tidewatt slurm report: lines of the accounting that can't be read and are left out: {}\n",
               accounting->unreadable);
  const auto totals = totals_json(accounts);
  if (options.json) {
    auto list = Json::array();
    for (const auto& account : accounts) list.push_back(account_json(account));
    fmt::print(
        "{}\n",
        Json{{"jobs", std::move(list)}, {"totals", totals}, {"unreadable", accounting->unreadable}}.dump(
            2, ' ', false, Json::error_handler_t::replace));
    return kOk;
  }
  print_accounts(accounts);
  fmt::print("{} jobs: {:.4g} kWh ({} unknown), {:.4g} g ({} unknown), saved {:.4g} g ({} unknown)\n",
             accounts.size(), totals["energy_kwh"].get<double>(), totals["jobs_without_energy"].dump(),
             totals["carbon_g"].get<double>(), totals["jobs_without_carbon"].dump(),
             totals["saved_g"].get<double>(), totals["jobs_without_saving"].dump());
  return kOk;
}

}  // namespace

void add_slurm_report(CLI::App& group, int& exit_code) {
  auto* command =
      group.add_subcommand("report", "Energy, carbon, waiting and saving of each job, with its receipt");
  const auto options = std::make_shared<ReportOptions>();
  options->signal.add_options(*command);
  options->place.add_options(*command);
  command->add_option("--accounting-file", options->accounting_file,
                      "The text file of jobcomp/filetxt instead of sacct");
  command->add_option("--time-zone", options->time_zone, "Of the times in that file")->capture_default_str();
  command->add_option("--range", options->range, "Jobs submitted within so long")->capture_default_str();
  command->add_option("--job", options->job, "This job alone");
  command->add_option("--cluster", options->cluster, "Of the agents on the nodes (default: the server's)");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Example: tidewatt slurm report --zone DE --range 7d\n"
      "         tidewatt slurm report --accounting-file /var/log/slurm/jobcomp.log --zone DE --job 4711");
  command->callback([options, &exit_code] { exit_code = report_jobs(*options); });
}

}  // namespace tidewatt::cli
