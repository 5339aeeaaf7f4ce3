#pragma once

#include "tidewatt/base/rng.h"

namespace tidewatt::agent {

/// Gives the same fraction for ever.
class FixedRng final : public Rng {
 public:
  explicit FixedRng(double fraction) : value_(static_cast<std::uint64_t>(fraction * 0x1.0p53) << 11U) {}
  std::uint64_t next() override { return value_; }

 private:
  std::uint64_t value_;
};

/// 1, 2, 3, ...
class CountingRng final : public Rng {
 public:
  std::uint64_t next() override { return ++value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace tidewatt::agent
