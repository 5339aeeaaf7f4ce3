#include "run.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "instance_lock.h"
#include "own_usage.h"
#include "process.h"
#include "sensor.h"
#include "tidewatt/agent/attribution_thread.h"
#include "tidewatt/agent/beats.h"
#include "tidewatt/agent/delivery_thread.h"
#include "tidewatt/agent/exposition.h"
#include "tidewatt/agent/identity.h"
#include "tidewatt/agent/relay.h"
#include "tidewatt/agent/sender.h"
#include "tidewatt/agent/source_factory.h"
#include "tidewatt/base/log.h"
#include "tidewatt/net/client.h"
#include "tidewatt/net/server.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::app {

struct Kept {
  // Before what refers to them.
  std::shared_ptr<FileSystem> files;
  std::shared_ptr<const Clock> clock;
  std::unique_ptr<InstanceLock> lock;
  agent::SpoolOptions options;
  std::unique_ptr<agent::Spool> spool;
  std::unique_ptr<agent::Identity> identity;
};

void ForgetKept::operator()(Kept* kept) const { delete kept; }

namespace {

using agent::AgentConfig;
using agent::SourceRunner;

constexpr Milliseconds kSendDeadline{10'000};
constexpr Milliseconds kLastSendDeadline{2'000};
constexpr Milliseconds kStopPatience{2'300};
constexpr Milliseconds kReloadPatience{15'000};  // a request under way ends by its deadline before
constexpr std::size_t kMaxAnswerBytes = 1U << 20U;
constexpr std::size_t kMostRelayedBytes = 8U << 20U;  // as the server's own limit
constexpr std::size_t kRelayConnections = 1024;
constexpr rlim_t kRelayDescriptors = 2048;  // these, and what the agent opens itself
constexpr std::string_view kBeatsPath = "/api/v1/heartbeats";
constexpr int kHealthyBeats = 3;
constexpr int kHoldIntervals = 3;
constexpr Milliseconds kLongestRecordedGap{60'000};  // as the server's own limit
constexpr Milliseconds kOncePoll{20};
constexpr Milliseconds kProcessPeriod{5'000};

int give_up(const Error& error) {
  std::fprintf(stderr, "tidewatt-agent: %s\n", error.to_string().c_str());
  return error.code == ErrorCode::invalid_input ? kExitUsage : kExitFailure;
}

/// Services begin with 1,024 descriptors and may have more.
void allow_open_files(rlim_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// The outside, shared because a source that hangs may outlive everything else.
struct Outside {
  explicit Outside(const AgentConfig& config)
      : host(os::with_host_root(std::shared_ptr<FileSystem>{os::make_file_system()}, config.host_root)) {}

  std::shared_ptr<FileSystem> files{os::make_file_system()};
  std::shared_ptr<FileSystem> host;  ///< where /proc and /sys are the host's
  std::shared_ptr<os::SystemClock> clock = std::make_shared<os::SystemClock>();
  std::shared_ptr<ProcessRunner> processes{os::make_process_runner()};
  os::SecureRng rng;
};

Result<agent::NodeFacts> facts_of(const AgentConfig& config, Outside& outside) {
  agent::NodeFacts facts;
  TW_TRY(facts.node_id, agent::resolve_node_id(config.node_id, *outside.files));
  facts.cluster = config.cluster;
  facts.zone = config.zone;
  facts.region = config.region;
  facts.labels = config.labels;
  facts.agent_version = TIDEWATT_VERSION;
  facts.boot_id = os::boot_id(*outside.files);
  if (facts.boot_id.empty()) {
    // Then every start counts as a boot: its clock can't be joined to that of an earlier one.
    facts.boot_id = fmt::format("start-{:016x}", outside.rng.next());
    log::warning("the kernel's boot id can't be read; every start counts as a boot",
                 {{"boot_id", facts.boot_id}});
  }
  agent::add_machine_facts(facts, *outside.host);
  return facts;
}

using Runners = std::vector<std::unique_ptr<SourceRunner>>;

Result<Runners> start_sources(const AgentConfig& config, const std::string& node_id, Outside& outside,
                              const std::shared_ptr<agent::Collector>& collector) {
  agent::SourceParts parts{.files = outside.host,
                           .clock = outside.clock,
                           .processes = outside.processes,
                           .node_id = node_id,
                           .speed = config.speed};
  parts.beat = config.beat;
  parts.state_folder = config.spool_folder;
  SensorOptions sensor{.host_root = config.host_root, .process_period = std::nullopt};
  // A list may be as old as half a beat.
  if (config.attribution.holders) sensor.process_period = std::min(config.beat / 2, kProcessPeriod);
  parts.start_sensor = [sensor](const std::string& library) { return start_sensor(library, sensor); };
  TW_TRY(auto sources, agent::build_sources(config.sources, parts));
  Runners runners;
  for (auto& source : sources) {
    runners.push_back(std::make_unique<SourceRunner>(
        std::move(source), agent::SourceWatch{config.interval, config.source_deadline}, collector,
        outside.clock));
    runners.back()->start();
  }
  return runners;
}

/// nullptr: switched off.
std::unique_ptr<agent::AttributionThread> start_attribution(const AgentConfig& config, Outside& outside) {
  if (!config.attribution.on()) return nullptr;
  return std::make_unique<agent::AttributionThread>(
      std::make_unique<agent::WorkloadScanner>(outside.host, outside.clock, config.attribution));
}

std::shared_ptr<agent::Collector> make_collector(const AgentConfig& config) {
  Milliseconds hold = config.interval * kHoldIntervals;
  // Recorded samples are as far apart as they were recorded, not as we look.
  const bool replays = std::ranges::any_of(config.sources, [](const auto& s) { return s.kind == "replay"; });
  if (replays) {
    const auto gap = static_cast<double>(kLongestRecordedGap.count()) / config.speed;
    hold = std::max(hold, Milliseconds{static_cast<std::int64_t>(gap)});
  }
  return std::make_shared<agent::Collector>(agent::Collector::Options{.max_hold = hold});
}

/// /metrics and /healthz.
class Endpoint {
 public:
  Endpoint(const AgentConfig& config, const agent::NodeFacts& facts, Outside& outside,
           const agent::Collector& collector, const Runners& runners, agent::Spool& spool,
           const agent::Sender& sender, agent::Relay::TokenSource relay_token,
           const agent::AttributionThread* attribution)
      : config_(config),
        facts_(facts),
        outside_(outside),
        collector_(collector),
        runners_(runners),
        spool_(spool),
        sender_(sender),
        attribution_(attribution),
        relay_(spool, *outside.clock, std::move(relay_token)),
        started_(outside.clock->mono_now()) {}

  Status open() {
    if (config_.listen.address.empty()) return {};
    if (config_.relay) allow_open_files(kRelayDescriptors);
    auto server = net::Server::listen({.address = config_.listen.address,
                                       .port = config_.listen.port,
                                       .max_body_bytes = config_.relay ? kMostRelayedBytes : 4096,
                                       .max_header_bytes = 8192,
                                       .max_connections = config_.relay ? kRelayConnections : 32U,
                                       .worker_threads = 1,
                                       .max_queued_requests = config_.relay ? 256U : 32U,
                                       .tls_certificate_file = config_.tls_certificate,
                                       .tls_key_file = config_.tls_key},
                                      [this](const net::Request& request) { return answer(request); });
    if (!server) {
      Error error = server.error();
      error.hint = "give --listen another HOST:PORT, or --listen off";
      return tl::unexpected(std::move(error));
    }
    server_ = std::move(*server);
    log::info("metrics and health",
              {{"address", fmt::format("{}:{}", config_.listen.address, server_->port())}});
    return {};
  }
  void close() {
    if (server_) server_->stop(Milliseconds{100});
  }

 private:
  [[nodiscard]] agent::Snapshot snapshot() const {
    agent::Snapshot s;
    s.now = outside_.clock->mono_now();
    s.version = facts_.agent_version;
    s.cluster = facts_.cluster;
    s.node_id = facts_.node_id;
    s.devices = collector_.latest(s.now);
    for (const auto& runner : runners_) s.sources.push_back(runner->status());
    s.spool = spool_.stats();
    s.sender = sender_.stats();
    if (attribution_ != nullptr) s.attribution = attribution_->status();
    if (config_.relay) s.relayed = relay_.taken();
    s.last_read = collector_.last_read();
    s.last_change = collector_.last_change();
    s.own_cpu_seconds = own_cpu_seconds(*outside_.files);
    s.own_resident_bytes = own_resident_bytes(*outside_.files);
    return s;
  }

  [[nodiscard]] net::Response answer(const net::Request& request) {
    if (config_.relay && request.path == kBeatsPath) return relay_.take(request);
    if (request.method != "GET" && request.method != "HEAD") {
      return net::problem(405, "method_not_allowed", "Method not allowed", "only GET is answered here");
    }
    if (request.path == "/metrics") {
      return {200,
              {{"content-type", "text/plain; version=0.0.4; charset=utf-8"}},
              agent::to_prometheus(snapshot())};
    }
    if (request.path == "/healthz") {
      auto health = agent::health_of(snapshot(), started_, config_.beat * kHealthyBeats);
      return {health.status, {{"content-type", "text/plain; charset=utf-8"}}, std::move(health.body)};
    }
    return net::problem(404, "not_found", "Not found",
                        config_.relay ? "this agent answers /metrics, /healthz and " + std::string{kBeatsPath}
                                      : "this agent answers /metrics and /healthz");
  }

  const AgentConfig& config_;
  const agent::NodeFacts& facts_;
  Outside& outside_;
  const agent::Collector& collector_;
  const Runners& runners_;
  const agent::Spool& spool_;
  const agent::Sender& sender_;
  const agent::AttributionThread* attribution_;
  agent::Relay relay_;
  SteadyTime started_;
  std::unique_ptr<net::Server> server_;
};

std::unique_ptr<net::HttpClient> client(const AgentConfig& config, Milliseconds deadline) {
  return net::make_http_client(
      {.deadline = deadline, .max_response_bytes = kMaxAnswerBytes, .ca_file = config.ca_file});
}

/// What a full disk didn't take ends with the process, or with other settings of the spool.
void give_up(agent::Spool& spool) {
  if (const auto lost = spool.give_up_memory(); lost > 0)
    log::error("beats were only in memory, for the spool's disk takes nothing; they are lost",
               {{"beats", std::to_string(lost)}, {"error", spool.stats().failure}});
}

bool same(const agent::SpoolOptions& a, const agent::SpoolOptions& b) {
  return a.folder == b.folder && a.max_bytes == b.max_bytes && a.max_age == b.max_age &&
         a.boot_id == b.boot_id;
}

/// Everything that can go wrong at the start and that a person must mend.
/// @param kept  of the run before: goes on being used where the spool's settings are as they were
Status open_spool(const AgentConfig& config, const std::string& boot_id, Outside& outside, KeptPtr& kept) {
  const agent::SpoolOptions options{.folder = config.spool_folder,
                                    .max_bytes = config.spool_bytes,
                                    .max_age = config.spool_age,
                                    .boot_id = boot_id};
  if (kept && same(kept->options, options)) return {};
  if (kept) give_up(*kept->spool);
  kept.reset();
  if (auto made = outside.files->make_folders(config.spool_folder); !made) {
    Error error = made.error().with_context("spool");
    if (error.hint.empty()) error.hint = "give --spool-dir a folder that this user may write";
    return tl::unexpected(std::move(error));
  }
  TW_TRY(auto acquired, InstanceLock::acquire(config.spool_folder));
  KeptPtr made{new Kept{outside.files, outside.clock, std::make_unique<InstanceLock>(std::move(acquired)),
                        options, nullptr, nullptr}};
  TW_TRY(made->spool, agent::Spool::open(*made->files, *made->clock, options));
  made->identity = std::make_unique<agent::Identity>(*made->files, outside.rng, config.spool_folder, boot_id,
                                                     *made->spool);
  kept = std::move(made);
  return {};
}

}  // namespace

int run_agent(const AgentConfig& config, const config::Settings& settings,
              const std::function<bool()>& settings_are_sound, KeptPtr& kept) {
  StopSignal stop;
  Outside outside{config};
  auto facts = facts_of(config, outside);
  if (!facts) return give_up(facts.error());
  if (!config.ca_file.empty()) {
    if (auto pem = outside.files->read_text(config.ca_file); !pem)
      return give_up(pem.error().with_context("ca_file"));
  }
  if (kept && facts->boot_id.starts_with("start-")) facts->boot_id = kept->options.boot_id;
  if (auto opened = open_spool(config, facts->boot_id, outside, kept); !opened)
    return give_up(opened.error());
  agent::Spool& spool = *kept->spool;
  agent::Identity& identity = *kept->identity;
  facts->agent_id = identity.agent_id();

  const auto collector = make_collector(config);
  auto runners = start_sources(config, facts->node_id, outside, collector);
  if (!runners) return give_up(runners.error());
  agent::Sender sender{spool,
                       *outside.clock,
                       outside.rng,
                       [&settings, &outside] { return settings.secret("token", *outside.files); },
                       {.url = config.server + std::string{kBeatsPath},
                        .user_agent = fmt::format("tidewatt-agent/{}", TIDEWATT_VERSION)}};
  const auto attribution = start_attribution(config, outside);
  Endpoint endpoint{
      config,           *facts,
      outside,          *collector,
      *runners,         spool,
      sender,           [&settings, &outside] { return settings.secret("relay_token", *outside.files); },
      attribution.get()};
  if (auto opened = endpoint.open(); !opened) return give_up(opened.error());
  agent::DeliveryThread delivery{sender, *outside.clock, client(config, kSendDeadline),
                                 client(config, kLastSendDeadline)};
  agent::Beats beats{*facts, *outside.clock, *outside.host, *collector, *runners, attribution.get()};
  log::info("started", {{"node_id", facts->node_id},
                        {"cluster", facts->cluster},
                        {"agent_id", facts->agent_id},
                        {"server", config.server},
                        {"waiting", std::to_string(spool.stats().waiting)}});
  release_unused_memory();

  os::SecureRng jitter;
  bool reload = false;
  const auto wait = [&](Milliseconds time) {
    if (!stop.wait(time)) return false;
    if (!stop.reload_asked()) return true;
    reload = settings_are_sound();
    return reload;
  };
  agent::run_beats(*outside.clock, jitter, config.beat, wait, [&] {
    beats.make_and_spool(spool, identity);
    delivery.wake();
  });

  log::info(reload ? "reloading" : "stopping");
  endpoint.close();
  const bool ended = delivery.stop(reload ? kReloadPatience : kStopPatience);
  runners->clear();
  log::info("stopped", {{"waiting", std::to_string(spool.stats().waiting)}});
  if (!reload || !ended) give_up(spool);
  // A request or a source that still hangs must not hold up the end; what the disk took is on it.
  std::fflush(nullptr);
  if (!ended) std::_Exit(reload ? kExitFailure : 0);
  return reload ? kReload : 0;
}

int print_one_beat(const AgentConfig& config) {
  StopSignal stop;
  Outside outside{config};
  auto facts = facts_of(config, outside);
  if (!facts) return give_up(facts.error());
  const auto collector = make_collector(config);
  auto runners = start_sources(config, facts->node_id, outside, collector);
  if (!runners) return give_up(runners.error());
  const auto attribution = start_attribution(config, outside);
  agent::Beats beats{*facts, *outside.clock, *outside.host, *collector, *runners, attribution.get()};
  // Two reads: a counter's first is only a baseline.
  const auto ready = [&] {
    for (const auto& runner : *runners) {
      const auto status = runner->status();
      if (status.reads < 2 && status.failures == 0) return false;
    }
    // A counter that hasn't moved yet may a moment later.
    return std::ranges::none_of(collector->latest(outside.clock->mono_now()), [](const auto& device) {
      return device.reading.reason == "counter_baseline";
    });
  };
  const SteadyTime begin = outside.clock->mono_now();
  const SteadyTime latest = begin + config.interval + config.source_deadline;
  while (!stop.wait(kOncePoll)) {
    const SteadyTime now = outside.clock->mono_now();
    if (now > latest || (ready() && now >= begin + config.interval)) break;
  }
  if (stop.asked()) return kExitFailure;
  const std::string json = wire::to_json(beats.make());
  std::printf("%s\n", json.c_str());
  std::fflush(nullptr);
  return 0;
}

}  // namespace tidewatt::app
