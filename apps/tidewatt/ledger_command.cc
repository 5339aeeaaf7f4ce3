// tidewatt ledger replay: recorded beats through the ledger, offline.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "command.h"
#include "input.h"
#include "months_command.h"
#include "server_settings.h"
#include "tidewatt/ledger/integrate.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/units/text.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::cli {
namespace {

using ledger::Account;
using ledger::AccountKey;

struct Problem {
  std::size_t line = 0;
  std::string reason;
};

struct Replay {
  std::map<ledger::NodeKey, ledger::NodeCursor> cursors;
  std::map<AccountKey, Account> accounts;
  std::map<std::string, std::size_t, std::less<>> notes;
  std::vector<Problem> problems;  ///< the first ones
  std::size_t accepted = 0;
  std::size_t duplicate = 0;
  std::size_t rejected = 0;

  static constexpr std::size_t kShownProblems = 20;

  void reject(std::size_t line, std::string reason) {
    ++rejected;
    if (problems.size() < kShownProblems) problems.push_back({line, std::move(reason)});
  }

  void add(const ledger::AccountDelta& delta) {
    auto& account = accounts[delta.key];
    account.key = delta.key;
    account.totals += delta.total();
    if (delta.first_sample_at &&
        (!account.first_sample_at || *delta.first_sample_at < *account.first_sample_at))
      account.first_sample_at = delta.first_sample_at;
    if (delta.last_sample_at && (!account.last_sample_at || *delta.last_sample_at > *account.last_sample_at))
      account.last_sample_at = delta.last_sample_at;
  }

  void take(const wire::BeatParser::Line& line, std::size_t number, const ledger::Rules& rules) {
    auto& cursor = cursors[{line.beat.cluster, line.beat.node_id}];
    std::optional<ledger::Receipt> receipt;
    if (line.received_at) receipt = ledger::Receipt{*line.received_at, std::nullopt, ""};
    auto booking = ledger::book(cursor, line.beat, receipt, {}, rules);
    switch (booking.verdict) {
      case ledger::Verdict::duplicate:
        ++duplicate;
        return;
      case ledger::Verdict::rejected:
        reject(number, std::move(booking.reason));
        return;
      case ledger::Verdict::accepted:
        break;
    }
    ++accepted;
    cursor = std::move(booking.next);
    for (const auto& delta : booking.deltas) add(delta);
    for (const auto note : booking.notes) ++notes[std::string(to_string(note))];
  }
};

std::string seconds(Milliseconds ms) { return format_double(static_cast<double>(ms.count()) / kPerKilo); }

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (byte < 0x20) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string account_json(const Account& a) {
  const auto& t = a.totals;
  std::string out = fmt::format(
      R"({{"scope":{},"id":{},"cluster":{},"domain":{},"energy_wh":{},"energy_uj":{},"shared_energy_uj":{},)",
      json_string(to_string(a.key.scope)), json_string(a.key.id), json_string(a.key.cluster),
      json_string(a.key.domain), format_double(t.energy.to_watt_hours().value()), t.energy.to_string(),
      t.shared.to_string());
  if (a.key.scope == ledger::Scope::node)
    out += fmt::format(R"("unattributed_uj":{},)", t.unattributed.to_string());
  out += fmt::format(
      R"("simulated_uj":{},"covered_seconds":{},"gap_seconds":{},"partial_seconds":{},"shared_seconds":{},)",
      t.simulated.to_string(), seconds(t.covered), seconds(t.gap), seconds(t.partial),
      seconds(t.shared_time));
  out += fmt::format(R"("sample_count":{},"attribution":{},"method":{{"counter_uj":{},"integrated_uj":{}}},)",
                     t.samples, json_string(ledger::attribution_of(t)), t.counter.to_string(),
                     (t.energy - t.counter).to_string());
  return out + fmt::format(R"("first_sample_at":{},"last_sample_at":{}}})",
                           a.first_sample_at ? json_string(format_rfc3339(*a.first_sample_at)) : "null",
                           a.last_sample_at ? json_string(format_rfc3339(*a.last_sample_at)) : "null");
}

void print_json(const Replay& replay) {
  std::string out = "{\"accounts\":[";
  bool first = true;
  for (const auto& [key, account] : replay.accounts) {
    if (key.scope == ledger::Scope::task_device) continue;
    if (!first) out += ",\n ";
    first = false;
    out += account_json(account);
  }
  out += fmt::format("],\n \"beats\":{{\"accepted\":{},\"duplicate\":{},\"rejected\":{}}},\n \"notes\":{{",
                     replay.accepted, replay.duplicate, replay.rejected);
  first = true;
  for (const auto& [note, count] : replay.notes) {
    out += fmt::format("{}{}:{}", first ? "" : ",", json_string(note), count);
    first = false;
  }
  out += "},\n \"problems\":[";
  for (const auto& problem : replay.problems)
    out += fmt::format("{}{{\"line\":{},\"reason\":{}}}", &problem == &replay.problems.front() ? "" : ",",
                       problem.line, json_string(problem.reason));
  out += "]}\n";
  std::fwrite(out.data(), 1, out.size(), stdout);
}

void print_table(const Replay& replay, const std::string& file) {
  fmt::print("{:<7} {:<28} {:<12} {:>16} {:>9} {:>12} {:>12} {:>10}  {}\n", "scope", "id", "domain",
             "energy Wh", "coverage", "gap s", "partial s", "samples", "attribution");
  for (const auto& [key, a] : replay.accounts) {
    if (key.scope == ledger::Scope::task_device) continue;
    const bool measured = a.totals.covered > Milliseconds{0};
    fmt::print("{:<7} {:<28} {:<12} {:>16} {:>9} {:>12} {:>12} {:>10}  {}\n", to_string(key.scope), key.id,
               key.domain, measured ? fmt::format("{:.6g}", a.totals.energy.to_watt_hours().value()) : "—",
               ledger::coverage_text(a.totals.covered, a.totals.gap, a.totals.partial), seconds(a.totals.gap),
               seconds(a.totals.partial), a.totals.samples,
               key.scope == ledger::Scope::task ? ledger::attribution_of(a.totals) : "");
  }
  fmt::print("beats: {} accepted, {} duplicate, {} rejected\n", replay.accepted, replay.duplicate,
             replay.rejected);
  for (const auto& problem : replay.problems)
    fmt::print(stderr, "{}:{}: {}\n", file, problem.line, problem.reason);
}

struct ReplayOptions {
  std::string file;
  std::string config_file;
  std::optional<double> max_gap_seconds;
  bool json = false;
};

/// The rules that a server with this file and environment books by.
ledger::Rules rules_of(const ReplayOptions& options) {
  std::vector<Flag> flags;
  if (options.max_gap_seconds)
    flags.push_back({"energy.max_gap_seconds", fmt::format("{}", *options.max_gap_seconds)});
  const auto loaded = load_server_settings(options.config_file, flags, *os::make_file_system());
  for (const auto& problem : loaded.problems)
    usage_error(options.max_gap_seconds ? "--max-gap" : "--config", problem);
  return ledger::Rules{loaded.arguments.api.max_gap};
}

int run_replay(const ReplayOptions& options) {
  const auto rules = rules_of(options);
  Replay replay;
  wire::BeatParser parser;
  const auto done = for_each_line(options.file, [&](std::string_view text, std::size_t number) -> Status {
    if (trim(text).empty()) return {};
    const auto line = parser.parse_line(text);
    if (!line) {
      // What follows "no JSON" is the parser's lecture, the same for every line.
      const auto reason = line.error().to_string();
      replay.reject(number, reason.starts_with("no JSON:") ? "no JSON" : reason);
    } else {
      replay.take(*line, number, rules);
    }
    return {};
  });
  if (!done) return report("ledger replay", done.error());
  if (options.json) {
    print_json(replay);
  } else {
    print_table(replay, options.file);
  }
  if (replay.accepted == 0 && replay.rejected > 0)
    return report("ledger replay",
                  {ErrorCode::invalid_input,
                   fmt::format("{}: no beat was accepted, {} rejected", options.file, replay.rejected),
                   "one beat a line, as JSON"});
  return kOk;
}

}  // namespace

void add_ledger_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("ledger", "Check, seal and export a ledger; run beats through one");
  group->require_subcommand(1);
  group->footer("Example: tidewatt ledger verify --db /var/lib/tidewatt/tidewatt.db");
  auto* replay =
      group->add_subcommand("replay", "Book the beats of a file, one JSON a line, and print the accounts");
  const auto options = std::make_shared<ReplayOptions>();
  replay
      ->add_option("FILE", options->file,
                   "Beats, or {\"received_at\":..,\"beat\":{..}}; - reads standard input")
      ->required();
  replay->add_option("--max-gap", options->max_gap_seconds,
                     "Longest interval that counts in full, in seconds (default 60)");
  replay->add_option("--config", options->config_file, "A server's settings file: its ledger rules hold");
  replay->add_flag("--json", options->json, "Print JSON");
  replay->footer(
      "Example: tidewatt ledger replay beats.jsonl --json | jq '.accounts[] | select(.scope==\"node\")'");
  replay->callback([options, &exit_code] { exit_code = run_replay(*options); });
  add_months_commands(*group, exit_code);
}

}  // namespace tidewatt::cli
