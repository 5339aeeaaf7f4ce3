// The body of a Prometheus remote_write 1.0 request: series of samples.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::remote_write {

struct Sample {
  UtcTime at{};
  std::optional<double> value;  ///< nullopt = a stale marker, or not finite: the series says nothing here
};

struct Series {
  std::vector<std::pair<std::string, std::string>> labels;  ///< as sent; the metric's name is "__name__"
  std::vector<Sample> samples;

  [[nodiscard]] std::string_view label(std::string_view name) const;  ///< empty = absent
};

/// What is beyond makes the whole request invalid: senders cut theirs far below.
struct Limits {
  std::size_t bytes = 8U << 20U;  ///< unpacked
  std::size_t samples = 100'000;
  std::size_t labels = 128;        ///< of one series
  std::size_t label_bytes = 2048;  ///< of a name or a value
};

/// @param body  as sent: a snappy block
/// @error invalid_input  not snappy, no such message, or beyond a limit
Result<std::vector<Series>> parse_write_request(std::string_view body, const Limits& limits = {});

/// The body of such a request, packed. Samples without a value are left out; labels stand as they are given,
/// and receivers want them sorted by name.
std::string make_write_request(const std::vector<Series>& series);

}  // namespace tidewatt::remote_write
