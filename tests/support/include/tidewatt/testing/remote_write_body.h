// A remote_write 1.0 body as a Prometheus makes it. Header only: link Snappy.
#pragma once

#include <snappy.h>

#include <bit>
#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tidewatt::testing {

/// Prometheus's own NaN for "this series has ended".
inline const double kStaleMarker = std::bit_cast<double>(std::uint64_t{0x7ff0000000000002});

struct SentSeries {
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<std::pair<double, std::int64_t>> samples;  ///< value, milliseconds since 1970
};

inline std::string write_request(const std::vector<SentSeries>& all) {
  std::string message;
  protozero::pbf_writer request{message};
  for (const auto& series : all) {
    protozero::pbf_writer one{request, 1};
    for (const auto& [name, value] : series.labels) {
      protozero::pbf_writer label{one, 1};
      label.add_string(1, name);
      label.add_string(2, value);
    }
    for (const auto& [value, at] : series.samples) {
      protozero::pbf_writer sample{one, 2};
      sample.add_double(1, value);
      sample.add_int64(2, at);
    }
  }
  return message;
}

inline std::string packed(const std::string& message) {
  std::string body;
  snappy::Compress(message.data(), message.size(), &body);
  return body;
}

inline std::string remote_write_body(const std::vector<SentSeries>& all) {
  return packed(write_request(all));
}

}  // namespace tidewatt::testing
