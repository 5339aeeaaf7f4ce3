#include "curve_view.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
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
  DeviceState(Buckets b, std::size_t d) : buckets(std::move(b)), domain(d) {}
  Buckets buckets;
  std::size_t domain;  ///< its place in the list of domains
  std::optional<Milliwatts> limit;
  std::set<std::string_view> qualities;
  Quality last_quality = Quality::measured;
  UnknownStretch unknown;
};
/// A domain's known devices together, beat by beat.
struct DomainSum {
  std::string domain;
  Buckets buckets;
  double watts = 0;  ///< of the beat that is being added
  int known = 0, total = 0;
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

/// One node's curves, point after point.
class CurveMaker {
 public:
  CurveMaker(std::string_view node_id, const CurveRequest& request, const std::vector<UtcTime>& times)
      : node_id_(node_id), request_(request), times_(times) {
    result_.bucket = bucket_width(request, times.size());
    result_.downsampled = result_.bucket.count() > 0;
    threshold_ = std::max(request.max_gap, result_.bucket * 5 / 2);
    empty_.emplace(request.range.begin, result_.bucket);
    cpu_.emplace(request, *empty_);
  }

  void add(const CurvePoint& point) {
    cpu_->add(point);
    const Milliseconds since_last = previous_ ? length(*previous_, point.at) : Milliseconds{0};
    previous_ = point.at;
    in_order_.resize(std::max(in_order_.size(), point.devices.size()));
    for (std::size_t i = 0; i < point.devices.size(); ++i) {
      const auto& sample = point.devices[i];
      if (request_.held_by != nullptr && !held_by(sample, *request_.held_by)) continue;
      auto*& place = in_order_[i];
      if (place == nullptr || place->first.index != sample.index || place->first.domain != sample.domain)
        place = &*find(sample);
      add_sample(place->second, sample, point.at, since_last);
    }
    add_sums(point.at);
  }

  NodeCurves finish() {
    const UtcTime end = times_.empty() ? request_.range.begin : times_.back();
    for (auto& [key, device] : devices_) {
      close_unknown(series_key(node_id_, key.domain, key.index), device.unknown, end, result_.bucket,
                    result_.gaps, last_gap_);
      const std::string quality = device.qualities.empty()       ? "measured"
                                  : device.qualities.size() == 1 ? std::string{*device.qualities.begin()}
                                                                 : "mixed";
      result_.series.push_back(
          {std::string{node_id_}, key.index, key.domain, quality, device.limit, device.buckets.take()});
    }
    finish_sums();
    GapFinder{request_, threshold_}.silence(times_, result_.gaps);
    std::sort(result_.gaps.begin(), result_.gaps.end(),
              [](const CurveGap& a, const CurveGap& b) { return a.range.begin < b.range.begin; });
    result_.cpu_points = cpu_->take();
    return std::move(result_);
  }

 private:
  using Devices = std::map<DeviceKey, DeviceState>;

  [[nodiscard]] Milliseconds length(UtcTime from, UtcTime to) const {
    return std::min(to - from, request_.max_gap);
  }

  Devices::iterator find(const CurveSample& sample) {
    auto domain = std::find_if(domains_.begin(), domains_.end(),
                               [&](const DomainSum& d) { return d.domain == sample.domain; });
    if (domain == domains_.end()) domain = domains_.insert(domain, DomainSum{sample.domain, *empty_});
    return devices_
        .try_emplace(DeviceKey{sample.domain, sample.index}, *empty_,
                     static_cast<std::size_t>(domain - domains_.begin()))
        .first;
  }

  void add_sample(DeviceState& device, const CurveSample& sample, UtcTime at, Milliseconds since_last) {
    if (sample.power_limit) device.limit = sample.power_limit;
    DomainSum& sum = domains_[device.domain];
    ++sum.total;
    if (!sample.power) {
      if (!device.unknown.since) device.unknown.since = device.unknown.last_known.value_or(at);
      device.unknown.lasting += since_last;
      return;
    }
    if (device.unknown.since) close(device, sample, at);
    if (request_.held_by == nullptr && device.unknown.last_known &&
        at - *device.unknown.last_known > threshold_)
      note_unmentioned(device, sample, at);
    device.unknown.last_known = at;
    if (device.qualities.empty() || device.last_quality != sample.quality)
      device.qualities.insert(to_string(sample.quality));
    device.last_quality = sample.quality;
    const double mean = as_watts(*sample.power);
    const double min = sample.power_min ? std::min(mean, as_watts(*sample.power_min)) : mean;
    const double max = sample.power_max ? std::max(mean, as_watts(*sample.power_max)) : mean;
    device.buckets.add(at, mean, min, max);
    ++sum.known;
    sum.watts += mean;
  }

  void close(DeviceState& device, const CurveSample& sample, UtcTime until) {
    close_unknown(series_key(node_id_, sample.domain, sample.index), device.unknown, until, result_.bucket,
                  result_.gaps, last_gap_);
  }

  /// The node spoke since the device's last value, but not of this device.
  void note_unmentioned(DeviceState& device, const CurveSample& sample, UtcTime at) {
    const auto since = *device.unknown.last_known;
    const auto between = std::upper_bound(times_.begin(), times_.end(), since);
    if (between == times_.end() || *between >= at) return;
    device.unknown.since = since;
    UtcTime last = since;
    for (auto other = between; other != times_.end() && *other < at; ++other) {
      device.unknown.lasting += length(last, *other);
      last = *other;
    }
    close(device, sample, at);
  }

  void add_sums(UtcTime at) {
    for (auto& sum : domains_) {
      // The whole-machine meter is one already.
      if (request_.with_sum && sum.known > 0 && sum.domain != kDomainPlatform)
        sum.buckets.add(at, sum.watts, sum.watts, sum.watts, sum.known, sum.total);
      sum.watts = 0;
      sum.known = sum.total = 0;
    }
  }

  void finish_sums() {
    std::sort(domains_.begin(), domains_.end(),
              [](const DomainSum& a, const DomainSum& b) { return a.domain < b.domain; });
    for (auto& sum : domains_) {
      auto points = sum.buckets.take();
      if (points.empty()) continue;
      std::set<std::string> qualities;
      for (const auto& series : result_.series)
        if (series.domain == sum.domain && !series.points.empty()) qualities.insert(series.quality);
      result_.series.push_back({std::string{node_id_}, -1, sum.domain,
                                qualities.size() == 1 ? *qualities.begin() : "mixed", std::nullopt,
                                std::move(points)});
    }
  }

  std::string_view node_id_;
  const CurveRequest& request_;
  const std::vector<UtcTime>& times_;
  NodeCurves result_;
  Milliseconds threshold_{0};
  std::optional<Buckets> empty_;
  std::optional<CpuCurve> cpu_;
  Devices devices_;
  // A range holds a quarter of a million samples: beat after beat lists the same devices in the same order.
  std::vector<Devices::value_type*> in_order_;
  std::vector<DomainSum> domains_;  ///< a handful
  std::map<std::string, std::size_t> last_gap_;
  std::optional<UtcTime> previous_;
};

/// With three decimals at most, as shown_watts() does: most of a page's bytes are these numbers.
void write_watts(std::string& out, double watts) {
  constexpr double kMilli = 1'000;
  constexpr double kExact = 1e12;
  if (!(std::abs(watts) < kExact)) {
    fmt::format_to(std::back_inserter(out), "{}", shown_watts(watts));
    return;
  }
  const auto milliwatts = std::llround(watts * kMilli);
  const auto rest = std::abs(milliwatts % 1'000);
  if (milliwatts < 0 && milliwatts > -1'000) out += '-';
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), milliwatts / 1'000);
  if (rest == 0) return;
  const char digits[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                         static_cast<char>('0' + rest % 10)};
  std::string_view shown{digits, 4};
  while (shown.back() == '0') shown.remove_suffix(1);
  out += shown;
}

}  // namespace

std::string series_key(std::string_view node_id, std::string_view domain, int index) {
  return index < 0 ? fmt::format("{}/{}/sum", node_id, domain)
                   : fmt::format("{}/{}/{}", node_id, domain, index);
}

Result<NodeCurves> node_curves(std::string_view node_id, ledger::CurveReader& reader,
                               const CurveRequest& request) {
  CurveMaker maker{node_id, request, reader.times()};
  while (true) {
    TW_TRY(const auto* next, reader.next());
    if (next == nullptr) return maker.finish();
    maker.add(*next);
  }
}

void write_points(std::string& out, const std::vector<CurveBucket>& points, bool with_counts) {
  constexpr std::size_t kUsualBytes = 48;
  out.reserve(out.size() + points.size() * kUsualBytes);
  out += '[';
  for (const auto& bucket : points) {
    if (out.back() == ']') out += ',';
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("[{}"), bucket.at.time_since_epoch().count());
    for (const double watts : {bucket.mean, bucket.min, bucket.max}) {
      out += ',';
      write_watts(out, watts);
    }
    if (with_counts)
      fmt::format_to(std::back_inserter(out), FMT_COMPILE(",{},{}"), bucket.known, bucket.total);
    out += ']';
  }
  out += ']';
}

}  // namespace tidewatt::api
