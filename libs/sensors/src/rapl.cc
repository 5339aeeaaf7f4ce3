#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tidewatt/metering/counter.h"
#include "tidewatt/sensors/sources.h"
#include "tidewatt/units/text.h"

namespace tidewatt::sensors {
namespace {

constexpr std::string_view kPowercapRoot = "/sys/class/powercap";
constexpr std::string_view kMirror = "intel-rapl-mmio";
constexpr Milliseconds kRediscover{60'000};
// A constraint of 4 kW and more is the kernel's way to say "no limit".
constexpr double kUnlimitedWatts = 4000;
constexpr double kPlausibleFactor = 3;
// A cap may be set far below what the zone can draw, or not be enforced at all.
constexpr Watts kLeastBound{1000};
constexpr int kConstraints = 3;
// Counters below a joule may be equal by chance, above it never.
constexpr std::uint64_t kComparable = 1'000'000;
// Two reads of one counter are some microseconds apart; two counters drift apart for ever.
constexpr std::uint64_t kMirrorSlack = 10'000'000;
constexpr double kMicro = 1e6;
constexpr int kDiesPerPackage = 16;

struct Place {
  std::string domain;
  int index = 0;
};

// "package-1" -> 1, "package-1-die-0" -> 16.
std::optional<int> package_number(std::string_view name) {
  constexpr std::string_view kPackage = "package-";
  constexpr std::string_view kDie = "-die-";
  if (!name.starts_with(kPackage)) return std::nullopt;
  name.remove_prefix(kPackage.size());
  const auto die_at = name.find(kDie);
  const auto package = parse_int64(name.substr(0, die_at));
  if (!package || *package < 0 || *package > 4096) return std::nullopt;
  if (die_at == std::string_view::npos) return static_cast<int>(*package);
  const auto die = parse_int64(name.substr(die_at + kDie.size()));
  if (!die || *die < 0 || *die >= kDiesPerPackage) return std::nullopt;
  return static_cast<int>(*package) * kDiesPerPackage + static_cast<int>(*die);
}

std::string parent_of(std::string_view zone) { return std::string{zone.substr(0, zone.rfind(':'))}; }

class Rapl final : public Source {
 public:
  Rapl(const FileSystem& files, const Clock& clock)
      : files_(files),
        clock_(clock),
        run_(fmt::format("rapl-{}", clock.utc_now().time_since_epoch().count())) {}

  [[nodiscard]] std::string name() const override { return "rapl"; }

  Result<std::vector<Reading>> read() override {
    const auto now = clock_.mono_now();
    if (zones_.empty() || now - discovered_at_ >= kRediscover) TW_TRY_STATUS(discover(now));
    std::vector<Reading> readings;
    readings.reserve(zones_.size());
    for (auto& [path, zone] : zones_) {
      auto reading = read_zone(path, zone);
      zone.mirror = mirrors_another(path, zone);
      if (reading && !zone.mirror) readings.push_back(std::move(*reading));
    }
    return readings;
  }

 private:
  struct Zone {
    std::string name;
    Place place;
    metering::CounterAccumulator counter;
    std::optional<Watts> limit;
    std::optional<std::uint64_t> raw;  ///< of this look
    bool mirror = false;               ///< shows another zone's counter: counted once
  };

  [[nodiscard]] std::optional<std::string> text(const std::string& path) const {
    constexpr std::size_t kMostZoneBytes = 4096;
    const auto content = files_.read_text(path, kMostZoneBytes);
    if (!content) return std::nullopt;
    return std::string{trim(*content)};
  }
  [[nodiscard]] std::optional<std::uint64_t> number(const std::string& path) const {
    const auto content = text(path);
    return content ? parse_uint64(*content) : std::nullopt;
  }

  // Where a zone belongs; nullopt = not reported (core, uncore, unknown names).
  [[nodiscard]] std::optional<Place> place_of(const std::string& zone,
                                              const std::map<std::string, std::string>& names) const {
    const auto& zone_name = names.at(zone);
    if (const auto package = package_number(zone_name))
      return Place{std::string{kDomainCpuPackage}, *package};
    if (zone_name == "psys") return Place{"psys", 0};  // numbered by the caller
    if (zone_name != "dram") return std::nullopt;
    const auto parent = names.find(parent_of(zone));
    const auto package = parent == names.end() ? std::nullopt : package_number(parent->second);
    return Place{std::string{kDomainDram}, package.value_or(0)};
  }

  Status discover(SteadyTime now) {
    const auto entries = files_.list(std::string{kPowercapRoot});
    if (!entries)
      return fail(ErrorCode::not_found, fmt::format("no RAPL: {}", entries.error().message),
                  "virtual machines and most arm64 servers have none; CPU energy is unknown there");
    std::map<std::string, std::string> names;
    for (const auto& entry : *entries) {
      if (entry.find("rapl") == std::string::npos || entry.find(':') == std::string::npos) continue;
      const auto known = zones_.find(fmt::format("{}/{}", kPowercapRoot, entry));
      if (auto zone_name = text(fmt::format("{}/{}/name", kPowercapRoot, entry)))
        names.emplace(entry, std::move(*zone_name));
      else if (known != zones_.end())
        names.emplace(entry, known->second.name);  // a hiccup isn't a new zone
    }
    std::map<std::string, Zone> found;
    std::map<std::pair<std::string, int>, std::string> taken;
    int psys_count = 0;
    // intel-rapl sorts after intel-rapl-mmio: the mirrors have to wait for what they mirror.
    for (const bool mirrors : {false, true})
      for (const auto& [zone, zone_name] : names) {
        if (zone.starts_with(kMirror) != mirrors) continue;
        auto place = place_of(zone, names);
        if (!place) continue;
        if (place->domain == "psys" && !mirrors) place->index = psys_count++;
        if (!taken.try_emplace({place->domain, place->index}, zone).second) continue;
        const auto path = fmt::format("{}/{}", kPowercapRoot, zone);
        if (auto old = zones_.extract(path))
          found.insert(std::move(old));
        else
          found.emplace(path, make_zone(path, zone_name, *place));
      }
    zones_ = std::move(found);
    discovered_at_ = now;
    if (zones_.empty())
      return fail(ErrorCode::not_found, fmt::format("no RAPL: no package zone below {}", kPowercapRoot),
                  "load the module intel_rapl_msr, or live without CPU energy: it is shown as unknown");
    return {};
  }

  [[nodiscard]] Zone make_zone(const std::string& path, const std::string& zone_name,
                               const Place& place) const {
    const auto watts = [&](int constraint, const char* what) -> std::optional<Watts> {
      const auto microwatts = number(fmt::format("{}/constraint_{}_{}_uw", path, constraint, what));
      const double value = microwatts ? static_cast<double>(*microwatts) / kMicro : 0;
      return value > 0 && value < kUnlimitedWatts ? std::optional{Watts{value}} : std::nullopt;
    };
    std::optional<Watts> largest;
    for (int i = 0; i < kConstraints; ++i)
      for (const char* what : {"power_limit", "max_power"})
        if (const auto bound = watts(i, what)) largest = largest ? std::max(*largest, *bound) : *bound;
    const Watts most = largest ? std::max(kPlausibleFactor * *largest, kLeastBound) : Watts{kUnlimitedWatts};
    auto range = number(path + "/max_energy_range_uj");
    if (range == std::uint64_t{0}) range.reset();
    Zone zone{zone_name, place, metering::CounterAccumulator{range, most}, watts(0, "power_limit"),
              {},        false};
    if (!zone.limit) zone.limit = watts(0, "max_power");
    return zone;
  }

  // Some boards show one counter under two dies or sockets. What comes first counts.
  [[nodiscard]] bool mirrors_another(const std::string& path, const Zone& zone) const {
    if (!zone.raw) return zone.mirror;
    for (const auto& [other_path, other] : zones_) {
      if (other_path == path) return false;
      if (other.place.domain != zone.place.domain || other.mirror || !other.raw) continue;
      const auto apart = *other.raw > *zone.raw ? *other.raw - *zone.raw : *zone.raw - *other.raw;
      if (zone.mirror ? apart <= kMirrorSlack : apart == 0 && *zone.raw > kComparable) return true;
    }
    return false;
  }

  // nullopt: the counter hasn't moved since the last look, there is nothing new to say.
  std::optional<Reading> read_zone(const std::string& path, Zone& zone) {
    Reading reading;
    reading.domain = zone.place.domain;
    reading.index = zone.place.index;
    reading.power_limit = zone.limit;
    reading.source = name();
    const auto content = files_.read_text(path + "/energy_uj", 4096);
    reading.at = clock_.mono_now();
    const auto raw = content ? parse_uint64(trim(*content)) : std::nullopt;
    zone.raw = raw;
    if (!raw) {
      zone.counter.note_failure();
      // A zone that went away may come back elsewhere.
      if (!content && content.error().code == ErrorCode::not_found) discovered_at_ = reading.at - kRediscover;
      reading.reason = content ? fmt::format("{}/energy_uj: {}", path,
                                             trim(*content).empty() ? "is empty" : "not a number")
                               : explain(content.error());
      return reading;
    }
    const auto step = zone.counter.update(*raw, reading.at);
    if (step.unchanged) return std::nullopt;
    reading.power = step.power;
    reading.reason = step.reason;
    if (step.total) reading.energy_total = to_joules(*step.total);
    reading.counter_epoch = fmt::format("{}-{}", run_, step.epoch);
    return reading;
  }

  static std::string explain(const Error& error) {
    if (error.code != ErrorCode::permission_denied) return error.message;
    return error.message +
           " (since Linux 5.10 only root may read it: run the agent as root or give it CAP_DAC_READ_SEARCH)";
  }

  const FileSystem& files_;
  const Clock& clock_;
  std::string run_;
  std::map<std::string, Zone> zones_;
  SteadyTime discovered_at_{};
};

}  // namespace

std::unique_ptr<Source> make_rapl(const FileSystem& files, const Clock& clock) {
  return std::make_unique<Rapl>(files, clock);
}

}  // namespace tidewatt::sensors
