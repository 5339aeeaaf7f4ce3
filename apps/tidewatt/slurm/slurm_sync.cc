// tidewatt slurm sync: keeps the table that the job_submit hook reads.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../command.h"
#include "../input.h"
#include "slurm_clock.h"
#include "slurm_commands.h"
#include "tidewatt/os/posix.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr Milliseconds kAhead = std::chrono::hours{96};
constexpr Milliseconds kLongestValid = std::chrono::hours{24};

struct SyncOptions {
  SlurmSignal signal;
  std::string table = std::string(kSlurmFolder) + "/windows.table";
  std::string every = "5m";
  std::string valid = "30m";
  std::vector<std::string> qos;
  bool once = false;
  bool json = false;
};

/// Replaces the file in one step; slurmctld's user reads it, so that it is readable by all. It holds no
/// secret.
Status write_table(const std::string& path, const std::string& text) {
  const auto failed = [&](const char* what) {
    return fail(ErrorCode::io, fmt::format("{}: can't {}: {}", path, what, std::strerror(errno)),
                "name a file in a folder that this user may write to, with --table");
  };
  const auto fresh = path + ".new";
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  constexpr int kReadableByAll = 0644;
  const int file =
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, kReadableByAll);
  if (file < 0) return failed("be written");
  const bool whole = ::fchmod(file, kReadableByAll) == 0 &&
                     ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                     ::fsync(file) == 0;
  const bool closed = ::close(file) == 0;
  if (!whole || !closed || ::rename(fresh.c_str(), path.c_str()) != 0) return failed("be written");
  return {};
}

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json table_json(const slurm::Table& table, const std::string& path) {
  auto windows = Json::array();
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < std::size(slurm::kWaiting); ++i) {
      const auto& begin = row.begins[i];
      windows.push_back({{"tolerance", to_string(slurm::kWaiting[i])},
                         {"length_seconds", static_cast<double>(row.length.count()) / 1000},
                         {"begin", begin.at ? Json(format_rfc3339_short(*begin.at)) : Json(nullptr)},
                         {"ci_g_per_kwh", optional_number(begin.g_per_kwh)},
                         {"ci_now_g_per_kwh", optional_number(begin.now_g_per_kwh)}});
    }
  return {{"table", path},
          {"made", format_rfc3339_short(table.made)},
          {"expires", format_rfc3339_short(table.expires)},
          {"windows", std::move(windows)}};
}

std::string grams_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", *value) : "—";
}

void print_table(const slurm::Table& table) {
  fmt::print("{:>8} {:<8} {:<21} {:>10} {:>10}   gCO2/kWh\n", "length", "may wait", "begin", "then",
             "at once");
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < std::size(slurm::kWaiting); ++i) {
      const auto& begin = row.begins[i];
      fmt::print("{:>6}m  {:<8} {:<21} {:>10} {:>10}\n",
                 std::chrono::floor<std::chrono::minutes>(row.length).count(), to_string(slurm::kWaiting[i]),
                 begin.at ? format_rfc3339_short(*begin.at) : "at once", grams_text(begin.g_per_kwh),
                 grams_text(begin.now_g_per_kwh));
    }
}

Result<slurm::Table> sync_once(const SyncOptions& options, const slurm::RealTime& time, Milliseconds valid) {
  const auto now = time.shown(os::SystemClock{}.utc_now());
  TW_TRY(const auto signal, options.signal.forecast()(now, now + kAhead));
  const auto& slots = signal.slots;
  const bool known_now = std::ranges::any_of(
      slots, [&](const runner::SignalSlot& slot) { return slot.begin <= now && now < slot.end; });
  if (!known_now)
    return fail(ErrorCode::unavailable, "no carbon intensity is known for now",
                "the table stays as it is and expires by itself; look at the zone with tidewatt carbon");
  auto table = slurm::make_table(slots, now,
                                 Milliseconds{std::llround(static_cast<double>(valid.count()) * time.speed)});
  for (const auto& text : options.qos) table.qos.push_back(*slurm::qos_from(text));
  TW_TRY_STATUS(write_table(options.table, to_text(table, time)));
  return table;
}

int sync(const SyncOptions& options) {
  options.signal.check(true);
  const auto every = length_of("--every", options.every);
  const auto valid = length_of("--valid", options.valid);
  if (valid <= every || valid > kLongestValid)
    usage_error("--valid", "must be longer than --every and a day at most");
  for (const auto& text : options.qos)
    if (!slurm::qos_from(text)) usage_error("--qos", fmt::format("\"{}\" is nothing like low=daily", text));
  const auto time = options.signal.time();
  std::string last_failure;
  while (!stop_asked()) {
    const auto table = sync_once(options, time, valid);
    if (!table && options.once) return report("slurm sync", table.error());
    // What fails every time is said once.
    const auto failure = table ? std::string{} : table.error().to_string();
    if (failure != last_failure)
      fmt::print(stderr, "tidewatt slurm sync: {}\n",
                 table ? "well again" : failure + "; jobs start at once when the table has expired");
    last_failure = failure;
    if (table && options.json) {
      fmt::print("{}\n", table_json(*table, options.table).dump(options.once ? 2 : -1));
      std::fflush(stdout);
    } else if (table && options.once) {
      print_table(*table);
    }
    if (options.once) break;
    sleep_until_stopped(every);
  }
  return kOk;
}

}  // namespace

void add_slurm_sync(CLI::App& group, int& exit_code) {
  auto* command =
      group.add_subcommand("sync", "Keep the table of clean windows that the job_submit hook reads");
  const auto options = std::make_shared<SyncOptions>();
  options->signal.add_options(*command);
  command->add_option("--table", options->table, "The file, on a local disk of slurmctld's host")
      ->capture_default_str();
  command->add_option("--every", options->every, "How often it is made anew")->capture_default_str();
  command->add_option("--valid", options->valid, "How long the hook believes it")->capture_default_str();
  command->add_option("--qos", options->qos, "Batch jobs of this QOS may wait without saying so: low=daily");
  command->add_flag("--once", options->once, "Write it once, and show it");
  command->add_flag("--json", options->json, "Print each table as JSON");
  command->footer(
      "Example: tidewatt slurm sync --zone DE\n"
      "         tidewatt slurm sync --signal de.csv --qos low=daily --once");
  command->callback([options, &exit_code] { exit_code = sync(*options); });
}

}  // namespace tidewatt::cli
