#include "curve_codec.h"

#include "codec.h"

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

bool read(ByteReader& r, CurveSample& s, const IdToName& name_of) {
  const auto* domain = name_of(r.i64());
  if (domain == nullptr) return false;
  s.domain = *domain;
  s.index = static_cast<int>(r.i64());
  const auto bits = r.u64();
  const auto quality = bits >> kQualityShift;
  if (quality > static_cast<std::uint64_t>(Quality::simulated)) return false;
  s.quality = static_cast<Quality>(quality);
  if ((bits & kPower) != 0) s.power = Milliwatts{r.i64()};
  const std::int64_t base = s.power ? s.power->n : 0;
  if ((bits & kMin) != 0) s.power_min = Milliwatts{base - r.i64()};
  if ((bits & kMax) != 0) s.power_max = Milliwatts{base + r.i64()};
  if ((bits & kLimit) != 0) s.power_limit = Milliwatts{r.i64()};
  if ((bits & kHolders) != 0) {
    const auto count = r.count();
    s.holders.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto* holder = name_of(r.i64());
      if (holder == nullptr) return false;
      s.holders.push_back(*holder);
    }
  }
  if ((bits & kHealth) != 0) s.health = read_health(r);
  return r.ok();
}

}  // namespace

void encode_point(const CurvePoint& point, const NameToId& id_of, std::string& out) {
  ByteWriter w(out);
  w.byte(point.cpu_util ? kHasCpuUtil : 0);
  if (point.cpu_util) w.real(*point.cpu_util);
  w.u64(point.devices.size());
  for (const auto& sample : point.devices) write(w, sample, id_of);
}

Result<CurvePoint> decode_point(UtcTime at, std::string_view bytes, const IdToName& name_of) {
  ByteReader r(bytes);
  CurvePoint point;
  point.at = at;
  const auto head = r.byte();
  bool good = head <= kHasCpuUtil;
  if (good && (head & kHasCpuUtil) != 0) point.cpu_util = r.real();
  point.devices.resize(good ? r.count() : 0);
  for (auto& sample : point.devices) good = good && read(r, sample, name_of);
  if (!good || !r.finished())
    return fail(ErrorCode::corrupt, "curve point at " + format_rfc3339(at) + " is garbled",
                "run: tidewatt doctor");
  return point;
}

}  // namespace tidewatt::store
