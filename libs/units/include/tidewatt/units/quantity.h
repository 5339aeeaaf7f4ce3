// Measured and planned quantities as types. What is *booked* is an integer: see exact.h.
#pragma once

#include <compare>

namespace tidewatt {

/// A double with a dimension. The raw number enters by an explicit constructor and leaves by value(), at the
/// edge (JSON, SQL, metrics), where the unit goes into the name.
template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}
  [[nodiscard]] constexpr double value() const { return value_; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.value_ + b.value_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.value_ - b.value_}; }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity{a.value_ * k}; }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity{a.value_ * k}; }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity{a.value_ / k}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
  constexpr Quantity& operator+=(Quantity b) {
    value_ += b.value_;
    return *this;
  }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  double value_ = 0;
};

using Watts = Quantity<struct WattsTag>;
using Joules = Quantity<struct JoulesTag>;
using WattHours = Quantity<struct WattHoursTag>;
using Seconds = Quantity<struct SecondsTag>;
using GramsCo2 = Quantity<struct GramsCo2Tag>;
using GramsPerKwh = Quantity<struct GramsPerKwhTag>;
using GramsPerHour = Quantity<struct GramsPerHourTag>;
using Celsius = Quantity<struct CelsiusTag>;

inline constexpr double kSecondsPerHour = 3600;
inline constexpr double kPerKilo = 1000;

/// The only way from power to energy.
constexpr Joules operator*(Watts p, Seconds t) { return Joules{p.value() * t.value()}; }
constexpr Joules operator*(Seconds t, Watts p) { return p * t; }
constexpr Watts operator/(Joules e, Seconds t) { return Watts{e.value() / t.value()}; }
/// The only way from energy to carbon.
constexpr GramsCo2 operator*(WattHours e, GramsPerKwh i) {
  return GramsCo2{e.value() / kPerKilo * i.value()};
}
/// The only way from power to a carbon rate.
constexpr GramsPerHour operator*(Watts p, GramsPerKwh i) {
  return GramsPerHour{p.value() / kPerKilo * i.value()};
}
constexpr WattHours to_watt_hours(Joules e) { return WattHours{e.value() / kSecondsPerHour}; }
constexpr Joules to_joules(WattHours e) { return Joules{e.value() * kSecondsPerHour}; }

static_assert(Watts{300} * Seconds{60} == Joules{18000});
static_assert(WattHours{2000} * GramsPerKwh{300} == GramsCo2{600});

}  // namespace tidewatt
