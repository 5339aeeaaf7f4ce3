#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>

#include "dom.h"
#include "tidewatt/k8s_json/held.h"
#include "tidewatt/units/text.h"

namespace tidewatt::k8s_json {
namespace {

namespace dom = simdjson::dom;
using k8s::Held;
using simdjson::SUCCESS;

constexpr double kLongestDurationHours = 24.0 * 366;

bool flag_at(const dom::object& object, std::string_view key) {
  bool value = false;
  return object[key].get(value) == SUCCESS && value;
}

std::optional<UtcTime> time_at(const std::optional<dom::object>& object, std::string_view key) {
  return object ? parse_rfc3339(text_at(*object, key)) : std::nullopt;
}

std::string_view first_text(const dom::object& object, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys)
    if (const auto text = text_at(object, key); !text.empty()) return text;
  return {};
}

void read_held_labels(const dom::object& labels, Held& held) {
  held.tolerance = first_text(labels, {k8s::kToleranceLabel, k8s::kPlainToleranceLabel});
  held.opened = text_at(labels, k8s::kOpenedLabel);
  const auto hours = parse_double(first_text(labels, {k8s::kDurationLabel, k8s::kPlainDurationLabel}));
  if (hours && *hours > 0 && *hours <= kLongestDurationHours)
    held.duration = Milliseconds{static_cast<std::int64_t>(std::ceil(*hours * 3'600'000))};
}

void read_held_annotations(const dom::object& annotations, Held& held) {
  held.latest_start = time_at(annotations, k8s::kLatestStartAnnotation);
  held.planned_start = time_at(annotations, k8s::kPlannedStartAnnotation);
  held.opened_at = time_at(annotations, k8s::kOpenedAtAnnotation);
  held.decision = text_at(annotations, k8s::kDecisionAnnotation);
  held.accounted = !first_text(annotations, {k8s::kCarbonAnnotation, k8s::kCarbonMissingAnnotation}).empty();
}

void read_metadata(const dom::object& metadata, Held& held) {
  held.name = text_at(metadata, "name");
  held.name_space = text_at(metadata, "namespace");
  held.uid = text_at(metadata, "uid");
  held.resource_version = text_at(metadata, "resourceVersion");
  held.created = parse_rfc3339(text_at(metadata, "creationTimestamp")).value_or(UtcTime{});
  held.deleting = !text_at(metadata, "deletionTimestamp").empty();
  const auto labels = object_at(metadata, "labels");
  held.has_labels = labels.has_value();
  if (labels) read_held_labels(*labels, held);
  const auto annotations = object_at(metadata, "annotations");
  held.has_annotations = annotations.has_value();
  if (annotations) read_held_annotations(*annotations, held);
  dom::array owners;
  if (metadata["ownerReferences"].get(owners) != SUCCESS) return;
  for (const auto owner : owners) {
    dom::object one;
    if (owner.get(one) == SUCCESS && flag_at(one, "controller") && text_at(one, "kind") == "Job" &&
        text_at(one, "apiVersion").starts_with("batch/"))
      held.job_uid = text_at(one, "uid");
  }
}

void read_pod(const dom::object& pod, Held& held) {
  if (const auto spec = object_at(pod, "spec")) {
    if (const auto selector = object_at(*spec, "nodeSelector"))
      held.topology = first_text(*selector, {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"});
    dom::array gates;
    std::size_t at = 0;
    if ((*spec)["schedulingGates"].get(gates) == SUCCESS) {
      for (const auto gate : gates) {
        dom::object one;
        if (gate.get(one) == SUCCESS && text_at(one, "name") == k8s::kCleanWindowGate) {
          held.held = true;
          held.gate_index = at;
        }
        ++at;
      }
    }
  }
  const auto status = object_at(pod, "status");
  if (!status) return;
  const auto phase = text_at(*status, "phase");
  held.ended = phase == "Succeeded" || phase == "Failed";
  dom::array containers;
  if (!held.ended || (*status)["containerStatuses"].get(containers) != SUCCESS) return;
  for (const auto container : containers) {
    dom::object one;
    if (container.get(one) != SUCCESS) continue;
    const auto finished = time_at(object_at(object_at(one, "state"), "terminated"), "finishedAt");
    if (finished && (!held.ended_at || *finished > *held.ended_at)) held.ended_at = finished;
  }
}

/// A Job of Kueue is Kueue's to resume.
void read_job(const dom::object& job, Held& held) {
  const auto metadata = object_at(job, "metadata");
  const auto annotations = object_at(metadata, "annotations");
  const auto labels = object_at(metadata, "labels");
  const bool asked = annotations && text_at(*annotations, k8s::kSuspendAnnotation) == "hold";
  const bool of_kueue = labels && !text_at(*labels, k8s::kKueueQueueLabel).empty();
  const auto spec = object_at(job, "spec");
  held.held = asked && !of_kueue && spec && flag_at(*spec, "suspend");
  if (const auto selector =
          object_at(object_at(object_at(object_at(job, "spec"), "template"), "spec"), "nodeSelector"))
    held.topology = first_text(*selector, {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"});
}

Held read_object(k8s::ObjectKind kind, const dom::object& object) {
  Held held;
  held.kind = kind;
  if (const auto metadata = object_at(object, "metadata")) read_metadata(*metadata, held);
  if (kind == k8s::ObjectKind::job) {
    read_job(object, held);
  } else {
    read_pod(object, held);
  }
  return held;
}

Result<dom::object> parsed(dom::parser& parser, std::string_view text, std::string_view what) {
  dom::object object;
  if (const auto error = parser.parse(text.data(), text.size(), true).get(object); error != SUCCESS)
    return fail(ErrorCode::corrupt, fmt::format("the API server's {} is no JSON object: {}", what,
                                                simdjson::error_message(error)));
  return object;
}

}  // namespace

Result<HeldList> read_held_list(k8s::ObjectKind kind, std::string_view body) {
  dom::parser parser;
  TW_TRY(const auto list, parsed(parser, body, "list"));
  HeldList out;
  if (const auto metadata = object_at(list, "metadata")) {
    out.resource_version = text_at(*metadata, "resourceVersion");
    out.next = text_at(*metadata, "continue");
  }
  if (out.resource_version.empty())
    return fail(ErrorCode::corrupt, "the API server's list has no resourceVersion");
  dom::array items;
  if (list["items"].get(items) != SUCCESS) return out;  // null: none
  for (const auto item : items) {
    dom::object object;
    if (item.get(object) != SUCCESS) continue;
    auto held = read_object(kind, object);
    if (!held.uid.empty() && !held.name.empty()) out.items.push_back(std::move(held));
  }
  return out;
}

Result<Held> read_held(k8s::ObjectKind kind, std::string_view body) {
  dom::parser parser;
  TW_TRY(const auto object, parsed(parser, body, "object"));
  auto held = read_object(kind, object);
  if (held.uid.empty() || held.name.empty())
    return fail(ErrorCode::corrupt, "the API server's object has no name or no uid");
  return held;
}

Result<WatchEvent> read_watch_event(k8s::ObjectKind kind, std::string_view line) {
  thread_local dom::parser parser;
  TW_TRY(const auto event, parsed(parser, line, "watch event"));
  const auto object = object_at(event, "object");
  const auto type = text_at(event, "type");
  if (!object) return fail(ErrorCode::corrupt, "the API server's watch event has no object");
  WatchEvent out;
  if (type == "ERROR") {
    if (std::int64_t code = 0; (*object)["code"].get(code) == SUCCESS && code > 0 && code < 1000)
      out.code = static_cast<int>(code);
    out.message = text_at(*object, "message");
    return out;
  }
  out.held = read_object(kind, *object);
  out.resource_version = out.held.resource_version;
  if (out.resource_version.empty())
    return fail(ErrorCode::corrupt, "the API server's watch event has no resourceVersion");
  if (type == "BOOKMARK") {
    out.type = WatchEvent::Type::bookmark;
    return out;
  }
  if ((type != "ADDED" && type != "MODIFIED" && type != "DELETED") || out.held.uid.empty() ||
      out.held.name.empty())
    return fail(ErrorCode::corrupt, "the API server's watch event is of no known type, or about no object");
  out.type = type == "DELETED" ? WatchEvent::Type::deleted : WatchEvent::Type::changed;
  return out;
}

std::string status_message(int status, std::string_view body) {
  dom::parser parser;
  std::string message;
  if (const auto object = parsed(parser, body, "answer")) message = text_at(*object, "message");
  constexpr std::size_t kLongest = 300;
  message.resize(std::min(message.size(), kLongest));
  std::replace_if(
      message.begin(), message.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return message.empty() ? fmt::format("status {}", status) : fmt::format("{} ({})", message, status);
}

Result<k8s::LeaseRecord> read_lease(std::string_view body) {
  dom::parser parser;
  TW_TRY(const auto lease, parsed(parser, body, "Lease"));
  k8s::LeaseRecord record;
  if (const auto metadata = object_at(lease, "metadata"))
    record.resource_version = text_at(*metadata, "resourceVersion");
  if (record.resource_version.empty())
    return fail(ErrorCode::corrupt, "the API server's Lease has no resourceVersion");
  const auto spec = object_at(lease, "spec");
  if (!spec) return record;
  record.holder = text_at(*spec, "holderIdentity");
  std::int64_t number = 0;
  if ((*spec)["leaseDurationSeconds"].get(number) == SUCCESS && number > 0) record.duration_s = number;
  if ((*spec)["leaseTransitions"].get(number) == SUCCESS && number > 0 && number < (1LL << 30U))
    record.transitions = number;
  record.acquired = time_at(spec, "acquireTime").value_or(UtcTime{});
  record.renewed = time_at(spec, "renewTime").value_or(UtcTime{});
  return record;
}

}  // namespace tidewatt::k8s_json
