#include "tidewatt/model_file/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "json_reader.h"
#include "session.h"
#include "tidewatt/inference/fingerprint.h"

namespace tidewatt::model_file {
namespace {

using inference::Agent;
using inference::Mode;
using inference::Term;
using nlohmann::json;

constexpr struct {
  Term term;
  const char* name;
} kTerms[] = {{Term::utility, "utility"},
              {Term::state_information, "state_information"},
              {Term::a_information, "a_information"},
              {Term::b_information, "b_information"}};

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }
std::string hash_of(std::string_view text) {
  inference::Fingerprint hash;
  hash.add(text);
  return hex(hash.value());
}
double rounded(double x) { return std::round(x * 1e6) / 1e6; }

bool in_use(const Agent& agent, Term term) {
  const auto& options = agent.options();
  if (term == Term::utility) return options.use_utility;
  if (term == Term::state_information) return options.use_state_information;
  return options.use_parameter_information;
}

/// G of a policy and the terms that add up to it.
json terms_of(const Agent& agent, std::size_t policy) {
  json terms = json::object();
  for (const auto& [term, name] : kTerms)
    if (in_use(agent, term)) terms[name] = agent.term(term, policy);
  return terms;
}

/// The most probable policy that begins with an action.
std::size_t best_policy(const Agent& agent, std::size_t action) {
  std::size_t best = agent.values().size();
  for (std::size_t p = 0; p < agent.values().size(); ++p)
    if (agent.action_of_policy(p) == action &&
        (best == agent.values().size() ||
         agent.policy_probabilities()[p] > agent.policy_probabilities()[best]))
      best = p;
  return best;
}

std::size_t index_of(const Agent& agent, const std::vector<std::size_t>& action) {
  for (std::size_t i = 0; i < agent.action_count(); ++i) {
    const auto one = agent.action(i);
    if (std::equal(one.begin(), one.end(), action.begin(), action.end())) return i;
  }
  return agent.action_count();
}

json belief_of(const Agent& agent, std::size_t most) {
  auto all = json::array();
  for (std::size_t f = 0; f < agent.model().shape.factors(); ++f) {
    const auto q = agent.posterior(f);
    std::vector<std::size_t> order(q.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return q[a] > q[b]; });
    auto one = json::array();
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i)
      one.push_back({order[i], rounded(q[order[i]])});
    all.push_back(std::move(one));
  }
  return all;
}

/// Why the likeliest other actions were not taken: what each term lacks, or that the mask forbids them.
json why_not(const Session& session, std::size_t chosen, std::size_t chosen_policy, std::size_t most) {
  const auto& agent = session.agent();
  const auto p = agent.action_probabilities();
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  auto all = json::array();
  for (const auto action : order) {
    if (action == chosen) continue;
    if (all.size() == most) break;
    const auto policy = best_policy(agent, action);
    const auto controls = agent.action(action);
    json one{{"action", std::vector<std::size_t>(controls.begin(), controls.end())},
             {"p", rounded(p[action])}};
    if (session.mask() && session.mask()->allowed_actions()[action] == 0) one["masked"] = true;
    if (chosen_policy < agent.values().size())
      for (const auto& [term, name] : kTerms)
        if (in_use(agent, term))
          one["against"][name] = rounded(agent.term(term, policy) - agent.term(term, chosen_policy));
    all.push_back(std::move(one));
  }
  return all;
}

struct Place {
  std::string name, model_hash;
  std::size_t episode = 0, step = 0;
};

std::string write_record(const Session& session, const Place& place, const std::vector<std::size_t>& action,
                         bool forced) {
  const auto& agent = session.agent();
  const auto chosen = index_of(agent, action);
  const auto policy = chosen < agent.action_count() ? best_policy(agent, chosen) : agent.values().size();
  json record{{"v", 1},
              {"model", {{"file", place.name}, {"fnv", place.model_hash}}},
              {"mode", agent.options().mode == Mode::compat ? "compat" : "exact"},
              {"episode", place.episode},
              {"step", place.step},
              {"action", action},
              {"by", forced ? "file" : "engine"},
              {"surprise", rounded(agent.free_energy())},
              {"result", hex(agent.fingerprint())}};
  if (policy < agent.values().size()) {
    record["G"] = agent.values()[policy];
    record["terms"] = terms_of(agent, policy);
    const auto& e = agent.model().e;
    record["prior"] = e.empty() ? 1.0 / static_cast<double>(agent.values().size()) : e[policy];
    record["p"] = rounded(session.action_probabilities()[chosen]);
  }
  if (session.mask()) {
    const auto allowed = session.mask()->allowed_policies();
    record["mask"] = {{"policies", allowed.size()},
                      {"allowed", std::count(allowed.begin(), allowed.end(), 1)}};
    if (policy < agent.values().size()) record["mask"]["bound"] = session.mask()->bound(0, policy);
  }
  for (std::size_t detail = 3; detail > 0; --detail) {
    record.erase("check");
    record["belief"] = belief_of(agent, detail);
    record["why_not"] = why_not(session, chosen, policy, 3);
    record["check"] = hash_of(record.dump());
    if (record.dump().size() <= kLargestRecord) return record.dump();
  }
  // Too many factors: the belief is in the replay.
  for (const char* part : {"belief", "why_not", "terms"}) {
    record.erase("check");
    record.erase(part);
    record["check"] = hash_of(record.dump());
    if (record.dump().size() <= kLargestRecord) break;
  }
  return record.dump();
}

/// Takes decisions until `done` says so. `each(session, place, action, forced)`.
template <class Each>
void walk(const RunFile& file, const Each& each) {
  Session session{file};
  for (std::size_t e = 0; e < file.episodes.size(); ++e) {
    session.begin_episode();
    for (std::size_t t = 0; t < file.episodes[e].size(); ++t) {
      const auto& step = file.episodes[e][t];
      session.observe(step);
      session.learn();
      session.plan();
      const auto action = session.act(step);
      if (!each(session, e, t, action, step.action.has_value())) return;
    }
    session.end_episode();
  }
}

tl::unexpected<Error> changed(const std::string& what) {
  return fail(ErrorCode::corrupt, what,
              "the decision can't be trusted; compare with the original record and model");
}

}  // namespace

std::vector<std::string> decision_records(const RunFile& file, std::string_view name, std::string_view text) {
  std::vector<std::string> records;
  const auto hash = hash_of(text);
  walk(file, [&](const Session& session, std::size_t e, std::size_t t, const std::vector<std::size_t>& action,
                 bool forced) {
    records.push_back(write_record(session, {std::string{name}, hash, e, t}, action, forced));
    return true;
  });
  return records;
}

Result<RecordHead> read_record_head(std::string_view record) {
  while (!record.empty() && (record.back() == '\n' || record.back() == '\r')) record.remove_suffix(1);
  TW_TRY(auto parsed, parse_object(record));
  TW_TRY(const auto check, text_or(parsed, "check", ""));
  if (check.empty()) return fail(ErrorCode::invalid_input, "not a decision record: it has no check");
  // Byte for byte what was written: no other spelling of the same numbers either.
  if (parsed.dump() != record) return changed("the record is not as it was written");
  parsed.erase("check");
  if (hash_of(parsed.dump()) != check) return changed("the record was changed: its check does not fit");
  const auto* model = find(parsed, "model");
  if (model == nullptr) return bad("model", "missing");
  RecordHead head;
  TW_TRY(head.model_name, text_or(*model, "file", ""));
  TW_TRY(const auto mode, text_or(parsed, "mode", "exact"));
  head.mode = mode == "compat" ? Mode::compat : Mode::exact;
  return head;
}

Result<std::string> explain_record(std::string_view record, std::string_view model_text) {
  while (!record.empty() && (record.back() == '\n' || record.back() == '\r')) record.remove_suffix(1);
  TW_TRY(const auto head, read_record_head(record));
  TW_TRY(const auto parsed, parse_object(record));
  TW_TRY(const auto model_hash, text_or(parsed["model"], "fnv", ""));
  if (hash_of(model_text) != model_hash)
    return changed(head.model_name + " is not the file that the decision was taken with");
  TW_TRY(const auto file, read_run(model_text, head.mode));
  TW_TRY(const auto episode, count_or(parsed, "episode", 0, 1U << 30));
  TW_TRY(const auto step, count_or(parsed, "step", 0, 1U << 30));
  std::string again;
  walk(file, [&](const Session& session, std::size_t e, std::size_t t, const std::vector<std::size_t>& action,
                 bool forced) {
    if (e != episode || t != step) return true;
    again = write_record(session, {head.model_name, model_hash, e, t}, action, forced);
    return false;
  });
  if (again.empty())
    return changed(fmt::format("the model file has no step {} in episode {}", step, episode));
  if (again != record) return changed("the replay decided differently");
  std::string words = fmt::format("episode {}, step {}: action {} by the {}, replayed bit for bit\n", episode,
                                  step, parsed["action"].dump(), parsed["by"].get<std::string>());
  if (parsed.contains("G")) {
    words += fmt::format("  G {:.9f} =", parsed["G"].get<double>());
    const char* sign = "";
    if (parsed.contains("terms"))
      for (const auto& [name, value] : parsed["terms"].items()) {
        words += fmt::format("{} {:.9f} {}", sign, value.get<double>(), name);
        sign = " +";
      }
    words +=
        fmt::format("\n  probability {:.6f}, prior {:.6f}, surprise {:.6f} nat\n", parsed["p"].get<double>(),
                    parsed["prior"].get<double>(), parsed["surprise"].get<double>());
  }
  if (parsed.contains("mask")) words += fmt::format("  mask: {}\n", parsed["mask"].dump());
  if (parsed.contains("why_not"))
    for (const auto& other : parsed["why_not"])
      words += fmt::format("  why not {}: {}\n", other["action"].dump(),
                           other.contains("masked") ? std::string{"outside the mask"}
                                                    : other.value("against", json::object()).dump());
  return words;
}

}  // namespace tidewatt::model_file
