#include <nlohmann/json.hpp>

#include "fields.h"
#include "parse.h"
#include "tidewatt/units/text.h"

namespace tidewatt::otlp {
namespace {

using Json = nlohmann::json;

/// Deeper than any attribute of a real span; what is deeper isn't read at all.
constexpr int kDeepest = 64;

const Json& member(const Json& object, const char* name) {
  static const Json none;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

/// The list of that name; an empty one where there is none.
const Json& list(const Json& object, const char* name) {
  static const Json none = Json::array();
  const auto& found = member(object, name);
  if (found.is_null()) return none;
  if (!found.is_array()) throw Unreadable{std::string{"\""} + name + "\" is no list"};
  return found;
}

std::string text(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string{}; }

/// 64-bit numbers come as text or as numbers.
std::uint64_t number(const Json& value) {
  if (value.is_string()) return parse_uint64(value.get_ref<const std::string&>()).value_or(0);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

/// Enumerations are numbers in OTLP's JSON, never names.
std::int64_t enumeration(const Json& value) {
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

/// Ids are hexadecimal here, in either case; empty where it is none.
std::string bytes_of_hex(const std::string& hex) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  };
  std::string bytes;
  if (hex.size() % 2 != 0) return bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]);
    const int low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

template <class Fields>
void read_attributes(const Json& attributes, const RequestBuilder& builder, Fields& fields) {
  std::size_t count = 0;
  for (const auto& one : attributes) {
    builder.check_attributes(++count);
    const auto& value = member(one, "value");
    auto said = text(member(value, "stringValue"));
    const auto& whole = member(value, "intValue");
    if (whole.is_string()) said = text(whole);
    if (whole.is_number_integer()) said = std::to_string(whole.get<std::int64_t>());
    fields.attribute(text(member(one, "key")), said);
  }
}

SpanFields span_fields(const Json& span, const RequestBuilder& builder) {
  SpanFields fields;
  fields.trace_id = bytes_of_hex(text(member(span, "traceId")));
  fields.span_id = bytes_of_hex(text(member(span, "spanId")));
  fields.parent_id = bytes_of_hex(text(member(span, "parentSpanId")));
  fields.name = text(member(span, "name"));
  fields.kind = enumeration(member(span, "kind"));
  fields.begin_ns = number(member(span, "startTimeUnixNano"));
  fields.end_ns = number(member(span, "endTimeUnixNano"));
  fields.status = enumeration(member(member(span, "status"), "code"));
  read_attributes(list(span, "attributes"), builder, fields);
  return fields;
}

}  // namespace

TracesRequest read_json(std::string_view body, const Limits& limits) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest) throw Unreadable{"the body is nested too deeply"};
    return true;
  };
  const auto parsed = Json::parse(body, shallow, false);
  if (!parsed.is_object()) throw Unreadable{"the body is no JSON object"};
  RequestBuilder builder{limits};
  for (const auto& resource : list(parsed, "resourceSpans")) {
    ResourceFields fields;
    read_attributes(list(member(resource, "resource"), "attributes"), builder, fields);
    auto& sent = builder.begin_resource(fields);
    for (const auto& scope : list(resource, "scopeSpans"))
      for (const auto& span : list(scope, "spans")) builder.add(span_fields(span, builder), sent);
  }
  return builder.take();
}

}  // namespace tidewatt::otlp
