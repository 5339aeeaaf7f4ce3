// A span as far as sharing energy needs it: when it was, whose part it is, and what was asked for.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace tidewatt::traces {

/// UTC with the resolution that spans have.
using SpanTime = std::chrono::sys_time<std::chrono::nanoseconds>;
using Nanoseconds = std::chrono::nanoseconds;

/// 16 bytes, not all zero.
using TraceId = std::array<std::uint8_t, 16>;
/// 8 bytes as a number; 0 = none.
using SpanId = std::uint64_t;

struct Span {
  TraceId trace{};
  SpanId id = 0;
  SpanId parent = 0;
  SpanTime begin{};
  SpanTime end{};  ///< not before `begin`
  std::string service;
  std::string route;   ///< "GET /users/{id}", or the span's name
  bool entry = false;  ///< a request came in here, or the trace began
  bool failed = false;
};

struct SpanKey {
  TraceId trace{};
  SpanId id = 0;
  friend auto operator<=>(const SpanKey&, const SpanKey&) = default;
  friend bool operator==(const SpanKey&, const SpanKey&) = default;
};

struct SpanKeyHash {
  std::size_t operator()(const SpanKey& key) const {
    // Ids are random by their makers' rules; where they aren't, the map is slow and bounded, not wrong.
    std::uint64_t hash = key.id * 0x9E3779B97F4A7C15U;
    for (const auto byte : key.trace) hash = (hash ^ byte) * 1099511628211U;
    return static_cast<std::size_t>(hash);
  }
};

/// 32 hexadecimal digits.
std::string to_string(const TraceId& trace);

}  // namespace tidewatt::traces
