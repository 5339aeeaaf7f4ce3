// The functions under the formulas, each computed from a list of cases.
#include <fmt/format.h>

#include <algorithm>

#include "json_reader.h"
#include "tidewatt/inference/dirichlet.h"
#include "tidewatt/inference/information.h"
#include "tidewatt/inference/numerics.h"
#include "tidewatt/model_file/run_file.h"

namespace tidewatt::model_file {
namespace {

using inference::Mode;
using nlohmann::json;

json array(const std::vector<std::size_t>& shape, const std::vector<double>& data) {
  return {{"shape", shape}, {"data", data}};
}

Result<Array> argument(const json& in, const char* name) {
  const auto* value = find(in, name);
  if (value == nullptr) return bad(name, "missing");
  return to_array(*value, name);
}

/// Calls `cell(count, column total)` for each entry; `guard` is added to every entry of the total.
template <class Cell>
Result<json> by_column(const json& in, const char* name, double guard, const char* out, const Cell& cell) {
  TW_TRY(const auto a, argument(in, name));
  if (a.shape.empty() || a.shape[0] == 0) return bad(name, "has no rows");
  const std::size_t columns = a.data.size() / a.shape[0];
  std::vector<double> result(a.data.size());
  for (std::size_t j = 0; j < columns; ++j) {
    double total = 0;
    for (std::size_t i = 0; i < a.shape[0]; ++i) total += a.data[i * columns + j] + guard;
    for (std::size_t i = 0; i < a.shape[0]; ++i)
      result[i * columns + j] = cell(a.data[i * columns + j], total);
  }
  return json{{out, array(a.shape, result)}};
}

Result<json> ln_eps(const json& in) {
  TW_TRY(auto x, argument(in, "x"));
  for (double& one : x.data) {
    if (!(one >= 0)) return bad("x", "below 0");
    one = inference::ln_eps(one);
  }
  return json{{"y", array(x.shape, x.data)}};
}

Result<json> softmax(const json& in) {
  TW_TRY(auto x, argument(in, "x"));
  inference::softmax(x.data);
  return json{{"y", array(x.shape, x.data)}};
}

Result<json> kl(const json& in) {
  TW_TRY(const auto p, argument(in, "p"));
  TW_TRY(const auto q, argument(in, "q"));
  if (p.data.size() != q.data.size()) return bad("q", "not of p's length");
  for (const auto* list : {&p.data, &q.data})
    for (const double one : *list)
      if (!(one >= 0)) return bad("p, q", "below 0");
  return json{{"kl", inference::kullback_leibler(p.data, q.data)}};
}

Result<json> log_evidence(const json& in) {
  TW_TRY(const auto q, argument(in, "q"));
  TW_TRY(const auto p, argument(in, "p"));
  TW_TRY(const auto r, argument(in, "r"));
  if (p.data.size() != q.data.size() || r.data.size() != q.data.size())
    return bad("p, r", "not of q's length");
  for (std::size_t i = 0; i < q.data.size(); ++i)
    if (!(q.data[i] > 0 && p.data[i] > 0 && r.data[i] > 0 && q.data[i] + r.data[i] - p.data[i] > 0))
      return bad("q, p, r", "counts and q + r - p must be above 0");
  std::vector<double> s(q.data.size());
  const double f = inference::dirichlet_log_evidence(q.data, p.data, r.data, s);
  return json{{"F", f}, {"s", array(q.shape, s)}};
}

/// A model of one step with given beliefs: one control, states that stay.
Result<inference::Model> still_model(const std::vector<Array>& a, const json& in) {
  inference::Model model;
  const auto* qs = find(in, "qs");
  if (qs == nullptr || !qs->is_array() || qs->empty()) return bad("qs", "missing");
  std::vector<std::size_t> all;
  for (std::size_t f = 0; f < qs->size(); ++f) {
    TW_TRY(const auto q, to_array((*qs)[f], "qs"));
    const std::size_t n = q.data.size();
    if (n > 4096) return bad("qs", "more than 4096 states");
    model.shape.states.push_back(n);
    model.shape.controls.push_back(1);
    model.shape.drivers.push_back({f});
    model.d.push_back(q.data);
    inference::Table stay(n * n, 0.0);
    for (std::size_t s = 0; s < n; ++s) stay[s * n + s] = 1;
    model.b.push_back(std::move(stay));
    all.push_back(f);
  }
  for (const auto& one : a) {
    if (one.shape.empty()) return bad("A", "has no axes");
    model.shape.outcomes.push_back(one.shape[0]);
    model.shape.sees.push_back(all);
    model.a.push_back(one.data);
    model.c.emplace_back(one.shape[0], 0.0);
  }
  auto policies = inference::all_policies(model.shape, 1, 1);
  if (policies) model.policies = std::move(*policies);
  return model;
}

Result<json> information(const json& in, bool joint) {
  const auto* given = find(in, "A");
  if (given == nullptr) return bad("A", "missing");
  std::vector<Array> a;
  if (given->is_array()) {
    for (const auto& one : *given) {
      TW_TRY(auto array, to_array(one, "A"));
      a.push_back(std::move(array));
    }
  } else {
    TW_TRY(auto array, to_array(*given, "A"));
    a.push_back(std::move(array));
  }
  TW_TRY(auto model, still_model(a, in));
  inference::Options options;
  options.mode = Mode::compat;
  if (const auto fault = inference::find_fault(model, options)) return bad("A, qs", *fault);
  inference::Agent agent{std::move(model), options};
  agent.set_belief_to_prior();
  agent.plan();
  const double sum = agent.term(inference::Term::state_information, 0);
  if (!joint) return json{{"g", sum}};
  const auto gain = inference::joint_state_information(agent);
  if (gain.empty()) return bad("A", "too large");
  return json{{"g", gain[0]}, {"sum_of_single", sum}};
}

Result<json> ambiguity(const json& in) {
  TW_TRY(const auto a, argument(in, "A"));
  if (a.shape.empty() || a.shape[0] == 0) return bad("A", "has no rows");
  const std::size_t columns = a.data.size() / a.shape[0];
  std::vector<double> entropies(columns, 0.0);
  for (std::size_t i = 0; i < a.data.size(); ++i) {
    if (!(a.data[i] >= 0)) return bad("A", "below 0");
    entropies[i % columns] -= a.data[i] * inference::ln_eps(a.data[i]);
  }
  return json{{"H", array({a.shape.begin() + 1, a.shape.end()}, entropies)}};
}

Result<json> construct_policies(const json& in) {
  const auto* controls = find(in, "num_controls");
  if (controls == nullptr) return bad("num_controls", "missing");
  inference::Shape shape;
  TW_TRY(shape.controls, to_counts(*controls, "num_controls", 65535));
  TW_TRY(const auto length, count_or(in, "policy_len", 1, 64));
  shape.states.assign(shape.controls.size(), 1);
  const auto all = inference::all_policies(shape, length, std::size_t{1} << 20);
  if (!all) return bad("policy_len", "more than 2^20 policies");
  return json{{"policies", {{"shape", {all->count, all->length, all->factors}}, {"data", all->controls}}}};
}

Result<json> compute(const std::string& fn, const json& in) {
  constexpr double kGuard = 1e-16;
  if (fn == "softmax") return softmax(in);
  if (fn == "ln_eps") return ln_eps(in);
  if (fn == "kl") return kl(in);
  if (fn == "norm_columns")
    return by_column(in, "x", 0, "y", [](double x, double total) { return x / total; });
  if (fn == "wnorm") return by_column(in, "a", kGuard, "w", inference::compat_novelty_weight);
  if (fn == "novelty_exact")
    return by_column(in, "a", 0, "w", [](double a, double total) {
      return a > 0 ? inference::information_of_one_more(a, total) : 0;
    });
  if (fn == "novelty_first_order")
    return by_column(in, "a", 0, "w",
                     [](double a, double total) { return a > 0 ? (1 / a - 1 / total) / 2 : 0; });
  if (fn == "dirichlet_log_evidence") return log_evidence(in);
  if (fn == "state_info_gain") return information(in, false);
  if (fn == "state_info_gain_joint") return information(in, true);
  if (fn == "ambiguity_entropy") return ambiguity(in);
  if (fn == "construct_policies") return construct_policies(in);
  return bad("fn", "\"" + fn + "\" is no function of this list");
}

}  // namespace

bool is_unit_file(std::string_view text) {
  return text.substr(0, 4096).find("\"tidewatt-aif-unit/1\"") != text.npos;
}

Result<std::string> unit_report(std::string_view text) {
  TW_TRY(const auto file, parse_object(text));
  const auto* tests = find(file, "tests");
  if (tests == nullptr || !tests->is_array()) return bad("tests", "missing or not a list");
  auto out = json::array();
  for (std::size_t i = 0; i < tests->size(); ++i) {
    const auto& test = (*tests)[i];
    const auto where = fmt::format("tests[{}]", i);
    if (!test.is_object()) return bad(where, "not an object");
    TW_TRY(const auto fn, text_or(test, "fn", ""));
    const auto* in = find(test, "in");
    if (in == nullptr) return bad(where + ".in", "missing");
    auto result = compute(fn, *in);
    if (!result) return tl::unexpected(result.error().with_context(where));
    out.push_back({{"fn", fn}, {"out", std::move(*result)}});
  }
  return json{{"tests", std::move(out)}}.dump();
}

}  // namespace tidewatt::model_file
