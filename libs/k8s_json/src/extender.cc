#include "tidewatt/k8s_json/extender.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "json_text.h"

namespace tidewatt::k8s_json {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
constexpr std::string_view kRegionLabel = "topology.kubernetes.io/region";

/// Of a name in a list, and for how many of them room is made beforehand.
constexpr std::size_t kUsualNameBytes = 24;
constexpr std::size_t kMostReserved = 10'000;

bool is_key(std::string_view key, std::string_view lower_case) {
  return std::equal(key.begin(), key.end(), lower_case.begin(), lower_case.end(), [](char c, char expected) {
    return (c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c) == expected;
  });
}

tl::unexpected<Error> refuse(std::string why) {
  return fail(ErrorCode::invalid_input, std::move(why), "send the ExtenderArgs of kube-scheduler");
}
tl::unexpected<Error> refuse(simdjson::error_code error) {
  return refuse(std::string{"the body can't be read as JSON: "} + simdjson::error_message(error));
}

/// Calls `use(key, value)` for each field of an object. What isn't one has no fields.
/// @return an error where the text is broken
template <class Use>
simdjson::error_code each_field(ondemand::value value, const Use& use) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type); error != SUCCESS) return error;
  if (type != ondemand::json_type::object) return SUCCESS;
  ondemand::object object;
  if (const auto error = value.get_object().get(object); error != SUCCESS) return error;
  for (auto item : object) {
    ondemand::field field;
    std::string_view key;
    if (const auto error = std::move(item).get(field); error != SUCCESS) return error;
    if (const auto error = field.unescaped_key().get(key); error != SUCCESS) return error;
    if (const auto error = use(key, field.value()); error != SUCCESS) return error;
  }
  return SUCCESS;
}

/// A text; what is none stays empty.
simdjson::error_code take_text(ondemand::value value, std::string_view& out) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type); error != SUCCESS) return error;
  return type == ondemand::json_type::string ? value.get_string().get(out) : SUCCESS;
}

simdjson::error_code read_pod(ondemand::value pod, std::optional<k8s::Tolerance>& tolerance) {
  std::string_view plain;
  std::string_view prefixed;
  const auto label = [&](std::string_view key, ondemand::value value) {
    if (key == k8s::kToleranceLabel) return take_text(value, prefixed);
    if (key == k8s::kPlainToleranceLabel) return take_text(value, plain);
    return SUCCESS;
  };
  const auto meta = [&](std::string_view key, ondemand::value value) {
    return is_key(key, "labels") ? each_field(value, label) : SUCCESS;
  };
  const auto error = each_field(pod, [&](std::string_view key, ondemand::value value) {
    return is_key(key, "metadata") ? each_field(value, meta) : SUCCESS;
  });
  tolerance = k8s::tolerance_from(prefixed.empty() ? plain : prefixed);
  return error;
}

simdjson::error_code read_node(ondemand::value value, OfferedNode& node) {
  ondemand::object object;
  if (const auto error = value.get_object().get(object); error != SUCCESS) return error;
  if (const auto error = object.raw_json().get(node.raw); error != SUCCESS) return error;
  if (const auto error = object.reset().error(); error != SUCCESS) return error;
  const auto label = [&](std::string_view key, ondemand::value text) {
    if (key == kZoneLabel) return take_text(text, node.place.zone);
    if (key == kRegionLabel) return take_text(text, node.place.region);
    return SUCCESS;
  };
  const auto meta = [&](std::string_view key, ondemand::value part) {
    if (is_key(key, "name")) return take_text(part, node.name);
    return is_key(key, "labels") ? each_field(part, label) : SUCCESS;
  };
  for (auto item : object) {
    ondemand::field field;
    std::string_view key;
    if (const auto error = std::move(item).get(field); error != SUCCESS) return error;
    if (const auto error = field.unescaped_key().get(key); error != SUCCESS) return error;
    if (!is_key(key, "metadata")) continue;
    if (const auto error = each_field(field.value(), meta); error != SUCCESS) return error;
  }
  return SUCCESS;
}

/// Calls `use(value)` for each item of a list; null is an empty list.
template <class Use>
simdjson::error_code each_item(ondemand::value value, const Use& use) {
  bool is_null = false;
  if (const auto error = value.is_null().get(is_null); error != SUCCESS) return error;
  if (is_null) return SUCCESS;
  ondemand::array list;
  if (const auto error = value.get_array().get(list); error != SUCCESS) return error;
  for (auto item : list) {
    ondemand::value one;
    if (const auto error = std::move(item).get(one); error != SUCCESS) return error;
    if (const auto error = use(one); error != SUCCESS) return error;
  }
  return SUCCESS;
}

simdjson::error_code read_objects(ondemand::value list, std::vector<OfferedNode>& nodes) {
  nodes.clear();
  return each_field(list, [&](std::string_view key, ondemand::value value) {
    if (!is_key(key, "items")) return SUCCESS;
    return each_item(value, [&](ondemand::value item) { return read_node(item, nodes.emplace_back()); });
  });
}

simdjson::error_code read_names(ondemand::value list, std::vector<OfferedNode>& nodes) {
  nodes.clear();
  return each_item(list,
                   [&](ondemand::value item) { return item.get_string().get(nodes.emplace_back().name); });
}

void append_number(std::string& out, int number) {
  std::array<char, 12> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

}  // namespace

struct ExtenderReader::Buffers {
  ondemand::parser parser;
  std::string padded;
};

ExtenderReader::ExtenderReader() : buffers_(std::make_unique<Buffers>()) {}
ExtenderReader::~ExtenderReader() = default;

Result<ExtenderArgs> ExtenderReader::read(std::string_view body) {
  auto& padded = buffers_->padded;
  padded.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  padded.assign(body);
  ondemand::document document;
  ondemand::value root;
  if (const auto error =
          buffers_->parser
              .iterate(simdjson::padded_string_view{padded.data(), padded.size(), padded.capacity()})
              .get(document);
      error != SUCCESS)
    return refuse(error);
  ondemand::json_type type{};
  if (const auto error = document.type().get(type); error != SUCCESS) return refuse(error);
  if (type != ondemand::json_type::object) return refuse("the body is no JSON object");
  if (const auto error = document.get_value().get(root); error != SUCCESS) return refuse(error);

  ExtenderArgs args;
  std::vector<OfferedNode> named;
  named.reserve(std::min(body.size() / kUsualNameBytes, kMostReserved));
  const auto error = each_field(root, [&](std::string_view key, ondemand::value value) {
    if (is_key(key, "pod")) return read_pod(value, args.tolerance);
    if (is_key(key, "nodes")) return read_objects(value, args.nodes);
    if (!is_key(key, "nodenames")) return SUCCESS;
    ondemand::json_type list{};
    if (const auto broken = value.type().get(list); broken != SUCCESS) return broken;
    args.by_name = list == ondemand::json_type::array;
    return read_names(value, named);
  });
  if (error != SUCCESS) return refuse(error);
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    return refuse("there is more behind the JSON object");
  if (args.by_name) args.nodes = std::move(named);
  const auto nameless =
      std::find_if(args.nodes.begin(), args.nodes.end(), [](const auto& node) { return node.name.empty(); });
  if (nameless != args.nodes.end())
    return refuse("node " + std::to_string(nameless - args.nodes.begin()) + " has no name");
  return args;
}

std::string filter_answer(const ExtenderArgs& args, std::span<const std::optional<std::string>> refusals) {
  std::string out;
  std::size_t size = 256;
  for (const auto& node : args.nodes) size += 3 + (args.by_name ? node.name.size() : node.raw.size());
  out.reserve(size);
  out += args.by_name ? R"({"Nodes":null,"NodeNames":[)" : R"({"Nodes":{"metadata":{},"items":[)";
  bool first = true;
  for (std::size_t i = 0; i < args.nodes.size(); ++i) {
    if (refusals[i]) continue;
    if (!first) out += ',';
    first = false;
    if (args.by_name)
      append_quoted(out, args.nodes[i].name);
    else
      out += args.nodes[i].raw;
  }
  out += args.by_name ? R"(],"FailedNodes":{)" : R"(]},"NodeNames":null,"FailedNodes":{)";
  first = true;
  for (std::size_t i = 0; i < args.nodes.size(); ++i) {
    if (!refusals[i]) continue;
    if (!first) out += ',';
    first = false;
    append_quoted(out, args.nodes[i].name);
    out += ':';
    append_quoted(out, *refusals[i]);
  }
  out += R"(},"FailedAndUnresolvableNodes":{},"Error":""})";
  return out;
}

std::string prioritize_answer(const ExtenderArgs& args, std::span<const int> scores) {
  std::string out;
  std::size_t size = 2;
  for (const auto& node : args.nodes) size += node.name.size() + 24;
  out.reserve(size);
  out += '[';
  for (std::size_t i = 0; i < args.nodes.size(); ++i) {
    if (i > 0) out += ',';
    out += R"({"Host":)";
    append_quoted(out, args.nodes[i].name);
    out += R"(,"Score":)";
    append_number(out, scores[i]);
    out += '}';
  }
  out += ']';
  return out;
}

}  // namespace tidewatt::k8s_json
