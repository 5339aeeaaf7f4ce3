#include "server_sim_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tidewatt/sensors/sources.h"

namespace tidewatt::cli {
namespace {

constexpr std::array<const char*, 3> kZones{"DE", "FR", "SE-SE3"};
constexpr std::array<const char*, 3> kTrainingTeams{"vision", "language", "climate"};
constexpr double kCpuIdle = 85;  // of one simulated package
constexpr double kCpuSpan = 110;

DeviceSample sample_of(const sensors::Reading& reading) {
  DeviceSample sample;
  sample.domain = reading.domain;
  sample.index = reading.index;
  sample.uuid = reading.uuid;
  sample.vendor = reading.vendor;
  sample.model = reading.model;
  sample.power = reading.power;
  sample.energy_total = reading.energy_total;
  sample.counter_epoch = reading.counter_epoch;
  sample.power_limit = reading.power_limit;
  sample.util = reading.util;
  sample.memory_used_bytes = reading.memory_used_bytes;
  sample.health = reading.health;
  sample.source = reading.source;
  sample.quality = reading.quality;
  sample.reason = reading.reason;
  sample.holders = reading.holders;
  return sample;
}

SimTask task_of(const std::string& id, UtcTime at) {
  if (id.starts_with("sim-chat-")) return {id, "assistants", "inference", "sim-chat", at};
  if (id.starts_with("sim-embed-")) return {id, "search", "inference", "sim-embed", at};
  std::size_t hash = 0;
  for (const char c : id) hash = hash * 31 + static_cast<unsigned char>(c);
  return {id, kTrainingTeams.at(hash % kTrainingTeams.size()), "training", "sim-train", at};
}

}  // namespace

SimCluster::SimCluster(int nodes, const std::string& run_id, UtcTime start) : clock_(start), run_id_(run_id) {
  for (int i = 0; i < nodes; ++i) {
    Node node;
    node.id = fmt::format("sim-gpu-{:02}", i + 1);
    node.zone = kZones.at(static_cast<std::size_t>(i) % kZones.size());
    sensors::SimOptions options;
    options.node_id = node.id;
    node.source = sensors::make_sim(options, clock_);
    nodes_.push_back(std::move(node));
  }
}

std::vector<Beat> SimCluster::beats(UtcTime at) {
  clock_.set(at);
  std::vector<Beat> beats;
  std::set<std::string> holders;
  for (auto& node : nodes_) {
    auto readings = node.source->read();
    if (!readings) continue;
    Beat beat;
    beat.node_id = node.id;
    beat.boot_id = "sim-boot-" + run_id_;
    beat.agent_id = "sim-" + run_id_;
    beat.agent_version = "simulated";
    beat.seq = ++node.seq;
    beat.sampled_at = at;
    beat.monotonic = at.time_since_epoch();
    beat.zone = node.zone;
    beat.labels = {{"simulated", "true"}};
    beat.sources = {{"sim", SourceState::ok, ""}};
    beat.cpu_cores = 64;
    beat.cpu_model = "Simulated CPU";
    for (const auto& reading : *readings) {
      if (reading.domain == kDomainCpuPackage && reading.index == 0 && reading.power)
        beat.cpu_util = std::clamp((reading.power->value() - kCpuIdle) / kCpuSpan, 0.0, 1.0);
      for (const auto& holder : reading.holders)
        if (holds(holder.state)) holders.insert(holder.task_id);
      beat.devices.push_back(sample_of(reading));
    }
    beats.push_back(std::move(beat));
  }
  follow_tasks(holders, at);
  return beats;
}

void SimCluster::follow_tasks(const std::set<std::string>& holders, UtcTime at) {
  for (const auto& id : holders)
    if (!running_.contains(id)) {
      running_.emplace(id, task_of(id, at));
      started_.push_back(task_of(id, at));
    }
  std::erase_if(running_, [&](const auto& entry) {
    if (holders.contains(entry.first)) return false;
    finished_.push_back(task_of(entry.first, at));
    return true;
  });
}

std::vector<SimTask> SimCluster::take_started() { return std::exchange(started_, {}); }
std::vector<SimTask> SimCluster::take_finished() { return std::exchange(finished_, {}); }

}  // namespace tidewatt::cli
