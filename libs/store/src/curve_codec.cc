#include "curve_codec.h"

namespace tidewatt::store {
namespace {

using ledger::CurvePoint;
using ledger::CurveSample;

constexpr std::uint8_t kHasCpuUtil = 1;  // the rest of the first byte is the format's version, now 0

// What a sample holds, one bit each; above them 2 bits of quality.
constexpr std::uint64_t kPower = 1, kMin = 2, kMax = 4, kLimit = 8, kHealth = 16, kHolders = 32;
constexpr unsigned kQualityShift = 6;
constexpr std::uint8_t kTemperature = 1, kThrottle = 2, kEcc = 4, kXid = 8;

void write(ByteWriter& w, const Health& h) {
  w.byte(static_cast<std::uint8_t>((h.temperature_c ? kTemperature : 0) |
                                   (h.throttle_reasons ? kThrottle : 0) | (h.ecc_errors ? kEcc : 0) |
                                   (h.xid_errors ? kXid : 0)));
  if (h.temperature_c) w.real(*h.temperature_c);
  if (h.throttle_reasons) w.u64(*h.throttle_reasons);
  if (h.ecc_errors) w.i64(*h.ecc_errors);
  if (h.xid_errors) w.i64(*h.xid_errors);
}

Health read_health(ByteReader& r) {
  Health h;
  const auto bits = r.byte();
  if ((bits & kTemperature) != 0) h.temperature_c = r.real();
  if ((bits & kThrottle) != 0) h.throttle_reasons = r.u64();
  if ((bits & kEcc) != 0) h.ecc_errors = r.i64();
  if ((bits & kXid) != 0) h.xid_errors = r.i64();
  return h;
}

void write(ByteWriter& w, const CurveSample& s, const NameToId& id_of) {
  w.i64(id_of(s.domain));
  w.i64(s.index);
  w.u64((s.power ? kPower : 0U) | (s.power_min ? kMin : 0U) | (s.power_max ? kMax : 0U) |
        (s.power_limit ? kLimit : 0U) | (s.health ? kHealth : 0U) | (s.holders.empty() ? 0U : kHolders) |
        (static_cast<std::uint64_t>(s.quality) << kQualityShift));
  // Minimum and maximum lie near the mean: the difference is short.
  const std::int64_t base = s.power ? s.power->n : 0;
  if (s.power) w.i64(s.power->n);
  if (s.power_min) w.i64(base - s.power_min->n);
  if (s.power_max) w.i64(s.power_max->n - base);
  if (s.power_limit) w.i64(s.power_limit->n);
  if (!s.holders.empty()) {
    w.u64(s.holders.size());
    for (const auto& holder : s.holders) w.i64(id_of(holder));
  }
  if (s.health) write(w, *s.health);
}

}  // namespace

void encode_point(const CurvePoint& point, const NameToId& id_of, std::string& out) {
  ByteWriter w(out);
  w.byte(point.cpu_util ? kHasCpuUtil : 0);
  if (point.cpu_util) w.real(*point.cpu_util);
  w.u64(point.devices.size());
  for (const auto& sample : point.devices) write(w, sample, id_of);
}

bool PointDecoder::read(ByteReader& r, CurveSample& s, Texts& texts) {
  const auto domain = r.i64();
  if (domain != texts.domain || s.domain.empty()) {
    const auto* name = name_of_(domain);
    if (name == nullptr) return false;
    s.domain = *name;
    texts.domain = domain;
  }
  s.index = static_cast<int>(r.i64());
  const auto bits = r.u64();
  const auto quality = bits >> kQualityShift;
  if (quality > static_cast<std::uint64_t>(Quality::simulated)) return false;
  s.quality = static_cast<Quality>(quality);
  const auto power = [&r, bits](std::uint64_t bit, std::int64_t base, std::int64_t sign) {
    return (bits & bit) != 0 ? std::optional{Milliwatts{base + sign * r.i64()}} : std::nullopt;
  };
  s.power = power(kPower, 0, 1);
  const std::int64_t base = s.power ? s.power->n : 0;
  s.power_min = power(kMin, base, -1);
  s.power_max = power(kMax, base, 1);
  s.power_limit = power(kLimit, 0, 1);
  holders_.clear();
  if ((bits & kHolders) != 0)
    for (auto n = r.count(); n > 0; --n) holders_.push_back(r.i64());
  if (holders_ != texts.holders) {
    std::vector<std::string> ids;
    ids.reserve(holders_.size());
    for (const auto holder : holders_) {
      const auto* name = name_of_(holder);
      if (name == nullptr) return false;
      ids.push_back(*name);
    }
    s.holders = ledger::TaskSet{std::move(ids)};
    texts.holders = holders_;
  }
  s.health.reset();
  if ((bits & kHealth) != 0) s.health = read_health(r);
  return r.ok();
}

Result<const CurvePoint*> PointDecoder::decode(UtcTime at, std::string_view bytes) {
  ByteReader r(bytes);
  point_.at = at;
  point_.cpu_util.reset();
  const auto head = r.byte();
  bool good = head <= kHasCpuUtil;
  if (good && (head & kHasCpuUtil) != 0) point_.cpu_util = r.real();
  point_.devices.resize(good ? r.count() : 0);
  texts_.resize(point_.devices.size());
  for (std::size_t i = 0; i < texts_.size(); ++i) good = good && read(r, point_.devices[i], texts_[i]);
  if (!good || !r.finished())
    return fail(ErrorCode::corrupt, "curve point at " + format_rfc3339(at) + " is garbled",
                "run: tidewatt doctor");
  return &point_;
}

void StoredCurve::adopt(std::string bytes, std::size_t points) {
  bytes_ = std::move(bytes);
  times_.reserve(points);
  places_.reserve(points);
}

void StoredCurve::add_adopted(UtcTime at, std::size_t begin, std::size_t size) {
  times_.push_back(at);
  places_.push_back({begin, size});
}

void StoredCurve::add(UtcTime at, std::string_view bytes) {
  add_adopted(at, bytes_.size(), bytes.size());
  bytes_.append(bytes);
}

Result<const CurvePoint*> StoredCurve::next() {
  if (next_ == times_.size()) return nullptr;
  const auto& place = places_[next_];
  return decoder_.decode(times_[next_++], std::string_view(bytes_).substr(place.begin, place.size));
}

}  // namespace tidewatt::store
