#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <protozero/pbf_writer.hpp>

#include "parse.h"
#include "tidewatt/otlp/traces.h"

namespace tidewatt::otlp {
namespace {

constexpr protozero::pbf_tag_type kPartialSuccess = 1;
constexpr protozero::pbf_tag_type kRejectedSpans = 1;
constexpr protozero::pbf_tag_type kErrorMessage = 2;
constexpr protozero::pbf_tag_type kRpcCode = 1;
constexpr protozero::pbf_tag_type kRpcMessage = 2;
constexpr std::int32_t kRpcInvalidArgument = 3;

}  // namespace

void RequestBuilder::check_attributes(std::size_t count) const {
  if (count > limits_.attributes)
    throw Unreadable{fmt::format("a resource or span of more than {} attributes", limits_.attributes)};
}

SentSpans& RequestBuilder::begin_resource(const ResourceFields& fields) {
  if (++resources_ > limits_.resources)
    throw Unreadable{fmt::format("more than {} resources in a request", limits_.resources)};
  return request_.resources.emplace_back(SentSpans{fields.sender(), {}});
}

void RequestBuilder::add(const SpanFields& fields, SentSpans& to) {
  if (++spans_ > limits_.spans)
    throw Unreadable{fmt::format("more than {} spans in a request", limits_.spans)};
  if (auto span = fields.span(to.sender.service))
    to.spans.push_back(*std::move(span));
  else
    ++request_.unusable;
}

TracesRequest RequestBuilder::take() {
  std::erase_if(request_.resources, [](const SentSpans& sent) { return sent.spans.empty(); });
  return std::move(request_);
}

Result<TracesRequest> parse_traces(std::string_view body, Encoding encoding, const Limits& limits) {
  try {
    return encoding == Encoding::protobuf ? read_protobuf(body, limits) : read_json(body, limits);
  } catch (const Unreadable& error) {
    return fail(ErrorCode::invalid_input, error.what(),
                "send an OTLP ExportTraceServiceRequest, in batches of some thousand spans");
  }
}

std::string traces_answer(Encoding encoding, std::size_t rejected, std::string_view message) {
  if (encoding == Encoding::json) {
    nlohmann::json answer = nlohmann::json::object();
    if (!message.empty())
      answer["partialSuccess"] = {{"rejectedSpans", std::to_string(rejected)}, {"errorMessage", message}};
    return answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  std::string answer;
  if (message.empty()) return answer;
  std::string partial;
  protozero::pbf_writer fields{partial};
  fields.add_int64(kRejectedSpans, static_cast<std::int64_t>(rejected));
  fields.add_string(kErrorMessage, message.data(), message.size());
  protozero::pbf_writer{answer}.add_message(kPartialSuccess, partial);
  return answer;
}

std::string refusal(std::string_view message) {
  std::string answer;
  protozero::pbf_writer writer{answer};
  writer.add_int32(kRpcCode, kRpcInvalidArgument);
  writer.add_string(kRpcMessage, message.data(), message.size());
  return answer;
}

}  // namespace tidewatt::otlp
