#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

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
// One that differs for a moment is a hiccup of its file, not a second counter.
constexpr Milliseconds kPartsAfter{5'000};
// Two counters may meet by chance; twice in a row, moving, they don't.
constexpr int kJoinsAfter = 2;
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
      if (zone.gone) {
        readings.push_back(vanished(path, zone));
        continue;
      }
      auto reading = read_zone(path, zone);
      zone.mirrors = mirrored_by(path, zone, reading.at);
      if (!zone.mirrors.empty())
        zone.counter.note_failure();  // should they part, it begins anew: what lies before was the other's
      else if (!zone.raw || !zone.unplaced.empty() || count(zone, reading))
        readings.push_back(std::move(reading));
    }
    return readings;
  }

  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    for (const auto& [path, zone] : zones_)
      if (!zone.mirrors.empty())
        notes.push_back(fmt::format("{} ({}) shows the counter of {}: left out, counted once", path,
                                    zone.name.empty() ? "unnamed" : zone.name, zone.mirrors));
    return notes;
  }

 private:
  struct Zone {
    std::string name;
    Place place;
    metering::CounterAccumulator counter{std::nullopt, Watts{kUnlimitedWatts}};
    std::optional<Watts> limit;
    std::optional<std::uint64_t> raw;  ///< of this look
    std::optional<std::uint64_t> raw_before;
    std::string mirrors;                    ///< the zone whose counter it shows: counted once; empty = none
    std::optional<SteadyTime> apart_since;  ///< while it is a mirror all the same
    bool mirrored_once = false;
    int met = 0;             ///< looks in a row with the same value as another zone
    std::string unplaced;    ///< why nobody knows what it measures; empty = that is known
    bool same_name = false;  ///< another zone before it has its name
    bool gone = false;       ///< was there before, isn't now
  };

  using Places = std::map<std::pair<std::string, int>, std::string>;  // -> zone
  using Names = std::map<std::string, std::string>;                   // of zones; empty = can't be read

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

  // Core and uncore are inside the package.
  static bool is_inside_another(std::string_view zone_name) {
    return zone_name == "core" || zone_name == "uncore";
  }

  static bool is_top(std::string_view zone) { return zone.find(':') == zone.rfind(':'); }

  [[nodiscard]] Names names_of(const std::vector<std::string>& entries) const {
    Names names;
    for (const auto& entry : entries) {
      if (entry.find("rapl") == std::string::npos || entry.find(':') == std::string::npos) continue;
      const auto path = fmt::format("{}/{}", kPowercapRoot, entry);
      auto zone_name = text(path + "/name").value_or("");
      // A hiccup isn't a new zone.
      if (const auto known = zones_.find(path); zone_name.empty() && known != zones_.end())
        zone_name = known->second.name;
      names.emplace(entry, std::move(zone_name));
    }
    return names;
  }

  static int free_index(const Places& taken, const std::string& domain, int wanted) {
    while (taken.contains({domain, wanted})) ++wanted;
    return wanted;
  }

  // The number of the package that a zone below it belongs to.
  static int package_of(const std::string& zone, const Names& names, const Places& taken) {
    const auto package = parent_of(zone);
    for (const auto& [place, owner] : taken)
      if (owner == package && place.first == kDomainCpuPackage) return place.second;
    const auto parent = names.find(package);
    return parent == names.end() ? 0 : package_number(parent->second).value_or(0);
  }

  // Where a zone belongs; nullopt = not reported.
  static std::optional<Place> place_of(const std::string& zone, const Names& names, const Places& taken) {
    const std::string_view zone_name = names.at(zone);
    if (const auto package = package_number(zone_name))
      return Place{std::string{kDomainCpuPackage}, *package};
    // A board may have several.
    if (zone_name == "psys")
      return Place{"psys", zone.starts_with(kMirror) ? 0 : free_index(taken, "psys", 0)};
    if (zone_name == "dram") return Place{std::string{kDomainDram}, package_of(zone, names, taken)};
    return std::nullopt;
  }

  /// A zone that may be what the total needs: the worst case is taken for it, so that it is missed.
  static std::optional<Place> place_of_unnamed(const std::string& zone, const Names& names,
                                               const Places& taken, const std::set<std::string>& with_dram) {
    const auto number = parse_int64(zone.substr(zone.rfind(':') + 1)).value_or(0);
    const int wanted = number >= 0 && number < 4096 ? static_cast<int>(number) : 0;
    const std::string package{kDomainCpuPackage};
    if (is_top(zone)) return Place{package, free_index(taken, package, wanted)};
    if (with_dram.contains(parent_of(zone))) return std::nullopt;  // so it is a part of the package
    const std::string dram{kDomainDram};
    return Place{dram, free_index(taken, dram, package_of(zone, names, taken))};
  }

  [[nodiscard]] std::string why_unnamed(const std::string& path) const {
    const auto content = files_.read_text(path + "/name", 4096);
    if (!content) return fmt::format("what this zone measures isn't known: {}", content.error().message);
    return fmt::format("what this zone measures isn't known: {}/name {}", path,
                       trim(*content).empty() ? "is empty" : "holds no known name");
  }

  void take_in(const std::string& zone, const std::string& zone_name, bool named, Place where, Places& taken,
               std::map<std::string, Zone>& found) {
    const auto path = fmt::format("{}/{}", kPowercapRoot, zone);
    const auto first = taken.find({where.domain, where.index});
    const bool same_name = first != taken.end();
    std::string unplaced;
    if (same_name) {
      // The memory-mapped zones show what the others show.
      if (zone.starts_with(kMirror)) return;
      unplaced =
          fmt::format("{} and {} are both named {}, with different counters: which is which isn't known",
                      first->second, zone, zone_name);
      where.index = free_index(taken, where.domain, where.index);
    } else if (!named) {
      unplaced = why_unnamed(path);
    }
    taken.try_emplace({where.domain, where.index}, zone);
    auto old = zones_.extract(path);
    if (old && !old.mapped().gone && old.mapped().name == zone_name) {
      old.mapped().place = where;
      old.mapped().unplaced = std::move(unplaced);
      old.mapped().same_name = same_name;
      found.insert(std::move(old));
      return;
    }
    auto zone_made = make_zone(path, zone_name, where);
    zone_made.unplaced = std::move(unplaced);
    zone_made.same_name = same_name;
    found.emplace(path, std::move(zone_made));
  }

  Status discover(SteadyTime now) {
    const auto entries = files_.list(std::string{kPowercapRoot});
    if (!entries)
      return fail(ErrorCode::not_found, fmt::format("no RAPL: {}", entries.error().message),
                  "virtual machines and most arm64 servers have none; CPU energy is unknown there");
    const auto names = names_of(*entries);
    std::map<std::string, Zone> found;
    Places taken;
    std::set<std::string> with_dram;
    for (const auto& [zone, zone_name] : names)
      if (zone_name == "dram") with_dram.insert(parent_of(zone));
    // Packages before what is below them, each kind first where its name is known. intel-rapl sorts after
    // intel-rapl-mmio: the mirrors have to wait for what they mirror.
    for (const bool mirrors : {false, true})
      for (const bool top : {true, false})
        for (const bool named : {true, false})
          for (const auto& [zone, zone_name] : names) {
            if (zone.starts_with(kMirror) != mirrors || is_top(zone) != top) continue;
            auto where = place_of(zone, names, taken);
            if (where.has_value() != named || is_inside_another(zone_name)) continue;
            if (!named) {
              const bool has_original = mirrors && names.contains("intel-rapl" + zone.substr(kMirror.size()));
              // Below a package are its parts, whatever they are called.
              if (has_original || (!top && !zone_name.empty())) continue;
              where = place_of_unnamed(zone, names, taken, with_dram);
            }
            if (where) take_in(zone, zone_name, named, *where, taken, found);
          }
    keep_vanished(taken, found);
    zones_ = std::move(found);
    discovered_at_ = now;
    if (std::all_of(zones_.begin(), zones_.end(), [](const auto& zone) { return zone.second.gone; })) {
      zones_.clear();
      return fail(ErrorCode::not_found, fmt::format("no RAPL: no package zone below {}", kPowercapRoot),
                  "load the module intel_rapl_msr, or live without CPU energy: it is shown as unknown");
    }
    return {};
  }

  // What was measured once is missed until it is back, here or elsewhere.
  void keep_vanished(const Places& taken, std::map<std::string, Zone>& found) {
    for (auto& [path, zone] : zones_) {
      if (!zone.mirrors.empty() || taken.contains({zone.place.domain, zone.place.index})) continue;
      zone.gone = true;
      zone.raw.reset();
      found.emplace(path, std::move(zone));
    }
  }

  [[nodiscard]] Reading vanished(const std::string& path, const Zone& zone) const {
    auto reading = begun(zone);
    reading.at = clock_.mono_now();
    reading.reason =
        fmt::format("the zone {} ({}) has vanished", path, zone.name.empty() ? "unnamed" : zone.name);
    return reading;
  }

  [[nodiscard]] Reading begun(const Zone& zone) const {
    Reading reading;
    reading.domain = zone.place.domain;
    reading.index = zone.place.index;
    reading.power_limit = zone.limit;
    reading.source = name();
    return reading;
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
    Zone zone;
    zone.name = zone_name;
    zone.place = place;
    zone.counter = metering::CounterAccumulator{range, most};
    zone.limit = watts(0, "power_limit");
    if (!zone.limit) zone.limit = watts(0, "max_power");
    return zone;
  }

  // Some boards show one counter under two dies or sockets. What comes first counts.
  [[nodiscard]] std::string mirrored_by(const std::string& path, Zone& zone, SteadyTime now) const {
    if (!zone.raw) return zone.mirrors;
    const auto before = std::exchange(zone.raw_before, zone.raw);
    if (before == zone.raw && zone.mirrors.empty()) return {};  // it stands: nothing new to compare
    std::string met;
    for (const auto& [other_path, other] : zones_) {
      if (other_path == path) break;
      if (other.place.domain != zone.place.domain || !other.mirrors.empty() || !other.raw) continue;
      if (!other.unplaced.empty() && zone.unplaced.empty())
        continue;  // what is measured isn't given up for it
      const auto apart = *other.raw > *zone.raw ? *other.raw - *zone.raw : *zone.raw - *other.raw;
      if (zone.mirrors.empty() ? apart == 0 && (zone.same_name || *zone.raw > kComparable)
                               : apart <= kMirrorSlack) {
        met = other_path;
        break;
      }
    }
    if (met.empty()) {
      zone.met = 0;
      if (zone.mirrors.empty()) return {};
      if (!zone.apart_since) zone.apart_since = now;
      return now - *zone.apart_since < kPartsAfter ? zone.mirrors : std::string{};
    }
    zone.apart_since.reset();
    if (++zone.met < kJoinsAfter && before && !zone.mirrored_once) return {};
    zone.mirrored_once = true;
    return met;
  }

  Reading read_zone(const std::string& path, Zone& zone) {
    auto reading = begun(zone);
    const auto content = files_.read_text(path + "/energy_uj", 4096);
    reading.at = clock_.mono_now();
    zone.raw = content ? parse_uint64(trim(*content)) : std::nullopt;
    if (!zone.raw) {
      zone.counter.note_failure();
      // A zone that went away may come back elsewhere.
      if (!content && content.error().code == ErrorCode::not_found) discovered_at_ = reading.at - kRediscover;
      reading.reason = content ? fmt::format("{}/energy_uj: {}", path,
                                             trim(*content).empty() ? "is empty" : "not a number")
                               : explain(content.error());
    } else {
      reading.reason = zone.unplaced;
    }
    return reading;
  }

  /// @return false: the counter hasn't moved since the last look, there is nothing new to say
  bool count(Zone& zone, Reading& reading) const {
    const auto step = zone.counter.update(*zone.raw, reading.at);
    if (step.unchanged) return false;
    reading.power = step.power;
    reading.reason = step.reason;
    if (step.total) reading.energy_total = to_joules(*step.total);
    reading.counter_epoch = fmt::format("{}-{}", run_, step.epoch);
    return true;
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
