// /api/v1/nodes/{id}/power and /api/v1/tasks/{id}/power
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "curve_view.h"
#include "energy_view.h"
#include "handlers.h"
#include "task_view.h"
#include "tenant_view.h"
#include "tidewatt/units/text.h"

namespace tidewatt::api {
namespace {

/// A week of beats every 3 s; beyond it the latest are shown.
constexpr std::size_t kMostBeats = 200'000;

Result<std::size_t> points_of(const Call& call) {
  const std::string text = call.parameter("points", "2000");
  const auto points = parse_int64(text);
  if (!points || *points < 10 || *points > 20'000)
    return fail(ErrorCode::invalid_input, fmt::format("points={} is not in 10..20000", text),
                "give a number in it");
  return static_cast<std::size_t>(*points);
}

/// The answer as it grows, node by node.
class CurvesAnswer {
 public:
  CurvesAnswer(const Core& core, const TimeRange& range) : core_(core), range_(range) {
    retained_ = range.asked;
    const auto oldest = core.clock.utc_now() - core.options.curve_retention;
    if (retained_.begin < oldest) {
      retained_.begin = std::min(oldest, retained_.end);
      notes_.push_back(note("curve_retention",
                            fmt::format("curves are kept for {} days, totals for good",
                                        core.options.curve_retention.count() / 86'400'000),
                            Json{{"retention_seconds", seconds(core.options.curve_retention)}}));
    }
  }

  /// What of the asked range is still kept.
  [[nodiscard]] UtcRange retained() const { return retained_; }

  Status add(std::string_view node_id, ledger::CurveReader& points, const CurveRequest& request) {
    TW_TRY(const NodeCurves curves, node_curves(node_id, points, request));
    bucket_ = std::max(bucket_, curves.bucket);
    for (const auto& series : curves.series) add_series(series);
    for (const auto& gap : curves.gaps) {
      Json row{{"from", format_rfc3339(gap.range.begin)},
               {"to", format_rfc3339(gap.range.end)},
               {"seconds", seconds(gap.lasting)},
               {"cause", gap.no_data ? "no_data" : "unknown"},
               {"node_id", node_id}};
      if (!gap.key.empty()) row["key"] = gap.key;
      gaps_.push_back(std::move(row));
    }
    cpu_points_.insert(cpu_points_.end(), curves.cpu_points.begin(), curves.cpu_points.end());
    return {};
  }

  /// As text: points, most of the bytes, are written straight into it.
  net::Response finish(Json answer) {
    answer["from"] = format_rfc3339(range_.asked.begin);
    answer["to"] = format_rfc3339(range_.asked.end);
    answer["bucket_seconds"] = seconds(bucket_);
    answer["downsampled"] = bucket_.count() > 0;
    answer["retention_seconds"] = seconds(core_.options.curve_retention);
    answer["gaps"] = std::move(gaps_);
    answer["cpu_estimate"] = nullptr;
    answer["cpu_estimate_reason"] = nullptr;
    if (cpu_measured_) {
      answer["cpu_estimate_reason"] = "measured";
    } else if (!core_.options.cpu_model) {
      answer["cpu_estimate_reason"] = "unknown_cpu_model";
    } else if (cpu_points_.empty()) {
      answer["cpu_estimate_reason"] = "no_utilisation";
    } else {
      std::string points;
      write_points(points, cpu_points_, false);
      answer["cpu_estimate"] = Json{{"quality", "estimated"},
                                    {"points", Json::parse(points)},
                                    {"idle_watts", core_.options.cpu_model->idle.value()},
                                    {"max_watts", core_.options.cpu_model->max.value()}};
      notes_.push_back(note(
          "cpu_estimate", "CPU power is estimated from the whole machine's utilisation; it is in no total"));
    }
    if (simulated_) notes_.push_back(note("simulated", "simulated power: no real energy was used"));
    answer["notes"] = std::move(notes_);
    auto response = json_answer(200, answer);
    extend(response.body, "series", "[" + series_ + "]");
    return response;
  }

  void add_note(Json extra) { notes_.push_back(std::move(extra)); }

 private:
  /// One more member for an object that is text already.
  static void extend(std::string& object, std::string_view name, std::string_view value) {
    object.pop_back();
    object.append(",\"").append(name).append("\":").append(value).append("}");
  }

  void add_series(const CurveSeries& series) {
    const bool is_sum = series.index < 0;
    std::string points;
    write_points(points, series.points, is_sum);
    Json row{{"key", series_key(series.node_id, series.domain, series.index)},
             {"node_id", series.node_id},
             {"index", series.index},
             {"domain", series.domain},
             {"unit", "watts"}};
    if (is_sum) row["label"] = "sum";
    row["quality"] = series.quality;
    row["power_limit_watts"] = series.limit ? Json(to_watts(*series.limit).value()) : Json(nullptr);
    auto text = json_text(row);
    extend(text, "points", points);
    if (series.quality == "simulated" || series.quality == "mixed") simulated_ = true;
    if (series.domain == kDomainCpuPackage && !series.points.empty()) cpu_measured_ = true;
    if (!series_.empty()) series_ += ',';
    series_ += text;
  }

  const Core& core_;
  const TimeRange& range_;
  UtcRange retained_{};
  Milliseconds bucket_{0};
  bool simulated_ = false;
  bool cpu_measured_ = false;
  std::string series_;  ///< their JSON
  Json gaps_ = Json::array();
  std::vector<CurveBucket> cpu_points_;
  Json notes_ = Json::array();
};

CurveRequest request_for(const Core& core, UtcRange range, std::size_t points) {
  CurveRequest request;
  request.range = range;
  request.points = points;
  request.max_gap = core.options.max_gap;
  request.now = core.clock.utc_now();
  if (core.options.cpu_model) request.cpu_model = &*core.options.cpu_model;
  return request;
}

/// From the first to the last beat in which one of the tasks held a device; nullopt when none did.
std::optional<UtcRange> held_range(const std::vector<ledger::CurvePoint>& points,
                                   const std::set<std::string>& tasks) {
  std::optional<UtcRange> range;
  for (const auto& point : points) {
    const bool held =
        std::any_of(point.devices.begin(), point.devices.end(), [&](const ledger::CurveSample& sample) {
          return std::any_of(sample.holders.begin(), sample.holders.end(),
                             [&](const std::string& id) { return tasks.contains(id); });
        });
    if (!held) continue;
    if (!range) range = UtcRange{point.at, point.at};
    range->end = point.at + Milliseconds{1};
  }
  return range;
}

Status add_held_part(CurvesAnswer& answer, const Core& core, std::string_view node_id,
                     std::vector<ledger::CurvePoint> points, const std::set<std::string>& tasks,
                     std::size_t limit, bool with_sum) {
  const auto range = held_range(points, tasks);
  if (!range) return {};
  std::erase_if(points, [&](const ledger::CurvePoint& point) {
    return point.at < range->begin || point.at >= range->end;
  });
  CurveRequest request = request_for(core, *range, limit);
  request.held_by = &tasks;
  request.with_sum = with_sum;
  return answer.add(node_id, *ledger::read_points(std::move(points)), request);
}

}  // namespace

net::Response get_node_power(Core& core, const Call& call) {
  API_TRY(const auto range, time_range(call, core.clock.utc_now()));
  API_TRY(const auto limit, points_of(call));
  const std::string& node_id = call.ids.at(0);
  const ledger::NodeKey key{call.cluster(), node_id};
  API_TRY(const auto node, core.store.node(key));
  std::set<std::string> own;
  bool visible = node != nullptr;
  if (call.is_tenant()) {
    API_TRY(const auto view, tenant_view(core, call, nullptr));
    visible = visible && view.nodes.contains({key.cluster, key.node_id});
    for (const auto& [cluster, task] : view.tasks)
      if (cluster == key.cluster) own.insert(task);
  }
  if (!visible)
    return problem_answer(
        "not_found", fmt::format("there is no node \"{}\" in cluster \"{}\" (GET /api/v1/nodes lists them)",
                                 node_id, key.cluster));
  CurvesAnswer answer{core, range};
  API_TRY(const auto points, core.store.read_curve(key, answer.retained(), kMostBeats));
  if (call.is_tenant()) {
    API_TRY(auto all, ledger::read_all(*points));
    API_TRY_STATUS(add_held_part(answer, core, node_id, std::move(all), own, limit, false));
  } else {
    API_TRY_STATUS(answer.add(node_id, *points, request_for(core, answer.retained(), limit)));
  }
  return answer.finish(Json{{"node_id", node_id}});
}

net::Response get_task_power(Core& core, const Call& call) {
  API_TRY(const auto range, time_range(call, core.clock.utc_now()));
  API_TRY(const auto limit, points_of(call));
  API_TRY(const auto task, visible_task(core, call));
  API_TRY(const auto accounts,
          core.store.accounts({ledger::Scope::task_device, task.cluster, {task.task_id}, {}}));
  std::set<std::string> nodes;
  for (const auto& account : accounts) nodes.insert(split_part(account.key.part).first);
  CurvesAnswer answer{core, range};
  const std::set<std::string> held_by{task.task_id};
  bool shared = false;
  for (const auto& node_id : nodes) {
    API_TRY(auto points, core.store.curve({task.cluster, node_id}, answer.retained(), kMostBeats));
    for (const auto& point : points)
      for (const auto& sample : point.devices)
        shared =
            shared || (sample.holders.size() > 1 && std::find(sample.holders.begin(), sample.holders.end(),
                                                              task.task_id) != sample.holders.end());
    API_TRY_STATUS(add_held_part(answer, core, node_id, std::move(points), held_by, limit, true));
  }
  if (shared)
    answer.add_note(note("shared_card", "the curve is the whole card's, also where other tasks shared it"));
  return answer.finish(Json{{"task_id", task.task_id}, {"whole_card", true}});
}

}  // namespace tidewatt::api
