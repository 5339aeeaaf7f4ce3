// Whatever a caller sends: no crash, one-line errors, an answer for every review.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tidewatt/k8s_json/admission.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt;
  const auto request = k8s_json::read_admission_review({reinterpret_cast<const char*>(data), size});
  if (!request) {
    if (request.error().to_string().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  k8s::AdmissionRules rules;
  rules.default_tolerance = k8s::Tolerance::daily;
  const auto changes = k8s::changes_of(*request, rules, UtcTime{});
  if (!changes.none() && request->kind != k8s::ObjectKind::pod) std::abort();
  (void)k8s_json::mutate_answer(*request, changes);
  (void)k8s_json::validate_answer(*request, k8s::refusal_of(*request, rules, {}));
  return 0;
}
