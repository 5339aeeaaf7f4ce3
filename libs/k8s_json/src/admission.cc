#include "tidewatt/k8s_json/admission.h"

#include <simdjson.h>

#include "dom.h"
#include "json_text.h"
#include "tidewatt/k8s/base64.h"
#include "tidewatt/units/text.h"

namespace tidewatt::k8s_json {
namespace {

namespace dom = simdjson::dom;
using k8s::ObjectKind;
using simdjson::SUCCESS;

ObjectKind kind_of(const dom::object& request) {
  const auto kind = object_at(request, "kind");
  if (!kind) return ObjectKind::other;
  const auto group = text_at(*kind, "group");
  const auto name = text_at(*kind, "kind");
  if (group.empty() && name == "Pod") return ObjectKind::pod;
  return group == "batch" && name == "Job" ? ObjectKind::job : ObjectKind::other;
}

bool is_controlled_by_job(const dom::object& metadata) {
  dom::array owners;
  if (metadata["ownerReferences"].get(owners) != SUCCESS) return false;
  for (const auto owner : owners) {
    dom::object reference;
    bool controls = false;
    if (owner.get(reference) != SUCCESS || reference["controller"].get(controls) != SUCCESS) continue;
    if (controls && text_at(reference, "kind") == "Job" &&
        text_at(reference, "apiVersion").starts_with("batch/"))
      return true;
  }
  return false;
}

void read_labels(const dom::object& labels, k8s::PodFacts& pod) {
  pod.tolerance = text_at(labels, k8s::kPlainToleranceLabel);
  if (const auto prefixed = text_at(labels, k8s::kToleranceLabel); !prefixed.empty()) {
    pod.label = std::string{prefixed};
    pod.tolerance = prefixed;
  }
  for (const auto key : {k8s::kPlainTeamLabel, k8s::kTeamLabel})
    if (const auto team = text_at(labels, key); !team.empty()) pod.team = team;
}

/// Energy as the annotations say, or power for as long as the label says.
std::optional<double> energy_of(const dom::object& annotations, double hours) {
  constexpr double kMost = 1e12;
  const auto number = [&](std::string_view key) -> std::optional<double> {
    const auto value = parse_double(text_at(annotations, key));
    return value && *value >= 0 && *value <= kMost ? value : std::nullopt;
  };
  if (const auto energy = number(k8s::kEstimatedEnergyAnnotation)) return energy;
  const auto power = number(k8s::kEstimatedPowerAnnotation);
  return power ? std::optional(*power * hours / kPerKilo) : std::nullopt;
}

/// With our prefix or plain; the prefixed one wins.
std::string_view label_at(const dom::object& labels, const std::string& key) {
  const auto prefixed = text_at(labels, "tidewatt.io/" + key);
  return prefixed.empty() ? text_at(labels, key) : prefixed;
}

void read_gates(const dom::object& spec, k8s::PodFacts& pod) {
  dom::array gates;
  if (spec["schedulingGates"].get(gates) != SUCCESS) return;
  pod.has_gates = true;
  for (const auto gate : gates) {
    dom::object one;
    if (gate.get(one) == SUCCESS && text_at(one, "name") == k8s::kCleanWindowGate) pod.gated = true;
  }
}

k8s::PodFacts read_pod_facts(const dom::object& object) {
  k8s::PodFacts pod;
  if (const auto metadata = object_at(object, "metadata")) {
    const auto labels = object_at(*metadata, "labels");
    pod.has_labels = labels.has_value();
    if (labels) read_labels(*labels, pod);
    const auto annotations = object_at(*metadata, "annotations");
    pod.has_annotations = annotations.has_value();
    pod.has_latest_start = annotations && !text_at(*annotations, k8s::kLatestStartAnnotation).empty();
    pod.of_job = is_controlled_by_job(*metadata);
    pod.uid = text_at(*metadata, "uid");
    constexpr double kUsualHours = 8;
    constexpr double kMostHours = 1e6;
    double hours = kUsualHours;
    if (labels) {
      pod.priority = label_at(*labels, "carbon-priority");
      if (const auto told = parse_double(label_at(*labels, "estimated-duration-hours"));
          told && *told >= 0 && *told <= kMostHours)
        hours = *told;
    }
    if (annotations) pod.energy_kwh = energy_of(*annotations, hours);
  }
  if (const auto spec = object_at(object, "spec")) {
    pod.has_node = !text_at(*spec, "nodeName").empty();
    read_gates(*spec, pod);
  }
  return pod;
}

/// A Job's own team, or that of its pods.
k8s::PodFacts read_job_facts(const dom::object& object) {
  k8s::PodFacts job = read_pod_facts(object);
  if (const auto pods = object_at(object_at(object, "spec"), "template")) {
    auto template_facts = read_pod_facts(*pods);
    if (template_facts.team != k8s::PodFacts{}.team) job.team = std::move(template_facts.team);
  }
  return job;
}

tl::unexpected<Error> refuse_review(std::string why) {
  return fail(ErrorCode::invalid_input, std::move(why), "send an AdmissionReview of admission.k8s.io/v1");
}

class Patch {
 public:
  void add(const std::string& path, const std::string& value) {
    text_ += text_.empty() ? "[" : ",";
    text_ += R"({"op":"add","path":)";
    append_quoted(text_, path);
    text_ += R"(,"value":)" + value + "}";
  }
  /// Into an object that may have to be made first.
  void add_entry(const std::string& object, bool is_there, std::string_view key, std::string_view value) {
    if (is_there) return add(object + "/" + pointer_key(key), json_quoted(value));
    add(object, "{" + json_quoted(key) + ":" + json_quoted(value) + "}");
  }
  [[nodiscard]] std::string text() const { return text_ + "]"; }

 private:
  std::string text_;
};

std::string patch_of(const k8s::PodFacts& pod, const k8s::PodChanges& changes) {
  Patch patch;
  if (changes.label)
    patch.add_entry("/metadata/labels", pod.has_labels, k8s::kToleranceLabel, to_string(*changes.label));
  if (changes.constrained)
    patch.add_entry("/metadata/labels", pod.has_labels || changes.label, k8s::kConstrainedLabel, "true");
  if (changes.latest_start)
    patch.add_entry("/metadata/annotations", pod.has_annotations, k8s::kLatestStartAnnotation,
                    format_rfc3339_short(*changes.latest_start));
  if (changes.gate) {
    std::string gate = R"({"name":)";
    append_quoted(gate, k8s::kCleanWindowGate);
    gate += "}";
    patch.add(pod.has_gates ? "/spec/schedulingGates/-" : "/spec/schedulingGates",
              pod.has_gates ? gate : "[" + gate + "]");
  }
  return patch.text();
}

/// The answer up to its "allowed".
std::string begun(const k8s::AdmissionRequest& request) {
  std::string out = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":)";
  append_quoted(out, request.uid);
  return out;
}

}  // namespace

Result<k8s::AdmissionRequest> read_admission_review(std::string_view body) {
  thread_local dom::parser parser;
  dom::object review;
  if (const auto error = parser.parse(body.data(), body.size(), true).get(review); error != SUCCESS)
    return refuse_review(std::string{"the body can't be read as a JSON object: "} +
                         simdjson::error_message(error));
  if (text_at(review, "kind") != "AdmissionReview" || text_at(review, "apiVersion") != "admission.k8s.io/v1")
    return refuse_review("the body is of another kind or version");
  const auto request = object_at(review, "request");
  if (!request) return refuse_review("the review has no request");
  k8s::AdmissionRequest out;
  out.uid = text_at(*request, "uid");
  if (out.uid.empty()) return refuse_review("the request has no uid");
  out.kind = kind_of(*request);
  out.sub_resource = text_at(*request, "subResource");
  out.name = text_at(*request, "name");
  out.name_space = text_at(*request, "namespace");
  out.operation = text_at(*request, "operation");
  if (bool dry = false; (*request)["dryRun"].get(dry) == SUCCESS) out.dry_run = dry;
  const auto object = object_at(*request, "object");
  if (!object || out.kind == ObjectKind::other) {
    out.kind = ObjectKind::other;
    return out;
  }
  out.pod = out.kind == ObjectKind::pod ? read_pod_facts(*object) : read_job_facts(*object);
  return out;
}

std::string mutate_answer(const k8s::AdmissionRequest& request, const k8s::PodChanges& changes) {
  std::string out = begun(request) + R"(,"allowed":true)";
  if (!changes.none()) {
    out += R"(,"patchType":"JSONPatch","patch":")";
    out += k8s::base64(patch_of(request.pod, changes));
    out += '"';
  }
  if (!changes.warnings.empty()) {
    out += R"(,"warnings":[)";
    for (const auto& warning : changes.warnings) {
      if (&warning != &changes.warnings.front()) out += ',';
      append_quoted(out, warning);
    }
    out += ']';
  }
  return out + "}}";
}

std::string validate_answer(const k8s::AdmissionRequest& request, const std::optional<std::string>& refusal) {
  if (!refusal) return begun(request) + R"(,"allowed":true}})";
  std::string out =
      begun(request) + R"(,"allowed":false,"status":{"code":403,"reason":"Forbidden","message":)";
  append_quoted(out, *refusal);
  return out + "}}}";
}

}  // namespace tidewatt::k8s_json
