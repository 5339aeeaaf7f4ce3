// tidewatt aif run|bench|explain: the inference engine on model files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "aif_bench.h"
#include "command.h"
#include "input.h"
#include "tidewatt/continuum/record.h"
#include "tidewatt/model_file/record.h"
#include "tidewatt/model_file/run_file.h"

namespace tidewatt::cli {
namespace {

struct AifOptions {
  std::string file;
  std::string mode = "exact";
  std::size_t steps = 256;
  std::size_t agents = 0;
  bool json = false;
  bool records = false;
  std::string model;

  [[nodiscard]] inference::Mode chosen_mode() const {
    return mode == "compat" ? inference::Mode::compat : inference::Mode::exact;
  }
};

int run(const AifOptions& options) {
  const auto text = read_all(options.file);
  if (!text) return report("aif run", text.error());
  if (model_file::is_unit_file(*text)) {
    const auto answer = model_file::unit_report(*text);
    if (!answer) return report("aif run", answer.error().with_context(options.file));
    fmt::print("{}\n", *answer);
    return kOk;
  }
  const auto file = model_file::read_run(*text, options.chosen_mode());
  if (!file) return report("aif run", file.error().with_context(options.file));
  if (options.records) {
    for (const auto& record : model_file::decision_records(*file, options.file, *text))
      fmt::print("{}\n", record);
    return kOk;
  }
  fmt::print("{}\n", model_file::run_report(*file));
  return kOk;
}

/// A decision of the service agent: its journal is what it is replayed from.
int explain_service_decision(const AifOptions& options, const std::string& record) {
  const auto name = continuum::journal_of(record);
  if (!name) return report("aif explain", name.error().with_context(options.file));
  const auto journal = read_all(options.model.empty() ? *name : options.model);
  if (!journal) return report("aif explain", journal.error());
  const auto words = continuum::explain(record, *journal);
  if (!words) return report("aif explain", words.error().with_context(options.file));
  fmt::print("{}", *words);
  return kOk;
}

int explain(const AifOptions& options) {
  const auto record = read_all(options.file);
  if (!record) return report("aif explain", record.error());
  if (continuum::is_decision(*record)) return explain_service_decision(options, *record);
  const auto head = model_file::read_record_head(*record);
  if (!head) return report("aif explain", head.error().with_context(options.file));
  const auto model = read_all(options.model.empty() ? head->model_name : options.model);
  if (!model) return report("aif explain", model.error());
  const auto words = model_file::explain_record(*record, *model);
  if (!words) return report("aif explain", words.error().with_context(options.file));
  fmt::print("{}", *words);
  return kOk;
}

int bench(const AifOptions& options) {
  const auto text = read_all(options.file);
  if (!text) return report("aif bench", text.error());
  const auto file = model_file::read_bench(*text, options.chosen_mode());
  if (!file) return report("aif bench", file.error().with_context(options.file));
  const auto timing = time_agent(*file, options.steps);
  nlohmann::json answer{{"cpu_us_per_step_min", timing.least_us},
                        {"cpu_us_per_step_median", timing.median_us},
                        {"g_sum", timing.g_sum},
                        {"heap_allocations_per_step", nullptr}};
  if (timing.allocations_per_step) answer["heap_allocations_per_step"] = *timing.allocations_per_step;
  if (options.agents > 0) {
    constexpr std::size_t kRounds = 10;
    answer["fleet"] = {{"agents", options.agents},
                       {"cpu_us_per_decision", time_fleet(*file, options.agents, kRounds)}};
  }
  if (options.json) {
    fmt::print("{}\n", answer.dump());
    return kOk;
  }
  fmt::print("CPU per step: {:.3f} us at least, {:.3f} us median; G over all policies {} first, {} last\n",
             timing.least_us, timing.median_us, timing.g_sum[0], timing.g_sum[1]);
  if (timing.allocations_per_step)
    fmt::print("heap allocations per step: {}\n", *timing.allocations_per_step);
  if (options.agents > 0)
    fmt::print("{} agents in turn: {:.3f} us per decision\n", options.agents,
               answer["fleet"]["cpu_us_per_decision"].get<double>());
  return kOk;
}

}  // namespace

void add_aif_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("aif", "Active inference: run a model, time it, explain a decision");
  group->require_subcommand(1);
  const auto options = std::make_shared<AifOptions>();

  auto* runs = group->add_subcommand("run", "Run a model file's episodes");
  runs->add_option("FILE", options->file, "The model file; - reads standard input")->required();
  runs->add_option("--mode", options->mode, "exact, or compat: the arithmetic of the open reference")
      ->check(CLI::IsMember({"exact", "compat"}));
  runs->add_flag("--json", options->json, "Print JSON");
  runs->add_flag("--records", options->records, "Print one audit record per decision instead");
  runs->footer(
      "Example: tidewatt aif run model.json --mode exact --json\nFormat: docs/method/active-inference.md");
  runs->callback([options, &exit_code] { exit_code = run(*options); });

  auto* times = group->add_subcommand("bench", "CPU per step of a model: infer states and policies, choose");
  const auto timed = std::make_shared<AifOptions>();
  timed->mode = "compat";
  times->add_option("FILE", timed->file, "The model with observations; - reads standard input")->required();
  times->add_option("--steps", timed->steps, "Steps to take")->check(CLI::Range(1, 10'000'000));
  times->add_option("--agents", timed->agents, "Time a fleet of that many agents, too")
      ->check(CLI::Range(0, 100'000));
  times->add_option("--mode", timed->mode, "exact or compat")->check(CLI::IsMember({"exact", "compat"}));
  times->add_flag("--json", timed->json, "Print JSON");
  times->footer("Example: tidewatt aif bench service.json --steps 1000 --json");
  times->callback([timed, &exit_code] { exit_code = bench(*timed); });

  auto* explains = group->add_subcommand("explain", "Replay a decision from its audit record and say why");
  const auto explained = std::make_shared<AifOptions>();
  explains
      ->add_option("RECORD", explained->file,
                   "One record, as `aif run --records` prints them, or a line of a `continuum` journal; - "
                   "reads standard "
                   "input")
      ->required();
  explains->add_option("--model", explained->model,
                       "The model file or journal, where it is no longer where the record says");
  explains->footer("Example: tidewatt aif run model.json --records | sed -n 3p | tidewatt aif explain -");
  explains->callback([explained, &exit_code] { exit_code = explain(*explained); });
}

}  // namespace tidewatt::cli
