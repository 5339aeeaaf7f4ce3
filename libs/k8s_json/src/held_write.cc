#include <fmt/format.h>

#include <cstdint>

#include "json_text.h"
#include "tidewatt/k8s_json/held.h"
#include "tidewatt/units/text.h"

namespace tidewatt::k8s_json {
namespace {

using k8s::Held;
using Entries = std::vector<std::pair<std::string_view, std::string>>;

/// The operations of a patch on one object, which is tested to be the one that was seen.
class ObjectPatch {
 public:
  explicit ObjectPatch(const Held& held) : held_(held) { test("/metadata/uid", json_quoted(held.uid)); }

  void test(std::string_view path, const std::string& value) { add_operation("test", path, value); }
  void replace(std::string_view path, const std::string& value) { add_operation("replace", path, value); }
  void remove(std::string_view path) {
    start();
    text_ += fmt::format(R"({{"op":"remove","path":{}}})", json_quoted(path));
  }
  /// Entries of metadata.labels or metadata.annotations. Where there are none yet the whole object is added,
  /// and only to the very version that was seen: somebody else's entries aren't overwritten.
  void put(std::string_view object, bool is_there, const Entries& entries) {
    if (is_there) {
      for (const auto& [key, value] : entries)
        add_operation("add", fmt::format("{}/{}", object, pointer_key(key)), json_quoted(value));
      return;
    }
    std::string whole;
    for (const auto& [key, value] : entries)
      whole += fmt::format("{}{}:{}", whole.empty() ? "{" : ",", json_quoted(key), json_quoted(value));
    test("/metadata/resourceVersion", json_quoted(held_.resource_version));
    add_operation("add", object, whole + "}");
  }
  [[nodiscard]] std::string text() const { return text_ + "]"; }

 private:
  void start() { text_ += text_.empty() ? "[" : ","; }
  void add_operation(std::string_view op, std::string_view path, const std::string& value) {
    start();
    text_ += fmt::format(R"({{"op":"{}","path":{},"value":{}}})", op, json_quoted(path), value);
  }

  const Held& held_;
  std::string text_;
};

std::string gate_path(const Held& held) { return fmt::format("/spec/schedulingGates/{}", held.gate_index); }

void test_held(ObjectPatch& patch, const Held& held) {
  if (held.kind == k8s::ObjectKind::job) {
    patch.test("/spec/suspend", "true");
  } else {
    patch.test(gate_path(held) + "/name", json_quoted(k8s::kCleanWindowGate));
  }
}

/// "2026-11-29T08:00:20.000000Z": six digits, no more and no less.
std::string micro_time(UtcTime at) {
  auto text = format_rfc3339(at);
  text.insert(text.size() - 1, "000");
  return text;
}

/// FNV-1a, as 16 hex digits.
std::string short_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x}", hash);
}

}  // namespace

std::string open_patch(const Held& held, const k8s::GateDecision& decision, UtcTime now) {
  ObjectPatch patch{held};
  test_held(patch, held);
  // First what is tested against the version that was seen.
  patch.put("/metadata/labels", held.has_labels, {{k8s::kOpenedLabel, std::string{decision.by}}});
  patch.put(
      "/metadata/annotations", held.has_annotations,
      {{k8s::kOpenedAtAnnotation, format_rfc3339_short(now)}, {k8s::kDecisionAnnotation, decision.why}});
  if (held.kind == k8s::ObjectKind::job) {
    patch.replace("/spec/suspend", "false");
  } else {
    patch.remove(gate_path(held));
  }
  return patch.text();
}

std::string plan_patch(const Held& held, UtcTime planned, std::string_view decision) {
  ObjectPatch patch{held};
  test_held(patch, held);
  Entries entries{{k8s::kPlannedStartAnnotation, format_rfc3339_short(planned)},
                  {k8s::kDecisionAnnotation, std::string{decision}}};
  // Computed once, so that it holds whatever happens to the labels.
  if (!held.latest_start)
    entries.emplace_back(k8s::kLatestStartAnnotation, format_rfc3339_short(k8s::latest_start_of(held)));
  patch.put("/metadata/annotations", held.has_annotations, entries);
  return patch.text();
}

std::string account_patch(const Held& held, const Account& account) {
  ObjectPatch patch{held};
  Entries entries;
  if (account.energy_kwh) entries.emplace_back(k8s::kEnergyAnnotation, format_double(*account.energy_kwh));
  if (account.carbon_kgco2e)
    entries.emplace_back(k8s::kCarbonAnnotation, format_double(*account.carbon_kgco2e));
  if (!account.missing.empty()) entries.emplace_back(k8s::kCarbonMissingAnnotation, account.missing);
  patch.put("/metadata/annotations", held.has_annotations, entries);
  return patch.text();
}

std::string event_json(const Held& held, std::string_view reason, std::string_view message, bool warning,
                       std::string_view reporter, UtcTime at) {
  const bool job = held.kind == k8s::ObjectKind::job;
  constexpr std::size_t kLongestName = 200;
  const auto name = fmt::format("{}.{}", held.name.substr(0, kLongestName),
                                short_hash(held.uid + "/" + std::string{reason}));
  const auto when = json_quoted(format_rfc3339_short(at));
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Event","metadata":{{"name":{},"namespace":{}}},"involvedObject":{{"apiVersion":"{}","kind":"{}","namespace":{},"name":{},"uid":{}}},"reason":{},"message":{},"type":"{}","source":{{"component":"tidewatt"}},"firstTimestamp":{},"lastTimestamp":{},"count":1,"reportingComponent":"tidewatt.io/controller","reportingInstance":{}}})",
      json_quoted(name), json_quoted(held.name_space), job ? "batch/v1" : "v1", job ? "Job" : "Pod",
      json_quoted(held.name_space), json_quoted(held.name), json_quoted(held.uid), json_quoted(reason),
      json_quoted(message), warning ? "Warning" : "Normal", when, when, json_quoted(reporter));
}

std::string lease_json(std::string_view name_space, std::string_view name, const k8s::LeaseRecord& record) {
  std::string version;
  if (!record.resource_version.empty())
    version = fmt::format(R"(,"resourceVersion":{})", json_quoted(record.resource_version));
  return fmt::format(
      R"({{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{{"name":{},"namespace":{}{}}},"spec":{{"holderIdentity":{},"leaseDurationSeconds":{},"acquireTime":"{}","renewTime":"{}","leaseTransitions":{}}}}})",
      json_quoted(name), json_quoted(name_space), version, json_quoted(record.holder), record.duration_s,
      micro_time(record.acquired), micro_time(record.renewed), record.transitions);
}

}  // namespace tidewatt::k8s_json
