// What running costs and what is still free, atom by atom: the jobs' searches read it, the joint planner
// writes it.
#pragma once

#include <cstddef>
#include <vector>

#include "grid.h"
#include "task.h"

namespace tidewatt::planning {

inline constexpr double kRoom = 5e-10;  ///< kW by which a cap may seem exceeded through rounding

/// The pieces of time within which nothing starts: a load is never higher than at an atom's begin.
class Atoms {
 public:
  Atoms(const Problem& problem, const Grid& grid, const std::vector<Task>& tasks);
  [[nodiscard]] std::size_t size() const { return begin_.size() - 1; }
  [[nodiscard]] Minute begin(std::size_t a) const { return begin_[a]; }
  [[nodiscard]] Minute end(std::size_t a) const { return begin_[a + 1]; }
  [[nodiscard]] Minute last() const { return begin_.back(); }
  [[nodiscard]] std::size_t at(Minute minute) const;
  /// Whether pieces may start here whatever the job (a slot's begin; any atom when by the minute).
  [[nodiscard]] bool starts(std::size_t a) const { return by_minute_ || begin_[a] % slot_ == 0; }
  /// The length of all atoms; 0 where they differ.
  [[nodiscard]] Minute step() const { return step_; }
  [[nodiscard]] bool by_minute() const { return by_minute_; }

 private:
  std::vector<Minute> begin_;
  Minute slot_, step_ = 0;  ///< step_: the length of all atoms; 0 where they differ
  bool by_minute_;
};

/// Sums of what 1 kW costs from minute 0 on, with the shadow prices of the caps where there are any.
class Market {
 public:
  Market(const Problem& problem, const Grid& grid, const Atoms& atoms);

  /// Shadow prices of a site's power and devices, per atom; an empty list: none.
  void set_prices(int site, const std::vector<double>& per_kw, const std::vector<double>& per_device);
  /// What running [from, to) costs.
  [[nodiscard]] double cost(int site, Minute from, Minute to, double kw, double devices) const;
  [[nodiscard]] Minute unknown_minutes(int site, Minute from, Minute to) const;

  /// Takes or gives back the room of segments.
  void take(const Segments& segments, double devices) { change(segments, devices, -1); }
  void give(const Segments& segments, double devices) { change(segments, devices, 1); }
  [[nodiscard]] bool free(int site, std::size_t atom, double kw, double devices) const {
    const auto& place = places_[static_cast<std::size_t>(site)];
    return !place.limited || (place.free_kw[atom] + kRoom >= kw &&
                              (place.free_devices.empty() || place.free_devices[atom] >= devices));
  }
  /// Minutes from an atom's begin, at most up to `to`, in which there is room.
  [[nodiscard]] Minute free_minutes(int site, std::size_t atom, Minute to, double kw, double devices) const;
  [[nodiscard]] bool fits(const Segments& segments, double devices) const;
  [[nodiscard]] bool limited(int site) const { return places_[static_cast<std::size_t>(site)].limited; }
  [[nodiscard]] const std::vector<double>& free_kw(int site) const {
    return places_[static_cast<std::size_t>(site)].free_kw;
  }
  [[nodiscard]] const std::vector<double>& free_devices(int site) const {
    return places_[static_cast<std::size_t>(site)].free_devices;
  }
  [[nodiscard]] const Atoms& atoms() const { return atoms_; }
  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  /// Unknown minutes from minute 0 to each atom's begin.
  [[nodiscard]] const std::vector<Minute>& unknown_sums(int site) const {
    return places_[static_cast<std::size_t>(site)].unknown;
  }
  /// Cost of 1 kW from minute 0 to each atom's begin.
  [[nodiscard]] const std::vector<double>& sums(int site) const {
    return places_[static_cast<std::size_t>(site)].cost;
  }

 private:
  struct Place {
    bool limited = false;
    std::vector<double> cost, device_cost;  ///< sums up to each atom's begin
    std::vector<double> price, device_price;
    std::vector<Minute> unknown;
    std::vector<double> free_kw, free_devices;
  };
  void change(const Segments& segments, double devices, double sign);

  const Problem& problem_;
  const Grid& grid_;
  const Atoms& atoms_;
  std::vector<Place> places_;
};

}  // namespace tidewatt::planning
