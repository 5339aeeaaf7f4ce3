// Bytes that our own blobs are made of: LEB128 varints, zigzag for signed, length-prefixed strings.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tidewatt::store {

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}
  void byte(std::uint8_t b) { out_.push_back(static_cast<char>(b)); }
  void u64(std::uint64_t n) {
    char buffer[10];
    std::size_t size = 0;
    for (; n >= 0x80; n >>= 7U) buffer[size++] = static_cast<char>((n & 0x7FU) | 0x80U);
    buffer[size++] = static_cast<char>(n);
    out_.append(buffer, size);
  }
  void i64(std::int64_t n) {
    u64((static_cast<std::uint64_t>(n) << 1U) ^ static_cast<std::uint64_t>(n >> 63));
  }
  void text(std::string_view s) {
    u64(s.size());
    out_.append(s);
  }
  /// Any double, bit for bit; those with up to 4 decimals (0.25, 61.5) in few bytes.
  void real(double value) {
    const double scaled = value * kRealScale;
    if (std::abs(scaled) < 1e15) {
      const auto whole = static_cast<std::int64_t>(std::llround(scaled));
      if (std::bit_cast<std::uint64_t>(static_cast<double>(whole) / kRealScale) ==
          std::bit_cast<std::uint64_t>(value)) {
        const auto zigzag =
            (static_cast<std::uint64_t>(whole) << 1U) ^ static_cast<std::uint64_t>(whole >> 63);
        u64(zigzag << 1U);
        return;
      }
    }
    byte(1);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned shift = 0; shift < 64; shift += 8) byte(static_cast<std::uint8_t>(bits >> shift));
  }

  static constexpr double kRealScale = 10'000;

 private:
  std::string& out_;
};

/// Reads what ByteWriter wrote; after the first inconsistency everything reads as zero and ok() is false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view in) : at_(in.data()), end_(in.data() + in.size()) {}
  std::uint8_t byte() {
    if (at_ == end_) {
      ok_ = false;
      return 0;
    }
    return static_cast<std::uint8_t>(*at_++);
  }
  std::uint64_t u64() {
    // A week of curves holds millions of numbers, most of them three bytes long and far from the end.
    if (end_ - at_ < kLongestNumber) return u64_near_end();
    std::uint64_t n = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto b = static_cast<unsigned char>(*at_++);
      n |= static_cast<std::uint64_t>(b & 0x7FU) << shift;
      if ((b & 0x80U) == 0) return n;
    }
    return garbled();
  }
  std::int64_t i64() {
    const auto n = u64();
    return static_cast<std::int64_t>(n >> 1U) ^ -static_cast<std::int64_t>(n & 1U);
  }
  std::string_view text() {
    const auto size = u64();
    if (size > left()) {
      ok_ = false;
      at_ = end_;
      return {};
    }
    const std::string_view s(at_, size);
    at_ += size;
    return s;
  }
  double real() {
    const auto head = u64();
    if ((head & 1U) == 0) {
      const auto zigzag = head >> 1U;
      return static_cast<double>(static_cast<std::int64_t>(zigzag >> 1U) ^
                                 -static_cast<std::int64_t>(zigzag & 1U)) /
             ByteWriter::kRealScale;
    }
    std::uint64_t bits = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) bits |= static_cast<std::uint64_t>(byte()) << shift;
    return std::bit_cast<double>(bits);
  }
  /// A count of things of at least one byte each: bounded by what is left, so a forged count can't allocate.
  std::size_t count() {
    const auto n = u64();
    if (n > left()) {
      ok_ = false;
      return 0;
    }
    return n;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool finished() const { return ok_ && at_ == end_; }

 private:
  static constexpr std::ptrdiff_t kLongestNumber = 10;
  std::uint64_t garbled() {
    ok_ = false;
    at_ = end_;
    return 0;
  }
  std::uint64_t u64_near_end() {
    std::uint64_t n = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto b = static_cast<unsigned char>(*at_++);
      n |= static_cast<std::uint64_t>(b & 0x7FU) << shift;
      if ((b & 0x80U) == 0) return n;
    }
    return garbled();
  }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  const char* at_;
  const char* end_;
  bool ok_ = true;
};

}  // namespace tidewatt::store
