// tidewatt plan FILE.json: when and where the jobs of a plan file run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command.h"
#include "input.h"
#include "local_time.h"
#include "tidewatt/planning/plan_file.h"
#include "tidewatt/planning/planner.h"
#include "tidewatt/solver/cbc.h"

namespace tidewatt::cli {
namespace {

constexpr double kGramsPerKilogram = 1000;

struct PlanOptions {
  std::string file;
  bool json = false;
};

/// The folder of a file, with its last '/'; empty for the current one.
std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string{} : path.substr(0, slash + 1);
}

Result<planning::Problem> read_plan(const std::string& path) {
  // One byte more than a plan may have: what is larger is the plan reader's to refuse, in its own words.
  auto text = read_all(path, planning::Limits::kFileBytes);
  if (!text && text.error().message.find("larger than") != std::string::npos)
    return fail(ErrorCode::invalid_input,
                fmt::format("too_large: $: the file is larger than {} MiB and at most {} jobs",
                            planning::Limits::kFileBytes >> 20U, planning::Limits::kJobs));
  if (!text) return tl::unexpected(text.error());
  planning::PlanSurroundings surroundings;
  surroundings.read_csv = [folder = folder_of(path)](const std::string& name) {
    return read_all(folder + name);
  };
  surroundings.has_zone = has_time_zone;
  surroundings.local = local_instants;
  return planning::parse_plan(*text, surroundings);
}

std::string kilograms(double grams) { return fmt::format("{:.3f}", grams / kGramsPerKilogram); }
std::string kilograms(const std::optional<double>& grams) { return grams ? kilograms(*grams) : "—"; }
std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f} %", *value) : "—";
}

std::string when(const planning::Problem& problem, planning::Minute at) {
  auto text = format_rfc3339_short(problem.start + std::chrono::minutes{at});
  return text.size() == 20 && text.ends_with(":00Z") ? text.substr(0, 16) + "Z" : text;
}

void print_job(const planning::Problem& problem, const planning::Job& job,
               const planning::JobAnswer& answer) {
  std::string note = answer.reason ? *answer.reason : "";
  if (answer.late_minutes > 0) note += fmt::format(", {} min late", answer.late_minutes);
  if (note.empty())
    note = answer.binding == "none" ? fmt::format("{} slots looked at", answer.considered)
                                    : "bound by " + answer.binding;
  fmt::print("{:<20} {:>12} {:>12} {:>8}  {}\n", job.id, kilograms(answer.carbon_g),
             kilograms(answer.savings_g), percent(answer.savings_percent), note);
  for (const auto& piece : answer.segments)
    fmt::print("  {} to {}  {}  {} kW{}\n", when(problem, piece.begin), when(problem, piece.end),
               problem.sites[static_cast<std::size_t>(piece.site)].id, piece.kw,
               piece.replicas > 1 ? fmt::format(", {} replicas", piece.replicas) : "");
  for (const auto& text : answer.notes) fmt::print("  note: {}\n", text);
}

void print_table(const planning::Problem& problem, const planning::Answer& answer) {
  fmt::print("{:<20} {:>12} {:>12} {:>8}  {}\n", "job", "kgCO2e", "saved kg", "saved", "why");
  for (std::size_t i = 0; i < answer.jobs.size(); ++i) print_job(problem, problem.jobs[i], answer.jobs[i]);
  for (const auto& site : answer.sites)
    fmt::print("{:<20} {:>12} {:>12} {:>8}  pump, {} starts\n",
               problem.sites[static_cast<std::size_t>(site.site)].id, kilograms(site.pump_carbon_g), "", "",
               site.starts);
  const double baseline = answer.baseline_capped_carbon_g.value_or(answer.baseline_carbon_g);
  const auto saved =
      baseline > 0 ? std::optional{100 * (baseline - answer.carbon_g) / baseline} : std::nullopt;
  fmt::print("{:<20} {:>12} {:>12} {:>8}  against {} at once{}\n", "total", kilograms(answer.carbon_g),
             kilograms(baseline - answer.carbon_g), percent(saved), kilograms(baseline),
             answer.baseline_capped_carbon_g ? " under the same caps" : "");
  if (answer.lower_bound_g)
    fmt::print("No plan emits less than {} kg: this one is at most {:.3f} % above the best.\n",
               kilograms(*answer.lower_bound_g),
               *answer.lower_bound_g > 0 ? 100 * (answer.carbon_g / *answer.lower_bound_g - 1) : 0.0);
  else
    fmt::print("No lower bound is known for this plan.\n");
  fmt::print("Policy {}, signal {}.\n", planning::to_string(problem.policy), answer.quality);
  for (const auto& [team, grams] : answer.over_budget)
    fmt::print("Team {} is {} kg over its budget.\n", team, kilograms(grams));
}

int run(const PlanOptions& options) {
  const auto problem = read_plan(options.file);
  if (!problem) return report("plan", problem.error());
  const auto solver = solver::make_cbc_solver();
  const auto answer = planning::plan(*problem, solver.get());
  if (options.json)
    fmt::print("{}\n", planning::to_json(*problem, answer));
  else
    print_table(*problem, answer);
  return kOk;
}

}  // namespace

void add_plan_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "plan", "When and where jobs run to emit least: a plan for a file of jobs, sites and signals");
  const auto options = std::make_shared<PlanOptions>();
  command->add_option("FILE", options->file, "The plan file (schema tidewatt-plan/1); - reads standard input")
      ->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Example: tidewatt plan jobs.json --json\nThe file and its answer: docs/method/planning.md");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace tidewatt::cli
