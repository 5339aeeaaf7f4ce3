// Between the two encodings and parse_traces().
#pragma once

#include <stdexcept>
#include <string_view>

#include "fields.h"

namespace tidewatt::otlp {

/// Thrown by readers, never out of this library: the body as a whole is refused.
struct Unreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Puts a request together, within the limits. @throws Unreadable beyond them
class RequestBuilder {
 public:
  explicit RequestBuilder(const Limits& limits) : limits_(limits) {}

  void check_attributes(std::size_t count) const;
  SentSpans& begin_resource(const ResourceFields& fields);
  void add(const SpanFields& fields, SentSpans& to);
  TracesRequest take();

 private:
  const Limits& limits_;
  TracesRequest request_;
  std::size_t resources_ = 0;
  std::size_t spans_ = 0;
};

TracesRequest read_protobuf(std::string_view body, const Limits& limits);
TracesRequest read_json(std::string_view body, const Limits& limits);

}  // namespace tidewatt::otlp
