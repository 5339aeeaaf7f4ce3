// A hash of the bits of numbers, for comparing replays: one changed bit changes it.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace tidewatt::inference {

/// FNV-1a, 64 bits: every step is a bijection, so a single change is never lost.
class Fingerprint {
 public:
  void add(std::span<const double> numbers) {
    for (const double number : numbers) add_word(std::bit_cast<std::uint64_t>(number));
  }
  void add(std::string_view text) {
    for (const char c : text) step(static_cast<unsigned char>(c));
  }
  void add_word(std::uint64_t word) {
    for (int i = 0; i < 8; ++i) step(word >> (8 * i) & 0xff);
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  void step(std::uint64_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace tidewatt::inference
