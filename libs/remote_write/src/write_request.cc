#include "tidewatt/remote_write/write_request.h"

#include <fmt/format.h>
#include <snappy.h>

#include <cmath>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace tidewatt::remote_write {
namespace {

// Field numbers of prometheus.WriteRequest and what is in it.
constexpr protozero::pbf_tag_type kTimeseries = 1;
constexpr protozero::pbf_tag_type kLabels = 1;
constexpr protozero::pbf_tag_type kSamples = 2;
constexpr protozero::pbf_tag_type kFirst = 1;   // a label's name, a sample's value
constexpr protozero::pbf_tag_type kSecond = 2;  // a label's value, a sample's time

/// Years 1970 to 9999, in milliseconds: outside of it no clock ever was.
constexpr std::int64_t kLastTime = 253'402'300'800'000;

constexpr auto kMessage = protozero::pbf_wire_type::length_delimited;  // strings too

/// Whether the field at hand is `tag`. One of another type is no field of ours, and the reader's getters only
/// assert that it is.
bool is(const protozero::pbf_reader& message, protozero::pbf_tag_type tag, protozero::pbf_wire_type type) {
  if (message.tag() != tag) return false;
  if (message.wire_type() != type) throw protozero::unknown_pbf_wire_type_exception{};
  return true;
}

struct Reader {
  const Limits& limits;
  std::size_t samples = 0;
  std::string trouble{};

  bool refuse(std::string what) {
    trouble = std::move(what);
    return false;
  }

  bool label(protozero::pbf_reader message, Series& series) {
    std::pair<std::string, std::string> label;
    while (message.next()) {
      if (is(message, kFirst, kMessage))
        label.first = message.get_string();
      else if (is(message, kSecond, kMessage))
        label.second = message.get_string();
      else
        message.skip();
      if (label.first.size() > limits.label_bytes || label.second.size() > limits.label_bytes)
        return refuse(fmt::format("a label of more than {} bytes", limits.label_bytes));
    }
    if (series.labels.size() >= limits.labels)
      return refuse(fmt::format("a series of more than {} labels", limits.labels));
    series.labels.push_back(std::move(label));
    return true;
  }

  bool sample(protozero::pbf_reader message, Series& series) {
    double value = 0;
    std::int64_t at = 0;
    while (message.next()) {
      if (is(message, kFirst, protozero::pbf_wire_type::fixed64))
        value = message.get_double();
      else if (is(message, kSecond, protozero::pbf_wire_type::varint))
        at = message.get_int64();
      else
        message.skip();
    }
    if (++samples > limits.samples)
      return refuse(fmt::format("more than {} samples in a request", limits.samples));
    if (at < 0 || at >= kLastTime) return refuse(fmt::format("a sample's time of {} ms is none", at));
    // A stale marker is a NaN of its own bit pattern; to us it is as silent as any other.
    series.samples.push_back(
        {UtcTime{Milliseconds{at}}, std::isfinite(value) ? std::optional(value) : std::nullopt});
    return true;
  }

  bool series(protozero::pbf_reader message, Series& series) {
    while (message.next()) {
      if (is(message, kLabels, kMessage)) {
        if (!label(message.get_message(), series)) return false;
      } else if (is(message, kSamples, kMessage)) {
        if (!sample(message.get_message(), series)) return false;
      } else {
        message.skip();  // exemplars, histograms
      }
    }
    return true;
  }

  bool request(protozero::pbf_reader message, std::vector<Series>& all) {
    while (message.next()) {
      if (!is(message, kTimeseries, kMessage)) {
        message.skip();  // metadata
        continue;
      }
      Series one;
      if (!series(message.get_message(), one)) return false;
      if (!one.samples.empty()) all.push_back(std::move(one));
    }
    return true;
  }
};

}  // namespace

std::string_view Series::label(std::string_view name) const {
  for (const auto& [key, value] : labels)
    if (key == name) return value;
  return {};
}

Result<std::vector<Series>> parse_write_request(std::string_view body, const Limits& limits) {
  std::size_t size = 0;
  if (!snappy::GetUncompressedLength(body.data(), body.size(), &size))
    return fail(ErrorCode::invalid_input, "the body is no snappy block",
                "send Prometheus remote_write 1.0 with Content-Encoding: snappy");
  if (size > limits.bytes)
    return fail(ErrorCode::invalid_input,
                fmt::format("the body unpacks to {} bytes, {} are allowed", size, limits.bytes),
                "lower max_samples_per_send of the sender's queue_config");
  std::string unpacked;
  if (!snappy::Uncompress(body.data(), body.size(), &unpacked))
    return fail(ErrorCode::invalid_input, "the body is a broken snappy block", "send it again");
  Reader reader{limits};
  std::vector<Series> series;
  try {
    if (!reader.request(protozero::pbf_reader{unpacked}, series))
      return fail(ErrorCode::invalid_input, reader.trouble,
                  "lower max_samples_per_send, or drop such series");
  } catch (const protozero::exception& error) {
    return fail(ErrorCode::invalid_input, fmt::format("the body is no WriteRequest: {}", error.what()),
                "send Prometheus remote_write 1.0; version 2 isn't understood");
  }
  return series;
}

std::string make_write_request(const std::vector<Series>& series) {
  std::string message;
  protozero::pbf_writer request{message};
  for (const auto& one : series) {
    protozero::pbf_writer timeseries{request, kTimeseries};
    for (const auto& [name, value] : one.labels) {
      protozero::pbf_writer label{timeseries, kLabels};
      label.add_string(kFirst, name);
      label.add_string(kSecond, value);
    }
    for (const auto& sample : one.samples) {
      if (!sample.value) continue;
      protozero::pbf_writer point{timeseries, kSamples};
      point.add_double(kFirst, *sample.value);
      point.add_int64(kSecond, sample.at.time_since_epoch().count());
    }
  }
  std::string packed;
  snappy::Compress(message.data(), message.size(), &packed);
  return packed;
}

}  // namespace tidewatt::remote_write
