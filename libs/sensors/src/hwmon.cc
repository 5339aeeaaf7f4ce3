#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "tidewatt/metering/plausibility.h"
#include "tidewatt/sensors/sources.h"
#include "tidewatt/units/text.h"

namespace tidewatt::sensors {
namespace {

constexpr std::string_view kHwmonRoot = "/sys/class/hwmon";
constexpr Milliseconds kRediscover{60'000};
constexpr Milliseconds kMissedFor{3'600'000};
constexpr int kUnnumbered = -1;
constexpr double kWattsPerMicrowatt = 1e-6;
constexpr std::size_t kMostHwmonBytes = 4096;

struct Channel {
  std::string chip_path;
  std::string file;  ///< full path of the power file
  std::string domain;
  int index = kUnnumbered;
  std::string model;
  std::string fallback;  ///< the average beside an instantaneous file; empty = none
  std::optional<Watts> limit;
  std::optional<SteadyTime> gone_since;  ///< it was there before
};

// "power12_input" -> "power12".
std::optional<std::string> channel_name(std::string_view file, std::string_view suffix) {
  if (!file.starts_with("power") || !file.ends_with(suffix)) return std::nullopt;
  auto stem = file.substr(0, file.size() - suffix.size());
  if (!parse_uint64(stem.substr(5))) return std::nullopt;
  return std::string{stem};
}

class Hwmon final : public Source {
 public:
  Hwmon(const FileSystem& files, const Clock& clock) : files_(files), clock_(clock) {}
  [[nodiscard]] std::string name() const override { return "hwmon"; }

  Result<std::vector<Reading>> read() override {
    const auto now = clock_.mono_now();
    if (channels_.empty() || now - discovered_at_ >= kRediscover) TW_TRY_STATUS(discover(now));
    std::vector<Reading> readings;
    readings.reserve(channels_.size());
    for (const auto& [identity, channel] : channels_) readings.push_back(read_channel(channel));
    return readings;
  }

 private:
  [[nodiscard]] std::string text(const std::string& path) const {
    const auto content = files_.read_text(path, kMostHwmonBytes);
    return content ? std::string{trim(*content)} : std::string{};
  }

  Status discover(SteadyTime now) {
    const auto chips = files_.list(std::string{kHwmonRoot});
    if (!chips) return fail(ErrorCode::not_found, fmt::format("no hwmon: {}", chips.error().message));
    discovered_at_ = now;
    std::map<std::string, Channel> found;
    for (const auto& chip : *chips) {
      const auto path = fmt::format("{}/{}", kHwmonRoot, chip);
      const auto entries = files_.list(path);
      if (!entries) continue;
      const auto chip_name = text(path + "/name");
      const bool is_platform = chip_name == "power_meter";
      for (const auto& entry : *entries) {
        auto channel = channel_name(entry, "_input");
        if (!channel) {
          channel = channel_name(entry, "_average");
          // The instantaneous file of the same channel is preferred.
          if (!channel || files_.exists(fmt::format("{}/{}_input", path, *channel))) continue;
        }
        const auto label = text(fmt::format("{}/{}_label", path, *channel));
        Channel made{path,
                     fmt::format("{}/{}", path, entry),
                     is_platform ? std::string{kDomainPlatform} : "board",
                     kUnnumbered,
                     label.empty() ? chip_name : fmt::format("{} {}", chip_name, label),
                     average_beside(path, entry, *channel),
                     limit_of(path, *channel),
                     {}};
        found.emplace(fmt::format("{}/{} {}", path, *channel, made.model), std::move(made));
      }
    }
    if (found.empty()) {
      channels_.clear();
      return fail(ErrorCode::not_found,
                  fmt::format("no hwmon power sensor: {} has no power*_input", kHwmonRoot));
    }
    take_over(std::move(found), now);
    return {};
  }

  /// A channel keeps its number as long as it is there; one that vanishes beside others is missed by it.
  void take_over(std::map<std::string, Channel> found, SteadyTime now) {
    for (auto& [identity, old] : channels_) {
      if (const auto again = found.find(identity); again != found.end()) {
        again->second.index = old.index;
      } else if (now - old.gone_since.value_or(now) <= kMissedFor) {
        old.gone_since = old.gone_since.value_or(now);
        found.emplace(identity, std::move(old));
      }
    }
    std::set<std::pair<std::string, int>> taken;
    for (const auto& [identity, channel] : found) taken.emplace(channel.domain, channel.index);
    for (auto& [identity, channel] : found) {
      if (channel.index != kUnnumbered) continue;
      channel.index = 0;
      while (taken.contains({channel.domain, channel.index})) ++channel.index;
      taken.emplace(channel.domain, channel.index);
    }
    channels_ = std::move(found);
  }

  [[nodiscard]] std::string average_beside(const std::string& path, const std::string& entry,
                                           const std::string& channel) const {
    auto average = fmt::format("{}/{}_average", path, channel);
    return entry.ends_with("_input") && files_.exists(average) ? average : std::string{};
  }

  [[nodiscard]] std::optional<Watts> limit_of(const std::string& path, const std::string& channel) const {
    const auto microwatts = parse_uint64(text(fmt::format("{}/{}_cap", path, channel)));
    if (!microwatts) return std::nullopt;
    return metering::judge_limit(Watts{static_cast<double>(*microwatts) * kWattsPerMicrowatt});
  }

  [[nodiscard]] Reading read_channel(const Channel& channel) const {
    Reading reading;
    reading.domain = channel.domain;
    reading.index = channel.index;
    reading.model = channel.model;
    reading.power_limit = channel.limit;
    reading.source = name();
    if (channel.gone_since) {
      reading.at = clock_.mono_now();
      reading.reason = fmt::format("the sensor {} has vanished", channel.file);
      return reading;
    }
    // Reading a sensor of a sleeping device would wake it.
    if (text(channel.chip_path + "/device/power/runtime_status") == "suspended") {
      reading.at = clock_.mono_now();
      reading.reason = "suspended";
      return reading;
    }
    auto content = files_.read_text(channel.file, kMostHwmonBytes);
    if (!content && !channel.fallback.empty()) content = files_.read_text(channel.fallback, kMostHwmonBytes);
    reading.at = clock_.mono_now();
    if (!content) {
      reading.reason = content.error().message;
      return reading;
    }
    const auto raw = parse_int64(trim(*content));
    if (!raw || *raw < 0) {
      reading.reason = fmt::format("{}: '{}' is no power", channel.file, trim(*content).substr(0, 40));
      return reading;
    }
    auto judged =
        metering::judge_raw_power(static_cast<std::uint64_t>(*raw), kWattsPerMicrowatt, std::nullopt);
    reading.power = judged.power;
    reading.reason = std::move(judged.reason);
    return reading;
  }

  const FileSystem& files_;
  const Clock& clock_;
  std::map<std::string, Channel> channels_;  ///< by chip, channel and label
  SteadyTime discovered_at_{};
};

}  // namespace

std::unique_ptr<Source> make_hwmon(const FileSystem& files, const Clock& clock) {
  return std::make_unique<Hwmon>(files, clock);
}

}  // namespace tidewatt::sensors
