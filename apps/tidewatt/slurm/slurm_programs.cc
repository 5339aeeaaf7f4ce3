#include "slurm_programs.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tidewatt/os/posix.h"
#include "tidewatt/units/printable.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

constexpr Milliseconds kPatience{30'000};
constexpr std::size_t kMostSaid = 200;

}  // namespace

void SlurmPlace::add_options(CLI::App& command) {
  command.add_option("--slurm-bin", programs,
                     "Folder of squeue, scontrol and sacct (default: the usual ones)");
  command.add_option("--slurm-conf", config, "Slurm's configuration (default: Slurm's own)");
}

SlurmPrograms::SlurmPrograms(SlurmPlace place)
    : place_(std::move(place)), runner_(os::make_process_runner()), rng_(std::make_unique<os::SecureRng>()) {}

std::string SlurmPrograms::new_mark() { return os::random_hex_256(*rng_).substr(0, 16); }

Result<std::string> SlurmPrograms::run(const std::string& program, std::vector<std::string> arguments) {
  // The runner starts tools in an environment of its own; env hands on the two variables that matter.
  std::vector<std::string> argv{"/usr/bin/env", "SLURM_TIME_FORMAT=%s"};
  if (!place_.config.empty()) argv.push_back("SLURM_CONF=" + place_.config);
  argv.push_back(place_.programs.empty() ? program : place_.programs + "/" + program);
  std::ranges::move(arguments, std::back_inserter(argv));
  auto output = runner_->run(argv, kPatience);
  if (!output) return tl::unexpected(output.error().with_context(program));
  if (output->exit_code == 0) return std::move(output->out);
  const auto said = trim(output->err);
  return fail(output->exit_code == 127 ? ErrorCode::not_found : ErrorCode::unavailable,
              fmt::format("{} ended with {}: {}", program, output->exit_code,
                          printable(said.substr(0, said.find('\n')), kMostSaid)),
              output->exit_code == 127
                  ? "install Slurm's client programs, or name their folder with --slurm-bin"
                  : "is slurmctld reachable, and may this user do it?");
}

Result<slurm::Queue> SlurmPrograms::queue() {
  const auto mark = new_mark();
  TW_TRY(const auto text, run("squeue", {"--noheader", "--all", "--states=PENDING,RUNNING",
                                         "--Format=" + slurm::queue_format(mark)}));
  return slurm::parse_queue(text, mark);
}

Status SlurmPrograms::carry_out(const slurm::Action& action, Milliseconds after) {
  const auto done = [&](std::vector<std::string> arguments) -> Status {
    return run("scontrol", std::move(arguments)).map([](const auto&) {});
  };
  switch (action.act) {
    case slurm::Act::set_begin: {
      const auto seconds = std::max<std::int64_t>(0, std::chrono::floor<std::chrono::seconds>(after).count());
      // Down, so that no deadline is missed by the rounding. Relative, since an absolute time would be local
      // time without a zone.
      return done({"update", "JobId=" + action.job, fmt::format("StartTime=now+{}", seconds)});
    }
    case slurm::Act::requeue_hold:
      return done({"requeuehold", action.job});
    case slurm::Act::release:
      break;
  }
  return done({"release", action.job});
}

Result<slurm::Accounting> SlurmPrograms::accounting(UtcRange range) {
  const auto mark = new_mark();
  // sacct takes times as local dates, or relative to now.
  const auto now = os::SystemClock{}.utc_now();
  const auto ago = [&](UtcTime at) {
    return fmt::format("now-{}seconds",
                       std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::seconds>(now - at).count()));
  };
  TW_TRY(const auto text,
         run("sacct", {"--allusers", "--allocations", "--duplicates", "--noheader", "--parsable",
                       "--delimiter=" + slurm::separator_of(mark), "--format=" + slurm::sacct_format(),
                       "--starttime=" + ago(range.begin), "--endtime=" + ago(range.end)}));
  return slurm::parse_sacct(text, mark);
}

}  // namespace tidewatt::cli
