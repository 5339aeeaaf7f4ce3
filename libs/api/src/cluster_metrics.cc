#include "cluster_metrics.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace tidewatt::api {
namespace {

struct OutcomeName {
  std::string_view asked;
  std::string_view outcome;
};

/// In the order of ClusterOutcome.
constexpr std::array<OutcomeName, static_cast<std::size_t>(ClusterOutcome::count_of_them)> kOutcomes{
    {{"filter", "answered"},
     {"filter", "invalid"},
     {"prioritize", "answered"},
     {"prioritize", "invalid"},
     {"mutate", "held"},
     {"mutate", "changed"},
     {"mutate", "unchanged"},
     {"mutate", "invalid"},
     {"validate", "allowed"},
     {"validate", "refused_quota"},
     {"validate", "refused_budget"},
     {"validate", "invalid"},
     {"replicas", "signal"},
     {"replicas", "schedule"},
     {"replicas", "nothing"},
     {"replicas", "unknown_policy"}}};

struct Family {
  std::string_view name;
  std::string_view help;
  std::string_view label;
  ClusterOutcome first;
  ClusterOutcome end;
};
constexpr std::array kFamilies{
    Family{"tidewatt_extender_requests_total", "What kube-scheduler asked, by verb and outcome.", "verb",
           ClusterOutcome::filter_answered, ClusterOutcome::mutate_held},
    Family{"tidewatt_admission_reviews_total",
           "Objects that kube-apiserver asked about, by webhook and outcome.", "webhook",
           ClusterOutcome::mutate_held, ClusterOutcome::keda_signal},
    Family{"tidewatt_keda_answers_total", "Replicas that KEDA asked for, by what decided them.", "asked",
           ClusterOutcome::keda_signal, ClusterOutcome::count_of_them}};

}  // namespace

void ClusterMetrics::write(std::string& out) const {
  for (const auto& family : kFamilies) {
    fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} counter\n", family.name, family.help);
    for (auto i = static_cast<std::size_t>(family.first); i < static_cast<std::size_t>(family.end); ++i)
      fmt::format_to(std::back_inserter(out), "{}{{{}=\"{}\",outcome=\"{}\"}} {}\n", family.name,
                     family.label, kOutcomes.at(i).asked, kOutcomes.at(i).outcome,
                     counts_.at(i).load(std::memory_order_relaxed));
  }
  extender.write(out, "tidewatt_extender_request_seconds",
                 "Time to answer kube-scheduler, reading included.");
  admission.write(out, "tidewatt_admission_review_seconds", "Time to answer kube-apiserver.");
  keda.write(out, "tidewatt_keda_answer_seconds", "Time to answer KEDA over HTTP.");
}

}  // namespace tidewatt::api
