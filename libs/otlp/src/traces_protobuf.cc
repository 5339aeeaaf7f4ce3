#include <fmt/format.h>

#include <protozero/pbf_reader.hpp>

#include "fields.h"
#include "parse.h"

namespace tidewatt::otlp {
namespace {

using Message = protozero::pbf_reader;
using Tag = protozero::pbf_tag_type;
using Type = protozero::pbf_wire_type;

// Field numbers of opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest and of what is in it.
constexpr Tag kResourceSpans = 1;
constexpr Tag kResource = 1;
constexpr Tag kScopeSpans = 2;
constexpr Tag kSpans = 2;
constexpr Tag kResourceAttributes = 1;
constexpr Tag kKey = 1;
constexpr Tag kValue = 2;
constexpr Tag kStringValue = 1;
constexpr Tag kIntValue = 3;
constexpr Tag kTraceId = 1;
constexpr Tag kSpanId = 2;
constexpr Tag kParentSpanId = 4;
constexpr Tag kName = 5;
constexpr Tag kKind = 6;
constexpr Tag kBegin = 7;
constexpr Tag kEnd = 8;
constexpr Tag kAttributes = 9;
constexpr Tag kStatus = 15;
constexpr Tag kStatusCode = 3;

/// Whether the field at hand is `tag`; of another type it is no field of ours, and the getters only assert
/// that it is.
bool field_is(const Message& message, Tag tag, Type type) {
  if (message.tag() != tag) return false;
  if (message.wire_type() != type) throw protozero::unknown_pbf_wire_type_exception{};
  return true;
}
bool is_part(const Message& message, Tag tag) { return field_is(message, tag, Type::length_delimited); }

template <class Fields>
void read_attribute(Message message, Fields& fields) {
  std::string key;
  std::string text;
  while (message.next()) {
    if (is_part(message, kKey)) {
      key = message.get_string();
    } else if (is_part(message, kValue)) {
      auto value = message.get_message();
      while (value.next()) {
        if (is_part(value, kStringValue))
          text = value.get_string();
        else if (field_is(value, kIntValue, Type::varint))
          text = std::to_string(value.get_int64());
        else
          value.skip();
      }
    } else {
      message.skip();
    }
  }
  fields.attribute(key, text);
}

struct ProtobufReader {
  const Limits& limits;
  RequestBuilder builder;

  void resource(Message message, ResourceFields& fields) {
    std::size_t attributes = 0;
    while (message.next()) {
      if (!is_part(message, kResourceAttributes)) {
        message.skip();
        continue;
      }
      builder.check_attributes(++attributes);
      read_attribute(message.get_message(), fields);
    }
  }

  void span(Message message, SentSpans& to) {
    SpanFields fields;
    std::size_t attributes = 0;
    while (message.next()) {
      if (is_part(message, kTraceId)) {
        fields.trace_id = message.get_string();
      } else if (is_part(message, kSpanId)) {
        fields.span_id = message.get_string();
      } else if (is_part(message, kParentSpanId)) {
        fields.parent_id = message.get_string();
      } else if (is_part(message, kName)) {
        fields.name = message.get_string();
      } else if (field_is(message, kKind, Type::varint)) {
        fields.kind = message.get_int32();
      } else if (field_is(message, kBegin, Type::fixed64)) {
        fields.begin_ns = message.get_fixed64();
      } else if (field_is(message, kEnd, Type::fixed64)) {
        fields.end_ns = message.get_fixed64();
      } else if (is_part(message, kAttributes)) {
        builder.check_attributes(++attributes);
        read_attribute(message.get_message(), fields);
      } else if (is_part(message, kStatus)) {
        auto status = message.get_message();
        while (status.next()) {
          if (field_is(status, kStatusCode, Type::varint))
            fields.status = status.get_int32();
          else
            status.skip();
        }
      } else {
        message.skip();
      }
    }
    builder.add(fields, to);
  }

  void resource_spans(Message message) {
    // Fields may come in any order: the resource first, then its spans.
    ResourceFields fields;
    for (auto look = message; look.next();) {
      if (is_part(look, kResource))
        resource(look.get_message(), fields);
      else
        look.skip();
    }
    auto& sent = builder.begin_resource(fields);
    while (message.next()) {
      if (!is_part(message, kScopeSpans)) {
        message.skip();
        continue;
      }
      auto scope = message.get_message();
      while (scope.next()) {
        if (is_part(scope, kSpans))
          span(scope.get_message(), sent);
        else
          scope.skip();
      }
    }
  }

  void request(Message message) {
    while (message.next()) {
      if (is_part(message, kResourceSpans))
        resource_spans(message.get_message());
      else
        message.skip();
    }
  }
};

}  // namespace

TracesRequest read_protobuf(std::string_view body, const Limits& limits) {
  ProtobufReader reader{limits, RequestBuilder{limits}};
  try {
    reader.request(Message{body.data(), body.size()});
  } catch (const protozero::exception& error) {
    throw Unreadable{fmt::format("the body is no ExportTraceServiceRequest: {}", error.what())};
  }
  return reader.builder.take();
}

}  // namespace tidewatt::otlp
