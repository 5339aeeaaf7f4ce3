// What both encodings collect of a resource and of a span, and what becomes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/otlp/traces.h"

namespace tidewatt::otlp {

constexpr std::int64_t kKindServer = 2;
constexpr std::int64_t kKindConsumer = 5;
constexpr std::int64_t kStatusError = 2;

/// Attributes of a resource that name its task.
class ResourceFields {
 public:
  void attribute(std::string_view key, std::string_view text);
  [[nodiscard]] Sender sender() const;

 private:
  std::string service_, cluster_, k8s_cluster_, task_, space_, pod_, pod_uid_, slurm_job_, container_;
};

struct SpanFields {
  std::string trace_id;  ///< bytes
  std::string span_id;
  std::string parent_id;
  std::string name;
  std::int64_t kind = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::int64_t status = 0;
  std::string http_route, http_method, rpc_service, rpc_method;

  void attribute(std::string_view key, std::string_view text);
  /// nullopt: no ids, or no times
  [[nodiscard]] std::optional<traces::Span> span(const std::string& service) const;
};

}  // namespace tidewatt::otlp
