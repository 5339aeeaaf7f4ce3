// `tidewatt demo`: a server in this process, fed through its own HTTP endpoint by a cluster that doesn't
// exist, or by a recorded meter log played as if live.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "command.h"
#include "input.h"
#include "server_access.h"
#include "server_command.h"
#include "server_feeder.h"
#include "server_flags.h"
#include "server_meter_log.h"
#include "server_runtime.h"
#include "server_sim_cluster.h"
#include "tidewatt/base/log.h"
#include "tidewatt/net/compress.h"

namespace tidewatt::cli {
namespace {

using metering::ReplayLog;
using metering::ReplaySample;

constexpr Milliseconds kHour{3'600'000};
constexpr Milliseconds kHistory = 26 * kHour;
constexpr Milliseconds kFineHistory = 2 * kHour;
constexpr Milliseconds kCoarseBeat{60'000};
constexpr Milliseconds kBeat{10'000};
constexpr Milliseconds kReplayTurn{500};
constexpr std::size_t kLargestLog = 512U << 20U;
constexpr std::size_t kLargestRatio = 1000;

struct DemoOptions {
  ServerFlags flags;
  std::string config_file;
  int nodes = 8;
  std::string replay_file;
  double speed = 60;
  bool once = false;
};

/// Tells the feeding thread when to stop.
class Stop {
 public:
  void ask() { asked_ = true; }
  /// Sleeps in short steps. @return true when asked
  bool wait(Milliseconds at_most) const {
    const auto until = std::chrono::steady_clock::now() + at_most;
    while (!asked_ && std::chrono::steady_clock::now() < until) {
      const auto left = until - std::chrono::steady_clock::now();
      std::this_thread::sleep_for(
          std::min<std::chrono::steady_clock::duration>(left, std::chrono::milliseconds{50}));
    }
    return asked_;
  }

 private:
  std::atomic<bool> asked_{false};
};

nlohmann::json task_body(const SimTask& task) {
  return {{"task_id", task.task_id},
          {"team", task.team},
          {"kind", task.kind},
          {"group_id", task.group_id},
          {"started_at", format_rfc3339(task.at)}};
}

void tell_tasks(Feeder& feeder, SimCluster& cluster) {
  const auto said = [](const Status& status) {
    if (!status) log::warning("the demo could not register a task", {{"why", status.error().to_string()}});
  };
  for (const auto& task : cluster.take_started())
    said(feeder.send("POST", "/api/v1/tasks", task_body(task).dump()));
  for (const auto& task : cluster.take_finished())
    said(feeder.send("POST", "/api/v1/tasks/" + encode_component(task.task_id) + "/events",
                     nlohmann::json{{"event", "finished"}, {"at", format_rfc3339(task.at)}}.dump()));
}

/// The last sample the server has of the simulated nodes, when an earlier demo left some.
std::optional<UtcTime> last_sample(Feeder& feeder) {
  const auto text = feeder.get("/api/v1/nodes?q=sim-gpu-&limit=1000");
  if (!text) return std::nullopt;
  const auto body = nlohmann::json::parse(*text, nullptr, false);
  std::optional<UtcTime> last;
  for (const auto& node : body.value("nodes", nlohmann::json::array()))
    if (node.contains("last_sample_at") && node["last_sample_at"].is_string())
      if (const auto at = parse_rfc3339(node["last_sample_at"].get<std::string>());
          at && (!last || *at > *last))
        last = at;
  return last;
}

void feed_simulation(Feeder& feeder, const Stop& stop, const Clock& clock, int nodes, bool once) {
  const auto now = clock.utc_now();
  const UtcTime whole{std::chrono::floor<std::chrono::seconds>(now)};
  UtcTime at = whole - kHistory;
  if (const auto last = last_sample(feeder); last && *last >= at) at = *last + kBeat;
  SimCluster cluster{nodes, format_rfc3339(now), at};
  std::vector<Beat> batch;
  const auto flush = [&] {
    tell_tasks(feeder, cluster);
    const bool go_on = feeder.post(batch);
    batch.clear();
    return go_on;
  };
  // History first, as fast as it is taken: every beat at its own time.
  while (at < clock.utc_now() - kBeat) {
    for (auto& beat : cluster.beats(at)) batch.push_back(std::move(beat));
    if (batch.size() >= 400 && !flush()) return;
    at += at < whole - kFineHistory ? kCoarseBeat : kBeat;
  }
  if (!flush()) return;
  fmt::print("demo: {} beats of history are booked, {} simulated node{} {}\n", feeder.counts().accepted,
             nodes, nodes == 1 ? "" : "s", once ? "stop here" : "go on live");
  std::fflush(stdout);
  if (once) return;
  for (;;) {
    if (stop.wait(std::max(Milliseconds{0}, at - clock.utc_now()))) return;
    batch = cluster.beats(at);
    if (!flush()) return;
    at += kBeat;
  }
}

/// The n of "replay-n-..." that no node has yet.
int free_replay_number(Feeder& feeder) {
  for (int n = 1; n < 10'000; ++n) {
    const auto text = feeder.get(fmt::format("/api/v1/nodes?q=replay-{}-&limit=1", n));
    if (!text) return n;
    const auto body = nlohmann::json::parse(*text, nullptr, false);
    if (body.value("total", 0) == 0) return n;
  }
  return 10'000;
}

/// The log in the server's time: it ends when its playing ends, so no sample is ever from the future.
struct Placement {
  UtcTime log_begin;
  UtcTime first;
  [[nodiscard]] UtcTime at(UtcTime log_time) const { return first + (log_time - log_begin); }
};

std::string replayed_node(int run, const std::string& node) { return fmt::format("replay-{}-{}", run, node); }

/// A beat without devices yet.
Beat replayed_beat(const ReplaySample& sample, const Placement& placement, int run, std::uint64_t seq) {
  Beat beat;
  beat.node_id = replayed_node(run, sample.node);
  // No boot and no monotonic time: faster than real time, they would look like a clock gone wrong.
  beat.agent_id = fmt::format("replay-{}", run);
  beat.agent_version = "replay";
  beat.seq = seq;
  beat.sampled_at = placement.at(sample.at);
  beat.labels = {{"source", "replay"}};
  return beat;
}

DeviceSample replayed_device(const ReplaySample& sample) {
  DeviceSample device;
  device.domain = sample.domain;
  device.index = sample.index;
  device.uuid = sample.uuid;
  device.power = sample.watts;
  device.source = "replay";
  return device;
}

/// What the ledger says of a domain of some nodes.
struct BookedSum {
  std::string energy;  ///< in microjoules, or why it is unknown
  double gap = 0;      ///< seconds in no sum, ours or the ledger's
  double partial = 0;  ///< seconds that were only partly sampled
};

BookedSum sum_of(Feeder& feeder, const std::set<std::string>& names, const std::string& domain) {
  const std::vector<std::string> nodes{names.begin(), names.end()};
  BookedSum out;
  WideMicrojoules sum;
  // In pieces: a query's length is bounded.
  for (std::size_t begin = 0; begin < nodes.size(); begin += 50) {
    std::string ids;
    for (std::size_t i = begin; i < std::min(begin + 50, nodes.size()); ++i)
      ids += "&id=" + encode_component(nodes[i]);
    const auto text = feeder.get(
        fmt::format("/api/v1/energy/accounts?scope=node&domain={}{}", encode_component(domain), ids));
    if (!text) {
      out.energy = "unknown: " + text.error().to_string();
      return out;
    }
    const auto body = nlohmann::json::parse(*text, nullptr, false);
    if (!body.contains("sum") || !body["sum"].is_object()) continue;
    const auto part = WideMicrojoules::parse(body["sum"].value("energy_uj", ""));
    if (part) sum += *part;
    for (const auto& account : body.value("accounts", nlohmann::json::array())) {
      out.gap += account.value("gap_seconds", 0.0);
      out.partial += account.value("partial_seconds", 0.0);
    }
  }
  out.energy = sum.to_string();
  return out;
}

/// Domain by domain, the one that is the total first. @return whether the ledger holds the exact sums
bool compare_sums(Feeder& feeder, const ReplayLog& log, int run, Milliseconds max_gap) {
  std::map<std::string, WideMicrojoules> exact;
  std::map<std::string, std::set<std::string>> nodes;
  for (const auto& energy : metering::expected_energy(log, max_gap)) {
    exact[energy.domain] += energy.energy;
    nodes[energy.domain].insert(replayed_node(run, energy.node));
  }
  bool equal = true;
  const auto line = [&](const std::string& domain, std::string_view prefix) {
    const std::string wanted = exact.at(domain).to_string();
    const auto booked = sum_of(feeder, nodes.at(domain), domain);
    fmt::print("{}exact sum {} uJ, ledger {} uJ: {}; gap {:g} s, partial {:g} s{}\n", prefix, wanted,
               booked.energy, wanted == booked.energy ? "equal" : "DIFFERENT", booked.gap, booked.partial,
               booked.gap > 0 ? ": what was used then is in neither sum" : "");
    equal = equal && wanted == booked.energy;
  };
  const std::string domain_platform{kDomainPlatform};
  const std::string first = exact.contains(domain_platform) ? domain_platform : exact.begin()->first;
  line(first, exact.size() == 1 ? "" : first + ": ");
  for (const auto& [domain, energy] : exact)
    if (domain != first) line(domain, domain + ": ");
  return equal;
}

/// @return whether the ledger holds the exact sums
bool feed_replay(Feeder& feeder, const Stop& stop, const Clock& clock, const MeterLog& meter, double speed,
                 Milliseconds max_gap) {
  const auto& samples = meter.log.samples;
  const int run = free_replay_number(feeder);
  const auto begin = samples.front().at;
  const auto length = samples.back().at - begin;
  const Milliseconds playing{static_cast<std::int64_t>(static_cast<double>(length.count()) / speed)};
  const auto started = clock.mono_now();
  const Placement placement{begin, clock.utc_now() + playing - length};
  std::map<std::string, std::uint64_t> seqs;
  std::size_t next = 0;
  while (next < samples.size()) {
    const auto played = static_cast<double>((clock.mono_now() - started).count()) * speed;
    std::vector<Beat> due;
    while (next < samples.size() && static_cast<double>((samples[next].at - begin).count()) <= played) {
      // What a node's meters read at one time is one beat.
      const auto& head = samples[next];
      Beat beat = replayed_beat(head, placement, run, ++seqs[head.node]);
      for (; next < samples.size() && samples[next].at == head.at && samples[next].node == head.node; ++next)
        beat.devices.push_back(replayed_device(samples[next]));
      due.push_back(std::move(beat));
    }
    if (!feeder.post(due) || (next < samples.size() && stop.wait(kReplayTurn))) {
      fmt::print("replay: stopped after {} of {} samples\n", next, samples.size());
      return false;
    }
  }
  const auto& counts = feeder.counts();
  fmt::print("replay: {} samples of {} nodes in {} beats: {} accepted, {} duplicate, {} rejected{}\n",
             samples.size(), seqs.size(), counts.accepted + counts.duplicate + counts.rejected,
             counts.accepted, counts.duplicate, counts.rejected,
             counts.last_reason.empty() ? "" : " (" + counts.last_reason + ")");
  fmt::print("{}\n", rows_in_words(meter));
  const bool equal = compare_sums(feeder, meter.log, run, max_gap);
  std::fflush(stdout);
  return equal;
}

Result<MeterLog> read_meter_log(const std::string& path) {
  TW_TRY(auto text, read_all(path));
  if (text.size() > 2 && text[0] == '\x1f' && text[1] == '\x8b') {
    TW_TRY(text, net::gunzip(text, kLargestLog, kLargestRatio));
  }
  return parse_meter_log(text, path);
}

int run_demo(const DemoOptions& options) {
  const auto files = os::make_file_system();
  auto flags = options.flags.given();
  // A demo leaves nothing behind unless it is told where.
  if (options.flags.data.empty() && options.flags.store.empty()) flags.push_back({"store", "memory"});
  auto loaded = load_server_settings(options.config_file, flags, *files);
  for (const auto& problem : loaded.problems) fmt::print(stderr, "tidewatt demo: {}\n", problem);
  if (!loaded.problems.empty()) return kUsage;
  auto& arguments = loaded.arguments;
  if (options.flags.data.empty()) arguments.data_folder = default_data_folder() + "/demo";
  arguments.api.people = {};  // its own feeder registers a day of tasks at once

  std::optional<MeterLog> log;
  if (!options.replay_file.empty()) {
    auto read = read_meter_log(options.replay_file);
    if (!read) return report("demo", read.error());
    log = *std::move(read);
  }
  block_stop_signals();
  auto runtime = ServerRuntime::start(arguments, *files);
  if (!runtime) return report("demo", runtime.error());
  const std::string what = log ? fmt::format("{} played at {} times its speed (measured, source replay)",
                                             options.replay_file, options.speed)
                               : fmt::format("{} SIMULATED node{}: nothing here is real energy",
                                             options.nodes, options.nodes == 1 ? "" : "s");
  fmt::print("Tidewatt demo on {}: {}\n", (*runtime)->url(), what);
  fmt::print("  sign in (once, within 15 minutes): {}\n", (*runtime)->login_link("/"));
  fmt::print("  tokens: {0}/ops.token and {0}/agent.token   stop: Ctrl-C\n", arguments.data_folder);
  std::fflush(stdout);

  Stop stop;
  std::atomic<bool> done{false};
  std::atomic<bool> equal{true};
  std::thread feeding{[&] {
    Feeder feeder{(*runtime)->url(), (*runtime)->agent_token(), (*runtime)->ops_token(),
                  [&stop](Milliseconds t) { return stop.wait(t); }};
    if (log)
      equal = feed_replay(feeder, stop, (*runtime)->clock(), *log, options.speed, arguments.api.max_gap);
    else
      feed_simulation(feeder, stop, (*runtime)->clock(), options.nodes, options.once);
    done = true;
  }};
  while (!wait_for_stop(Milliseconds{200}))
    if (options.once && done) break;
  stop.ask();
  feeding.join();
  (*runtime)->stop();
  return options.once && log && !equal ? kFailed : kOk;
}

}  // namespace

void add_demo_command(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("demo", "Run a server fed by a simulated cluster, or by a recorded meter log");
  auto options = std::make_shared<DemoOptions>();
  options->flags.add_to(*command);
  command->add_option("--config", options->config_file, "YAML file with settings")->type_name("FILE");
  command->add_option("--nodes", options->nodes, "How many simulated nodes")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command
      ->add_option(
          "--replay", options->replay_file,
          "Play this log instead; may be gzip. CSV with a header: t_ms|t|time|timestamp|at (ms since 1970 or "
          "RFC 3339, UTC), watts|power_watts, and where there node|node_id and meter (ac = the whole "
          "machine, the total; any other is a domain of its own name, in no total). Or nvidia-smi's CSV, or "
          "beats as JSON lines")
      ->type_name("FILE");
  command->add_option("--speed", options->speed, "How fast the log is played")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 1e6));
  command->add_flag(
      "--once", options->once,
      "End when the history is booked; with --replay when the log is played, exit 1 if the ledger's "
      "sum isn't exact");
  command->footer("Example: tidewatt demo --nodes 8     tidewatt demo --replay meter.csv.gz --speed 60");
  command->callback([options, &exit_code] { exit_code = run_demo(*options); });
}

}  // namespace tidewatt::cli
