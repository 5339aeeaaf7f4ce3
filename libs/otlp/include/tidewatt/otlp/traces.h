// The body of an OTLP/HTTP request for traces, in either encoding: whose spans, and when they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/traces/span.h"

namespace tidewatt::otlp {

enum class Encoding : std::uint8_t { protobuf, json };

/// What a resource says of who sent it.
struct Sender {
  std::string service;
  std::string cluster;
  std::string task_id;                  ///< by name; empty = none is named
  std::vector<std::string> candidates;  ///< tasks that it may be, the likeliest first
  std::vector<std::string> guesses;     ///< tasks that it is where there are such
};

struct SentSpans {
  Sender sender;
  std::vector<traces::Span> spans;
};

struct TracesRequest {
  std::vector<SentSpans> resources;  ///< those with a span that can be used
  std::size_t unusable = 0;          ///< spans without ids or with times that are none
};

/// What is beyond makes the whole request invalid: senders batch far below.
struct Limits {
  std::size_t spans = 50'000;
  std::size_t attributes = 1'000;  ///< of one resource or span
  std::size_t resources = 5'000;
};
/// Names are cut to this many bytes.
inline constexpr std::size_t kLongestName = 256;

/// @error invalid_input  no such message, or beyond a limit
Result<TracesRequest> parse_traces(std::string_view body, Encoding encoding, const Limits& limits = {});

/// What a request that was taken in is answered. `message` says why spans were rejected; empty = all is well.
std::string traces_answer(Encoding encoding, std::size_t rejected, std::string_view message);
/// The body of a refusal in protobuf: google.rpc.Status.
std::string refusal(std::string_view message);

}  // namespace tidewatt::otlp
