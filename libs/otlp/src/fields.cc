#include "fields.h"

#include <algorithm>
#include <limits>

#include "tidewatt/units/printable.h"

namespace tidewatt::otlp {
namespace {

std::string short_name(std::string_view text) { return printable(text, kLongestName); }

template <class Fields>
struct Wanted {
  std::string_view key;
  std::string Fields::* field;
};

traces::SpanId id_of(const std::string& bytes) {
  traces::SpanId id = 0;
  if (bytes.size() != sizeof id) return 0;
  for (const char byte : bytes) id = id << 8U | static_cast<unsigned char>(byte);
  return id;
}

std::optional<traces::SpanTime> time_of(std::uint64_t ns) {
  if (ns == 0 || ns > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return std::nullopt;
  return traces::SpanTime{traces::Nanoseconds{static_cast<std::int64_t>(ns)}};
}

/// What was asked for, never with the ids in it: a path itself would make an endpoint of each of them.
std::string route_of(const SpanFields& span) {
  if (!span.http_route.empty())
    return short_name(span.http_method.empty() ? span.http_route : span.http_method + " " + span.http_route);
  if (!span.rpc_method.empty())
    return short_name(span.rpc_service.empty() ? span.rpc_method : span.rpc_service + "/" + span.rpc_method);
  return span.name.empty() ? "(unnamed)" : short_name(span.name);
}

}  // namespace

void ResourceFields::attribute(std::string_view key, std::string_view text) {
  const Wanted<ResourceFields> wanted[] = {
      {"service.name", &ResourceFields::service_},     {"tidewatt.task_id", &ResourceFields::task_},
      {"tidewatt.cluster", &ResourceFields::cluster_}, {"k8s.cluster.name", &ResourceFields::k8s_cluster_},
      {"k8s.namespace.name", &ResourceFields::space_}, {"k8s.pod.name", &ResourceFields::pod_},
      {"k8s.pod.uid", &ResourceFields::pod_uid_},      {"slurm.job.id", &ResourceFields::slurm_job_},
      {"container.id", &ResourceFields::container_}};
  for (const auto& [wanted_key, field] : wanted)
    if (wanted_key == key) this->*field = short_name(text);
}

Sender ResourceFields::sender() const {
  Sender sender;
  sender.service = service_.empty() ? "(unnamed)" : service_;
  sender.cluster = !cluster_.empty() ? cluster_ : !k8s_cluster_.empty() ? k8s_cluster_ : "default";
  sender.task_id = task_;
  // As the agent names them, and as a Prometheus does.
  if (!pod_uid_.empty()) sender.candidates.push_back("pod/" + pod_uid_);
  if (!space_.empty() && !pod_.empty()) sender.candidates.push_back(space_ + "/" + pod_);
  if (!slurm_job_.empty()) sender.candidates.push_back("slurm/" + slurm_job_);
  if (!container_.empty()) sender.candidates.push_back("container/" + container_);
  if (!service_.empty()) sender.guesses = {service_, "unit/" + service_ + ".service"};
  return sender;
}

void SpanFields::attribute(std::string_view key, std::string_view text) {
  const Wanted<SpanFields> wanted[] = {{"http.route", &SpanFields::http_route},
                                       {"http.request.method", &SpanFields::http_method},
                                       {"http.method", &SpanFields::http_method},
                                       {"rpc.service", &SpanFields::rpc_service},
                                       {"rpc.method", &SpanFields::rpc_method}};
  for (const auto& [wanted_key, field] : wanted)
    if (wanted_key == key) this->*field = short_name(text);
}

std::optional<traces::Span> SpanFields::span(const std::string& service) const {
  traces::Span span;
  span.id = id_of(span_id);
  const auto begin = time_of(begin_ns);
  const auto end = time_of(end_ns);
  if (span.id == 0 || trace_id.size() != span.trace.size() || !begin || !end || *end < *begin)
    return std::nullopt;
  std::transform(trace_id.begin(), trace_id.end(), span.trace.begin(),
                 [](char byte) { return static_cast<std::uint8_t>(byte); });
  if (span.trace == traces::TraceId{}) return std::nullopt;
  span.parent = id_of(parent_id);
  span.begin = *begin;
  span.end = *end;
  span.service = service;
  span.route = route_of(*this);
  span.entry = span.parent == 0 || kind == kKindServer || kind == kKindConsumer;
  span.failed = status == kStatusError;
  return span;
}

}  // namespace tidewatt::otlp
