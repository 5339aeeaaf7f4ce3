// tidewatt report: a period's energy, carbon and money; from a server, or from a ledger's file without one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "input.h"
#include "ledger_place.h"
#include "server_settings.h"
#include "tidewatt/emma/emma.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/reports/gather.h"
#include "tidewatt/reports/text.h"

namespace tidewatt::cli {
namespace {

struct ReportOptions {
  LedgerPlace place;
  std::string period;
  std::string scope;
  std::string team;
  std::string id;
  std::string cluster;
  std::string format = "md";
  std::string language = "en";
  std::string out;
  std::string config;
  bool simulated = false;
};

/// The registry and the seals of a ledger that is read without a server.
class Registry final : public ledger::ImageSink {
 public:
  using ImageSink::add;
  Status add(const ledger::Seal& seal) override {
    seals.push_back(seal);
    return {};
  }
  Status add(const ledger::NodeImage& node) override {
    if (node.info) nodes.push_back(node.info);
    return {};
  }
  Status add(const ledger::TaskInfo& task) override {
    tasks.push_back(task);
    return {};
  }
  std::vector<ledger::Seal> seals;
  std::vector<ledger::SharedNode> nodes;
  Status add(const ledger::TokenHour& hour) override {
    tokens.push_back(hour);
    return {};
  }
  std::vector<ledger::TaskInfo> tasks;
  std::vector<ledger::TokenHour> tokens;
};

/// Nobody is asked for intensities here: only what the server kept on disk counts.
class NoClient final : public net::HttpClient {
 public:
  Result<net::Response> send(const net::ClientRequest&) override {
    return fail(ErrorCode::unavailable, "reports ask no provider");
  }
  Result<net::Response> stream(const net::ClientRequest& request, const net::Streaming&) override {
    return send(request);
  }
};

Result<ServerArguments> settings_of(const std::string& config, FileSystem& files) {
  auto loaded = load_server_settings(config, {}, files);
  if (!loaded.problems.empty())
    return fail(ErrorCode::invalid_input, loaded.problems.front(), "see tidewatt server --check-config");
  return std::move(loaded.arguments);
}

Result<std::string> local_report(const ReportOptions& options, const reports::Period& period) {
  const auto files = os::make_file_system();
  TW_TRY(auto arguments, settings_of(options.config, *files));
  TW_TRY(const auto source, options.place.open_image());
  Registry registry;
  ledger::ImageParts parts;
  parts.registry = parts.nodes = parts.seals = true;
  TW_TRY_STATUS(source->read_image(parts, registry));
  reports::Policy policy = std::move(arguments.api.accounting);
  policy.factor = arguments.api.factor.factor;
  policy.with_simulated = options.simulated;
  reports::Question question;
  question.window = period.window();
  question.scope = *reports::scope_from(options.scope);
  question.id = options.id;
  question.cluster = options.cluster;
  question.with_simulated = options.simulated;
  question.tokens = &registry.tokens;
  question.with_whole = policy.contracted_kwh_per_month || !policy.supply_kwh.hours.empty();
  TW_TRY(const auto booked,
         reports::gather(*source, question, registry.tasks, registry.nodes, registry.seals));
  if (!arguments.carbon.zones.empty()) {
    arguments.carbon.cache_folder = arguments.data_folder + "/carbon";
    const os::SystemClock clock;
    const emma::HttpFactory nobody = [] { return std::make_unique<NoClient>(); };
    const emma::Emma kept{arguments.carbon, nobody, *files, clock};
    policy.zones = reports::zones_of(kept, question.window, registry.seals);
    if (const auto window = reports::moved_window(booked))
      policy.moved_zones = reports::zones_of(kept, *window, registry.seals);
  }
  // Whoever may read the ledger's file is its operator.
  TW_TRY(auto report,
         reports::make_report(booked, policy,
                              carbon::carbon_view(policy.factor, carbon::Viewer::platform_operator)));
  report.period = period.text;
  return reports::to_text(report, *reports::format_from(options.format),
                          *reports::language_from(options.language));
}

Result<std::string> server_report(const ReportOptions& options) {
  std::string query =
      fmt::format("/api/v1/reports/{}?scope={}&format={}&lang={}", encode_component(options.period),
                  options.scope, options.format, options.language);
  if (!options.id.empty()) query += "&id=" + encode_component(options.id);
  if (!options.cluster.empty()) query += "&cluster=" + encode_component(options.cluster);
  if (options.simulated) query += "&simulated=include";
  return get(options.place.access, query);
}

int run(const ReportOptions& options, const reports::Period& period) {
  const auto text = options.place.is_local() ? local_report(options, period) : server_report(options);
  if (!text) return report("report", text.error());
  if (options.out.empty()) {
    std::fwrite(text->data(), 1, text->size(), stdout);
    if (!text->ends_with('\n')) std::fputc('\n', stdout);
    return kOk;
  }
  if (const auto written = os::make_file_system()->write_atomically(options.out, *text); !written)
    return report("report", written.error());
  return kOk;
}

/// Refuses what the server would: a wrong flag is a usage error, named as it is on the command line.
reports::Period check(ReportOptions& options) {
  const auto period = reports::parse_period(options.period);
  if (!period)
    usage_error("--period",
                fmt::format("\"{}\" is no period: give one like 2026-11, 2026-Q4 or 2026", options.period));
  if (!options.team.empty()) {
    if (!options.id.empty() || (!options.scope.empty() && options.scope != "team"))
      usage_error("--team", "is --scope team --id TEAM: leave the others out");
    options.scope = "team";
    options.id = options.team;
  }
  if (options.scope.empty()) options.scope = "cluster";
  if (!options.config.empty() && !options.place.is_local())
    usage_error("--config", "is for reports without a server: give --db or --store, too");
  return *period;
}

}  // namespace

void add_report_command(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("report", "Energy, carbon by two methods and money of a month, quarter or year");
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("--period", options->period, "2026-11, 2026-Q4 or 2026, in UTC")->required();
  command
      ->add_option("--scope", options->scope,
                   "A line for each cluster, node, team, task_group or task (default: cluster)")
      ->check(CLI::IsMember({"cluster", "node", "team", "task_group", "task"}));
  command->add_option("--team", options->team, "One team alone");
  command->add_option("--id", options->id, "One of the scope alone");
  command->add_option("--cluster", options->cluster, "One cluster alone");
  command->add_option("--format", options->format, "md, html (prints on A4), csv or json")
      ->check(CLI::IsMember({"md", "html", "csv", "json"}))
      ->capture_default_str();
  command->add_option("--lang", options->language, "Language of md and html: en or zh")
      ->capture_default_str()
      ->check(CLI::IsMember({"en", "zh"}));
  command->add_option("--out", options->out, "Write to this file instead of standard output");
  command->add_flag("--with-simulated", options->simulated,
                    "Count simulated energy; the report says so on its head");
  command->add_option("--config", options->config,
                      "With --db or --store: the server's settings file, for factor, tariff and zones");
  options->place.add_options(*command, true);
  command->footer(
      "Examples:\n"
      "  tidewatt report --period 2026-11 --scope team\n"
      "  tidewatt report --period 2026-Q4 --team vision --format html --lang zh --out vision-q4.html\n"
      "  tidewatt report --period 2026-11 --format csv --db /var/lib/tidewatt/tidewatt.db --config "
      "/etc/tidewatt/server.yaml\n"
      "The same input gives the same bytes. A sealed month doesn't change; later beats are an adjustments "
      "line.");
  command->callback([options, &exit_code] {
    const auto period = check(*options);
    exit_code = run(*options, period);
  });
}

}  // namespace tidewatt::cli
