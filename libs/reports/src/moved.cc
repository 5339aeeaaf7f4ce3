#include "moved.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "figures.h"
#include "tidewatt/carbon/signal_book.h"
#include "tidewatt/metering/node_total.h"

namespace tidewatt::reports {
namespace {

using Name = std::pair<std::string, std::string>;  ///< cluster, id
constexpr double kGramsPerKilo = 1000;
/// A task that waited longer isn't compared: what it would have been is no baseline any more.
constexpr auto kLongestWait = std::chrono::hours{24 * 31};

/// The line a task's savings stand in; nullopt = in none that was asked for.
std::optional<Name> line_of(const ledger::TaskInfo& task, const Question& question) {
  if (!task.at_once_at || (!question.cluster.empty() && task.cluster != question.cluster)) return {};
  if (question.tasks != nullptr && !question.tasks->contains({task.cluster, task.task_id})) return {};
  Name name{task.cluster, task.task_id};
  switch (question.scope) {
    case Scope::cluster:
      name.second = task.cluster;
      break;
    case Scope::team:
      name = {"", task.team.empty() ? "unassigned" : task.team};
      break;
    case Scope::task_group:
      name.second = task.group_id;
      break;
    case Scope::task:
      break;
    case Scope::node:
      return {};  // of tasks, on any number of nodes
  }
  if (name.second.empty() || (!question.id.empty() && name.second != question.id)) return {};
  return name;
}

/// The energy of some tasks by domain, hour and node.
class TaskHours final : public ledger::ImageSink {
 public:
  explicit TaskHours(bool with_simulated) : with_simulated_{with_simulated} {}
  using ImageSink::add;
  Status add(const ledger::HourlyRow& row) override {
    const auto& measures = row.measures;
    const auto energy = with_simulated_ ? measures.energy : measures.energy - measures.simulated;
    const auto node = row.key.part.substr(0, row.key.part.rfind('/'));
    tasks[{row.key.cluster, row.key.id}][row.key.domain][row.hour][node] += energy;
    return {};
  }
  using ByHour = std::map<UtcHour, std::map<std::string, WideMicrojoules>>;  ///< by hour, then node
  std::map<Name, std::map<std::string, ByHour>> tasks;

 private:
  bool with_simulated_;
};

/// Of the domains that make the total; hours without energy aren't there.
TaskHours::ByHour in_total(const std::map<std::string, TaskHours::ByHour>& by_domain) {
  std::vector<std::string> domains;
  for (const auto& [domain, hours] : by_domain) domains.push_back(domain);
  TaskHours::ByHour out;
  for (const auto& domain : metering::node_total(domains, metering::Wanted::attributable).parts)
    for (const auto& [hour, nodes] : by_domain.at(domain))
      for (const auto& [node, energy] : nodes)
        if (energy != WideMicrojoules{}) out[hour][node] += energy;
  return out;
}

/// Grams less than at once; nullopt where an intensity is unknown.
std::optional<double> saved_grams(const MovedTask& task, const Policy& policy,
                                  const carbon::SeriesIdentity*& identity, std::string_view& refused) {
  double grams = 0;
  for (const auto& piece : task.pieces) {
    const auto found = policy.moved_zones.find(piece.zone);
    if (found == policy.moved_zones.end()) return std::nullopt;
    const auto& series = found->second;
    if (identity != nullptr && !carbon::same_series(*identity, series.identity)) refused = "series_differ";
    identity = &series.identity;
    const auto then = at(series.intensity, piece.at_once);
    const auto now = at(series.intensity, piece.hour);
    if (!then || !now) return std::nullopt;
    grams += kwh_of(piece.energy) * (*then - *now);
  }
  return grams;
}

}  // namespace

Result<std::vector<MovedTask>> moved_tasks(ledger::ImageSource& source, const Question& question,
                                           std::span<const ledger::TaskInfo> tasks,
                                           const std::vector<ledger::SharedNode>& nodes) {
  std::map<Name, std::pair<Name, UtcHour>> moved;  // task: line, hour at once
  ledger::ImageParts parts;
  parts.hourly = true;
  parts.from = parts.to = question.window.to;
  parts.filter.scope = ledger::Scope::task_device;
  parts.filter.cluster = question.cluster;
  for (const auto& task : tasks) {
    const auto line = line_of(task, question);
    if (!line || *task.at_once_at >= start_of(question.window.to)) continue;
    if (task.finished_at && *task.finished_at <= start_of(question.window.from)) continue;
    const auto hour = hour_of(*task.at_once_at);
    moved[{task.cluster, task.task_id}] = {*line, hour};
    parts.from = std::min(parts.from, hour);
    parts.filter.ids.push_back(task.task_id);
  }
  std::vector<MovedTask> out;
  if (moved.empty()) return out;
  TaskHours hours{question.with_simulated};
  TW_TRY_STATUS(source.read_image(parts, hours));
  std::map<Name, std::string> zones;
  for (const auto& node : nodes) zones[{node->key.cluster, node->key.node_id}] = node->zone;
  for (const auto& [name, by_domain] : hours.tasks) {
    const auto found = moved.find(name);
    if (found == moved.end()) continue;
    const auto used = in_total(by_domain);
    // One that began when it would have anyway wasn't moved.
    if (used.empty() || used.begin()->first <= found->second.second ||
        used.begin()->first - found->second.second > kLongestWait)
      continue;
    MovedTask task{found->second.first.first, found->second.first.second, {}};
    auto at_once = found->second.second;
    for (const auto& [hour, by_node] : used) {
      if (question.window.holds(hour))
        for (const auto& [node, energy] : by_node)
          task.pieces.push_back({hour, at_once, zones[{name.first, node}], energy});
      at_once += std::chrono::hours{1};
    }
    if (!task.pieces.empty()) out.push_back(std::move(task));
  }
  return out;
}

Savings savings_of(const Booked& booked, const Subject* line, const Policy& policy,
                   const carbon::CarbonView& view) {
  Savings out;
  struct Sum {
    double grams = 0;
    std::size_t known = 0;
    const carbon::SeriesIdentity* identity = nullptr;
    std::string_view refused;
  };
  Sum average;
  Sum marginal;
  for (const auto& task : booked.moved) {
    if (line != nullptr && (task.cluster != line->cluster || task.line != line->id)) continue;
    ++out.tasks;
    const auto zone = policy.moved_zones.find(task.pieces.front().zone);
    const bool is_marginal =
        zone != policy.moved_zones.end() && zone->second.identity.kind == carbon::SignalKind::marginal;
    auto& sum = is_marginal ? marginal : average;
    if (const auto grams = saved_grams(task, policy, sum.identity, sum.refused)) {
      sum.grams += *grams;
      ++sum.known;
    } else {
      ++out.unknown_tasks;
    }
  }
  const auto figure = [&](const Sum& sum, std::string_view none) -> Figure {
    if (!view.visible) return {std::nullopt, "no_factor_configured"};
    if (out.tasks == 0) return {std::nullopt, booked.moved_reason};
    if (!sum.refused.empty()) return {std::nullopt, sum.refused};
    if (sum.known == 0) return {std::nullopt, none};
    return {sum.grams / kGramsPerKilo, {}};
  };
  out.attributional_kg = figure(average, "no_intensity_of_baseline");
  out.consequential_kg = figure(marginal, "no_marginal_series");
  return out;
}

}  // namespace tidewatt::reports
