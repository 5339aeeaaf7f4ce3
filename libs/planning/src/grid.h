// The plan's time as the planner sees it: slots with their prices, and atoms, the pieces of time within which
// nothing starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tidewatt/planning/problem.h"

namespace tidewatt::planning {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();
inline constexpr double kMinutesPerHour = 60;
inline constexpr Minute kMinutesPerDay = 24 * 60;

/// Each site's values per slot; the last entry holds for ever, and its intensity is unknown.
class Grid {
 public:
  explicit Grid(const Problem& problem);

  [[nodiscard]] std::size_t slot_of(Minute at) const {
    const auto k = static_cast<std::size_t>(at / slot_);
    return k < last_ ? k : last_;
  }
  /// The slot's end; a day that never ends for the last one.
  [[nodiscard]] Minute slot_end(std::size_t k) const {
    return k < last_ ? static_cast<Minute>(k + 1) * slot_ : std::numeric_limits<Minute>::max();
  }
  [[nodiscard]] Minute slot() const { return slot_; }
  /// From here on every slot is like the other.
  [[nodiscard]] Minute end_of_change() const { return static_cast<Minute>(last_) * slot_; }

  struct SiteValues {
    std::vector<double> rate;      ///< objective per kWh of IT (with PUE); unknown counts 0
    std::vector<double> raw_rate;  ///< objective per kWh of the facility (without PUE)
    std::vector<double> ci, pue;
    std::vector<std::uint8_t> unknown;
    bool limited = false;  ///< has a cap, an event or devices
  };
  [[nodiscard]] const SiteValues& site(int index) const { return sites_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] std::size_t sites() const { return sites_.size(); }
  /// The price of a kWh; nullopt where none is known.
  [[nodiscard]] std::optional<double> price(int site, std::size_t k) const;
  [[nodiscard]] Known known(int site, std::size_t k) const;
  /// The lowest cap that holds at this minute (caps and events).
  [[nodiscard]] double cap_at(int site, Minute at) const;
  /// The highest cap that ever holds at a site.
  [[nodiscard]] double highest_cap(int site) const { return highest_caps_[static_cast<std::size_t>(site)]; }

 private:
  [[nodiscard]] double find_highest_cap(int site) const;

  const Problem& problem_;
  std::vector<double> highest_caps_;
  Minute slot_;
  std::size_t last_;
  std::vector<SiteValues> sites_;
};

/// The value of a list at a slot, where its last entry holds on.
template <class T>
const T& held(const std::vector<T>& list, std::size_t k) {
  return list[k < list.size() ? k : list.size() - 1];
}

}  // namespace tidewatt::planning
