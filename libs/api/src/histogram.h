// Latencies for Prometheus.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "tidewatt/units/quantity.h"

namespace tidewatt::api {

/// Latencies in fixed buckets; lock-free.
class Histogram {
 public:
  static constexpr std::array<double, 12> kBounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                  0.05,   0.1,   0.25,   0.5,   1,    5};
  void observe(Seconds duration);
  void write(std::string& out, std::string_view name, std::string_view help) const;

 private:
  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<std::uint64_t> sum_microseconds_{0};
};

}  // namespace tidewatt::api
