// AdmissionReview (admission.k8s.io/v1) in and out.
#pragma once

#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/k8s/admission.h"

namespace tidewatt::k8s_json {

/// Of other kinds than pods and batch Jobs only kind, operation and names are read.
/// @error invalid_input  no AdmissionReview of v1 with a request and its uid
Result<k8s::AdmissionRequest> read_admission_review(std::string_view body);

/// allowed, with the changes as a JSON patch where there are any.
std::string mutate_answer(const k8s::AdmissionRequest& request, const k8s::PodChanges& changes);
/// @param refusal nullopt = allowed
std::string validate_answer(const k8s::AdmissionRequest& request, const std::optional<std::string>& refusal);

}  // namespace tidewatt::k8s_json
