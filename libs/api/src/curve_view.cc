#include "curve_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tidewatt::api {
namespace {

using ledger::CurvePoint;
using ledger::CurveSample;

/// Collects samples into buckets that come in time order.
class Buckets {
 public:
  Buckets(UtcTime begin, Milliseconds width) : begin_(begin), width_(width) {}

  void add(UtcTime at, double mean, double min, double max, int known = 0, int total = 0) {
    const std::int64_t slot =
        width_.count() > 0 ? (at - begin_) / width_ : static_cast<std::int64_t>(made_++);
    if (out_.empty() || slot != slot_) {
      finish();
      out_.push_back({at, 0, min, max, known, total});
      slot_ = slot;
      count_ = 0;
      sum_ = 0;
      offsets_ = Milliseconds{0};
    }
    CurveBucket& bucket = out_.back();
    ++count_;
    sum_ += mean;
    offsets_ += at - begin_;
    bucket.min = std::min(bucket.min, min);
    bucket.max = std::max(bucket.max, max);
    if (known < bucket.known) bucket.known = known;
    bucket.total = std::max(bucket.total, total);
  }
  std::vector<CurveBucket> take() {
    finish();
    return std::move(out_);
  }

 private:
  void finish() {
    if (out_.empty() || count_ == 0) return;
    out_.back().mean = sum_ / static_cast<double>(count_);
    out_.back().at = begin_ + offsets_ / count_;
    count_ = 0;
  }
  UtcTime begin_;
  Milliseconds width_;
  std::vector<CurveBucket> out_;
  std::int64_t slot_ = 0;
  std::int64_t count_ = 0;
  std::uint64_t made_ = 0;
  double sum_ = 0;
  Milliseconds offsets_{0};
};

double as_watts(Milliwatts power) { return to_watts(power).value(); }

bool held_by(const CurveSample& sample, const std::set<std::string>& tasks) {
  return std::any_of(sample.holders.begin(), sample.holders.end(),
                     [&tasks](const std::string& holder) { return tasks.contains(holder); });
}

/// The bucket's width: 0 while every beat can be a point of its own.
Milliseconds bucket_width(const CurveRequest& request, std::size_t beats) {
  if (beats <= request.points) return Milliseconds{0};
  const auto points = static_cast<std::int64_t>(request.points);
  return Milliseconds{(request.range.length().count() + points - 1) / points};
}

class GapFinder {
 public:
  GapFinder(const CurveRequest& request, Milliseconds threshold) : request_(request), threshold_(threshold) {}

  /// Silence of the whole node.
  void silence(const std::vector<UtcTime>& times, std::vector<CurveGap>& gaps) const {
    const UtcTime end = std::min(request_.range.end, request_.now);
    UtcTime last = request_.range.begin;
    for (const auto at : times) {
      if (at - last > threshold_) gaps.push_back({{last, at}, true, {}, at - last});
      last = at;
    }
    if (end - last > threshold_) gaps.push_back({{last, end}, true, {}, end - last});
  }

 private:
  const CurveRequest& request_;
  Milliseconds threshold_;
};

/// One device's unknown stretches: from its last known sample to its next.
struct UnknownStretch {
  std::optional<UtcTime> last_known;
  std::optional<UtcTime> since;
  Milliseconds lasting{0};  ///< of the beats without a value since then
};

struct DeviceKey {
  std::string domain;
  int index;
  friend auto operator<=>(const DeviceKey&, const DeviceKey&) = default;
};
struct DeviceState {
  explicit DeviceState(Buckets b) : buckets(std::move(b)) {}
  Buckets buckets;
  std::optional<Milliwatts> limit;
  std::set<std::string_view> qualities;
  Quality last_quality = Quality::measured;
  UnknownStretch unknown;
  bool any = false;
};

void close_unknown(const std::string& key, UnknownStretch& stretch, UtcTime until, Milliseconds join,
                   std::vector<CurveGap>& gaps, std::map<std::string, std::size_t>& last_gap) {
  const Milliseconds lasting = std::exchange(stretch.lasting, Milliseconds{0});
  if (!stretch.since || until <= *stretch.since) {
    stretch.since.reset();
    return;
  }
  // Stretches nearer to each other than a bucket can't be told apart in a chart.
  if (const auto found = last_gap.find(key);
      found != last_gap.end() && *stretch.since - gaps[found->second].range.end < join) {
    gaps[found->second].range.end = until;
    gaps[found->second].lasting += lasting;
  } else {
    last_gap[key] = gaps.size();
    gaps.push_back({{*stretch.since, until}, false, key, lasting});
  }
  stretch.since.reset();
}

/// The estimate of the node's CPU, of beats that the request lets through.
class CpuCurve {
 public:
  CpuCurve(const CurveRequest& request, Buckets empty) : request_(request), buckets_(std::move(empty)) {}
  void add(const CurvePoint& point) {
    if (request_.cpu_model == nullptr) return;
    if (request_.held_by != nullptr &&
        std::none_of(point.devices.begin(), point.devices.end(),
                     [&](const CurveSample& sample) { return held_by(sample, *request_.held_by); }))
      return;
    if (const auto power = carbon::estimate_cpu_power(*request_.cpu_model, point.cpu_util))
      buckets_.add(point.at, power->value(), power->value(), power->value());
  }
  std::vector<CurveBucket> take() { return buckets_.take(); }

 private:
  const CurveRequest& request_;
  Buckets buckets_;
};

}  // namespace

std::string series_key(std::string_view node_id, std::string_view domain, int index) {
  return index < 0 ? fmt::format("{}/{}/sum", node_id, domain)
                   : fmt::format("{}/{}/{}", node_id, domain, index);
}

Result<NodeCurves> node_curves(std::string_view node_id, ledger::CurveReader& reader,
                               const CurveRequest& request) {
  NodeCurves result;
  const auto& times = reader.times();
  result.bucket = bucket_width(request, times.size());
  result.downsampled = result.bucket.count() > 0;
  const Milliseconds threshold = std::max(request.max_gap, result.bucket * 5 / 2);

  std::map<DeviceKey, DeviceState> devices;
  // A range holds a quarter of a million samples: beat after beat lists the same devices in the same order.
  std::vector<std::pair<const DeviceKey, DeviceState>*> in_order;
  std::map<std::string, Buckets, std::less<>> sums;
  std::map<std::string, std::size_t> last_gap;
  const Buckets empty{request.range.begin, result.bucket};
  std::optional<UtcTime> previous;
  const auto length = [&request](UtcTime from, UtcTime to) { return std::min(to - from, request.max_gap); };
  CpuCurve cpu{request, empty};
  while (true) {
    TW_TRY(const auto* next, reader.next());
    if (next == nullptr) break;
    const CurvePoint& point = *next;
    cpu.add(point);
    const Milliseconds since_last = previous ? length(*previous, point.at) : Milliseconds{0};
    previous = point.at;
    struct Sum {
      double mean = 0, min = 0, max = 0;
      int known = 0, total = 0;
    };
    std::vector<std::pair<std::string_view, Sum>> now;  // a handful of domains
    in_order.resize(std::max(in_order.size(), point.devices.size()));
    for (std::size_t i = 0; i < point.devices.size(); ++i) {
      const auto& sample = point.devices[i];
      if (request.held_by != nullptr && !held_by(sample, *request.held_by)) continue;
      auto*& place = in_order[i];
      if (place == nullptr || place->first.index != sample.index || place->first.domain != sample.domain)
        place = &*devices.try_emplace(DeviceKey{sample.domain, sample.index}, DeviceState{empty}).first;
      DeviceState& device = place->second;
      if (sample.power_limit) device.limit = sample.power_limit;
      auto found =
          std::find_if(now.begin(), now.end(), [&](const auto& d) { return d.first == sample.domain; });
      if (found == now.end()) found = now.insert(now.end(), {sample.domain, Sum{}});
      Sum& sum = found->second;
      ++sum.total;
      const auto name = [&] { return series_key(node_id, sample.domain, sample.index); };
      if (!sample.power) {
        if (!device.unknown.since) device.unknown.since = device.unknown.last_known.value_or(point.at);
        device.unknown.lasting += since_last;
        continue;
      }
      if (device.unknown.since)
        close_unknown(name(), device.unknown, point.at, result.bucket, result.gaps, last_gap);
      if (request.held_by == nullptr && device.unknown.last_known &&
          point.at - *device.unknown.last_known > threshold) {
        // The node spoke in between, but not of this device.
        const auto since = *device.unknown.last_known;
        const auto between = std::upper_bound(times.begin(), times.end(), since);
        if (between != times.end() && *between < point.at) {
          device.unknown.since = since;
          UtcTime last = since;
          for (auto other = between; other != times.end() && *other < point.at; ++other) {
            device.unknown.lasting += length(last, *other);
            last = *other;
          }
          close_unknown(name(), device.unknown, point.at, result.bucket, result.gaps, last_gap);
        }
      }
      device.unknown.last_known = point.at;
      device.any = true;
      if (device.qualities.empty() || device.last_quality != sample.quality)
        device.qualities.insert(to_string(sample.quality));
      device.last_quality = sample.quality;
      const double mean = as_watts(*sample.power);
      const double min = sample.power_min ? std::min(mean, as_watts(*sample.power_min)) : mean;
      const double max = sample.power_max ? std::max(mean, as_watts(*sample.power_max)) : mean;
      device.buckets.add(point.at, mean, min, max);
      sum.known += 1;
      sum.mean += mean;
      sum.min += mean;
      sum.max += mean;
    }
    if (!request.with_sum) continue;
    // The whole-machine meter is one already.
    for (const auto& [domain, sum] : now) {
      if (sum.known == 0 || domain == kDomainPlatform) continue;
      auto place = sums.find(domain);
      if (place == sums.end()) place = sums.emplace(std::string{domain}, empty).first;
      place->second.add(point.at, sum.mean, sum.min, sum.max, sum.known, sum.total);
    }
  }
  const UtcTime end = times.empty() ? request.range.begin : times.back();
  for (auto& [key, device] : devices) {
    close_unknown(series_key(node_id, key.domain, key.index), device.unknown, end, result.bucket, result.gaps,
                  last_gap);
    const std::string quality = device.qualities.empty()       ? "measured"
                                : device.qualities.size() == 1 ? std::string{*device.qualities.begin()}
                                                               : "mixed";
    result.series.push_back(
        {std::string{node_id}, key.index, key.domain, quality, device.limit, device.buckets.take()});
  }
  for (auto& [domain, buckets] : sums) {
    std::set<std::string> qualities;
    for (const auto& series : result.series)
      if (series.domain == domain && !series.points.empty()) qualities.insert(series.quality);
    result.series.push_back({std::string{node_id}, -1, domain,
                             qualities.size() == 1 ? *qualities.begin() : "mixed", std::nullopt,
                             buckets.take()});
  }
  GapFinder{request, threshold}.silence(times, result.gaps);
  std::sort(result.gaps.begin(), result.gaps.end(),
            [](const CurveGap& a, const CurveGap& b) { return a.range.begin < b.range.begin; });
  result.cpu_points = cpu.take();
  return result;
}

Json point_json(const CurveBucket& bucket, bool with_counts) {
  Json point = Json::array({bucket.at.time_since_epoch().count(), shown_watts(bucket.mean),
                            shown_watts(bucket.min), shown_watts(bucket.max)});
  if (with_counts) {
    point.push_back(bucket.known);
    point.push_back(bucket.total);
  }
  return point;
}

}  // namespace tidewatt::api
