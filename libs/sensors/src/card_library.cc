#include "card_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "card_counter.h"
#include "pci.h"

namespace tidewatt::sensors {
namespace {

// Cards come and go rarely; a lost one makes us look at once.
constexpr Milliseconds kEnumerateAgain{300'000};
constexpr Milliseconds kPauseAfterFailure{10'000};
constexpr unsigned kMaxCards = 1024;
constexpr double kHottest = 300;
constexpr std::string_view kAsleep = "suspended: not woken to be measured";

struct Card {
  std::string bus_id;  ///< as sysfs spells it; empty = not known
  bool identified = false;
  std::string uuid;
  std::string model;
  CardCounter counter;
};

class CardSource final : public Source {
 public:
  CardSource(CardVendor vendor, std::unique_ptr<CardLibrary> library, std::shared_ptr<const FileSystem> files,
             std::shared_ptr<const Clock> clock)
      : vendor_(vendor),
        library_(std::move(library)),
        files_(std::move(files)),
        clock_(std::move(clock)),
        run_(fmt::format("{}-{}", vendor.source, clock_->utc_now().time_since_epoch().count())) {}
  CardSource(const CardSource&) = delete;
  CardSource& operator=(const CardSource&) = delete;
  ~CardSource() override { stop(); }

  [[nodiscard]] std::string name() const override { return std::string{vendor_.source}; }

  Result<std::vector<Reading>> read() override {
    const auto now = clock_->mono_now();
    if (now < retry_at_) return tl::unexpected(last_error_);
    if (!running_) {
      const auto on_bus = cards_on_bus(*files_, vendor_.pci_vendor);
      const bool all_asleep = !on_bus.empty() && std::all_of(on_bus.begin(), on_bus.end(),
                                                             [](const PciGpu& g) { return g.suspended; });
      if (all_asleep) return asleep(on_bus);  // even starting the library may wake them
    }
    if (auto ready = prepare(now); !ready) return give_up(ready.error());
    std::vector<Reading> readings;
    readings.reserve(cards_.size());
    Look worst = Look::done;
    for (unsigned i = 0; i < cards_.size(); ++i) {
      auto reading = blank(i);
      const Look look = read_card(cards_[i], i, reading);
      if (look == Look::lost || look == Look::stale) worst = std::max(worst, look);
      if (look != Look::no_news) readings.push_back(std::move(reading));
    }
    if (worst == Look::lost) enumerated_at_.reset();
    if (worst == Look::stale) {
      stop();
      last_error_ = Error{ErrorCode::unavailable, fmt::format("{}: the driver went away", vendor_.source),
                          "waiting for it to come back"};
      retry_at_ = now + kPauseAfterFailure;
    }
    return readings;
  }

 private:
  void stop() {
    if (running_) library_->stop();
    running_ = false;
    cards_.clear();
    ++generation_;
  }

  tl::unexpected<Error> give_up(Error error) {
    last_error_ = error;
    retry_at_ = clock_->mono_now() + kPauseAfterFailure;
    return tl::unexpected(std::move(error));
  }

  Status prepare(SteadyTime now) {
    if (!running_) {
      TW_TRY_STATUS(library_->start());
      running_ = true;
      enumerated_at_.reset();
    }
    if (enumerated_at_ && now - *enumerated_at_ < kEnumerateAgain) return {};
    const auto count = library_->count();
    if (!count || *count > kMaxCards) {
      stop();
      return fail(ErrorCode::unavailable,
                  fmt::format("{}: cards aren't counted: {}", vendor_.source,
                              count ? fmt::format("{} of them", *count) : count.error().message));
    }
    // A lost card is no longer counted by some drivers; it stays listed as unknown.
    while (cards_.size() < *count) {
      cards_.emplace_back();
      cards_.back().bus_id = sysfs_bus_id(library_->bus_id(static_cast<unsigned>(cards_.size() - 1)));
    }
    enumerated_at_ = now;
    return {};
  }

  [[nodiscard]] Reading blank(unsigned index) const {
    Reading reading;
    reading.domain = kDomainGpu;
    reading.index = static_cast<int>(index);
    reading.vendor = vendor_.vendor;
    reading.source = name();
    return reading;
  }

  Look read_card(Card& card, unsigned index, Reading& reading) {
    Look look = Look::done;
    std::optional<std::uint64_t> microjoules;
    if (!card.bus_id.empty() && is_suspended(*files_, card.bus_id)) {
      reading.reason = kAsleep;
    } else {
      if (!card.identified) {
        Reading identity;
        library_->identify(index, identity);
        card.uuid = identity.uuid;
        card.model = identity.model;
        card.identified = true;
      }
      look = library_->measure(index, reading, microjoules);
      if (!reading.power && reading.reason.empty() && look != Look::no_news)
        reading.reason = "the library tells no power";
    }
    reading.uuid = card.uuid;
    reading.model = card.model;
    reading.at = clock_->mono_now();
    card.counter.put(reading, microjoules, fmt::format("{}-{}", run_, generation_));
    return look;
  }

  [[nodiscard]] std::vector<Reading> asleep(const std::vector<PciGpu>& on_bus) const {
    std::vector<Reading> readings;
    for (const auto& gpu : on_bus) {
      auto reading = blank(static_cast<unsigned>(readings.size()));
      reading.reason = fmt::format("suspended ({}): not woken to be measured", gpu.bus_id);
      reading.at = clock_->mono_now();
      readings.push_back(std::move(reading));
    }
    return readings;
  }

  CardVendor vendor_;
  std::unique_ptr<CardLibrary> library_;
  std::shared_ptr<const FileSystem> files_;
  std::shared_ptr<const Clock> clock_;
  std::string run_;
  std::vector<Card> cards_;
  std::optional<SteadyTime> enumerated_at_;
  SteadyTime retry_at_{SteadyTime::min()};
  Error last_error_;
  int generation_ = 0;
  bool running_ = false;
};

}  // namespace

std::unique_ptr<Source> make_card_source(CardVendor vendor, std::unique_ptr<CardLibrary> library,
                                         std::shared_ptr<const FileSystem> files,
                                         std::shared_ptr<const Clock> clock) {
  return std::make_unique<CardSource>(vendor, std::move(library), std::move(files), std::move(clock));
}

void put_power(Reading& reading, std::uint64_t raw, double watts_per_unit) {
  auto judged = metering::judge_raw_power(raw, watts_per_unit, reading.power_limit);
  reading.power = judged.power;
  reading.reason = std::move(judged.reason);
}

void put_limit(Reading& reading, std::uint64_t raw, double watts_per_unit) {
  if (!metering::is_blank(raw))
    reading.power_limit = metering::judge_limit(Watts{static_cast<double>(raw) * watts_per_unit});
}

void put_percent(Reading& reading, std::uint64_t percent) {
  constexpr double kHundred = 100;
  if (percent <= 100) reading.util = static_cast<double>(percent) / kHundred;
}

void put_temperature(Reading& reading, double celsius) {
  if (!std::isfinite(celsius) || celsius <= 0 || celsius >= kHottest) return;
  if (!reading.health) reading.health.emplace();
  reading.health->temperature_c = celsius;
}

}  // namespace tidewatt::sensors
