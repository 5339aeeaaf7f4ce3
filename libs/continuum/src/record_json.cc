#include "record_json.h"

#include <fmt/format.h>

#include <cmath>

#include "model.h"

namespace tidewatt::continuum {
namespace {

constexpr std::size_t kMostText = 300;

tl::unexpected<Error> not_ours(const std::string& what) {
  return fail(ErrorCode::corrupt, what, "this is no line that the service agent wrote");
}

const Json* find(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

Result<double> number(const Json& json, const char* name) {
  const auto* found = find(json, name);
  if (found == nullptr || !found->is_number() || !std::isfinite(found->get<double>()))
    return not_ours(fmt::format("{} is no number", name));
  return found->get<double>();
}

Result<std::size_t> count_of(const Json& json, std::string_view name, std::size_t most) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most)
    return not_ours(fmt::format("{} is no count up to {}", name, most));
  return json.get<std::size_t>();
}

Result<std::size_t> count(const Json& json, const char* name, std::size_t most) {
  const auto* found = find(json, name);
  if (found == nullptr) return not_ours(fmt::format("{} is missing", name));
  return count_of(*found, name, most);
}

Result<std::string> text(const Json& json, const char* name) {
  const auto* found = find(json, name);
  if (found == nullptr || !found->is_string() || found->get_ref<const std::string&>().size() > kMostText)
    return not_ours(fmt::format("{} is no text", name));
  return found->get<std::string>();
}

/// A list of at most `most` entries.
Result<const Json*> list(const Json& json, const char* name, std::size_t most) {
  const auto* found = find(json, name);
  if (found == nullptr || !found->is_array() || found->size() > most)
    return not_ours(fmt::format("{} is no list of at most {}", name, most));
  return found;
}

Result<std::vector<double>> numbers(const Json& json, const char* name, std::size_t most) {
  TW_TRY(const auto* found, list(json, name, most));
  std::vector<double> values;
  for (const auto& one : *found) {
    if (!one.is_number() || !std::isfinite(one.get<double>()))
      return not_ours(fmt::format("{} holds no number", name));
    values.push_back(one.get<double>());
  }
  return values;
}

constexpr std::size_t kMany = 16;

Status take_parts(const Json& json, Setup& setup) {
  TW_TRY(const auto* services, list(json, "services", kMany));
  for (const auto& one : *services) {
    ServiceSetup service;
    TW_TRY(service.name, text(one, "name"));
    TW_TRY(service.load_bins, count(one, "load_bins", kMany));
    TW_TRY(service.price, number(one, "price"));
    setup.services.push_back(std::move(service));
  }
  TW_TRY(const auto* knobs, list(json, "knobs", kMany));
  for (const auto& one : *knobs) {
    KnobSetup knob;
    TW_TRY(knob.name, text(one, "name"));
    TW_TRY(knob.levels, count(one, "levels", kMany));
    TW_TRY(knob.switch_grams, number(one, "switch_grams"));
    TW_TRY(const auto* touched, list(one, "services", kMany));
    for (const auto& s : *touched) {
      TW_TRY(const auto index, count_of(s, "services", kMany));
      knob.services.push_back(index);
    }
    setup.knobs.push_back(std::move(knob));
  }
  TW_TRY(const auto* objectives, list(json, "objectives", kMany));
  for (const auto& one : *objectives) {
    ObjectiveSetup objective;
    TW_TRY(objective.service, count(one, "service", kMany));
    TW_TRY(objective.text, text(one, "text"));
    TW_TRY(const auto tier, count(one, "tier", 2));
    objective.tier = static_cast<devol::Tier>(tier);
    TW_TRY(objective.weight, number(one, "weight"));
    TW_TRY(objective.accepted, number(one, "accepted"));
    TW_TRY(const auto hard, count(one, "hard", 1));
    objective.hard = hard == 1;
    setup.objectives.push_back(std::move(objective));
  }
  return {};
}

Result<std::vector<inference::Table>> tables_from(const Json& json, const char* name,
                                                  const std::vector<inference::Table>& like) {
  TW_TRY(const auto* found, list(json, name, like.size()));
  std::vector<inference::Table> tables;
  if (found->size() != like.size()) return not_ours(fmt::format("{} has {} tables", name, found->size()));
  for (std::size_t t = 0; t < like.size(); ++t) {
    const auto& one = (*found)[t];
    if (!one.is_array() || one.size() != like[t].size())
      return not_ours(fmt::format("table {} of {}", t, name));
    auto& table = tables.emplace_back();
    for (std::size_t i = 0; i < one.size(); ++i) {
      const double value = one[i].is_number() ? one[i].get<double>() : -1;
      // A count that was above 0 stays so, and what can't be stays 0.
      if (!std::isfinite(value) || value > 1e12 || (like[t][i] > 0 ? value < 1e-9 : value != 0))
        return not_ours(fmt::format("a count of table {} of {}", t, name));
      table.push_back(value);
    }
  }
  return tables;
}

}  // namespace

Json to_json(const Setup& setup) {
  Json json{{"power_w", setup.power_w},
            {"period_s", setup.period_s},
            {"grams_per_violation", setup.grams_per_violation},
            {"horizon", setup.horizon},
            {"delta", setup.delta},
            {"explore_delta", setup.explore_delta},
            {"prior_strength", setup.prior_strength},
            {"memory", setup.memory},
            {"guard_periods", setup.guard_periods},
            {"block_periods", setup.block_periods},
            {"hysteresis", setup.hysteresis},
            {"seed", setup.seed},
            {"by_rules", setup.by_rules ? 1U : 0U}};
  for (const auto& s : setup.services)
    json["services"].push_back({{"name", s.name}, {"load_bins", s.load_bins}, {"price", s.price}});
  for (const auto& k : setup.knobs)
    json["knobs"].push_back(
        {{"name", k.name}, {"levels", k.levels}, {"services", k.services}, {"switch_grams", k.switch_grams}});
  for (const auto& o : setup.objectives)
    json["objectives"].push_back({{"service", o.service},
                                  {"text", o.text},
                                  {"tier", static_cast<unsigned>(o.tier)},
                                  {"weight", o.weight},
                                  {"accepted", o.accepted},
                                  {"hard", o.hard ? 1U : 0U}});
  return json;
}

Json to_json(const Counts& counts) { return {{"a", counts.a}, {"b", counts.b}}; }

Json to_json(const Senses& senses) {
  const auto of = [](const auto& optional) { return optional ? Json(*optional) : Json(nullptr); };
  Json json{{"objectives", Json::array()}, {"load", Json::array()}, {"levels", senses.levels}};
  for (const auto& state : senses.objectives)
    json["objectives"].push_back(state ? Json(static_cast<unsigned>(*state)) : Json(nullptr));
  for (const auto& bin : senses.load_bins) json["load"].push_back(of(bin));
  json["power"] = of(senses.power_bin);
  json["ci_g_per_kwh"] = of(senses.ci_g_per_kwh);
  if (!senses.ci_ahead.empty()) json["ci_ahead"] = senses.ci_ahead;
  if (senses.may_try) json["may_try"] = true;
  if (senses.rules) json["rules"] = *senses.rules;
  return json;
}

Result<Setup> setup_from(const Json& json) {
  Setup setup;
  TW_TRY_STATUS(take_parts(json, setup));
  TW_TRY(setup.power_w, numbers(json, "power_w", kMany));
  TW_TRY(setup.period_s, number(json, "period_s"));
  TW_TRY(setup.grams_per_violation, number(json, "grams_per_violation"));
  TW_TRY(setup.horizon, count(json, "horizon", kMany));
  TW_TRY(setup.delta, number(json, "delta"));
  TW_TRY(setup.explore_delta, number(json, "explore_delta"));
  TW_TRY(setup.prior_strength, number(json, "prior_strength"));
  TW_TRY(setup.memory, number(json, "memory"));
  constexpr std::size_t kLong = 1'000'000;
  TW_TRY(setup.guard_periods, count(json, "guard_periods", kLong));
  TW_TRY(setup.block_periods, count(json, "block_periods", kLong));
  TW_TRY(setup.hysteresis, number(json, "hysteresis"));
  TW_TRY(setup.seed, count(json, "seed", SIZE_MAX));
  TW_TRY(const auto by_rules, count(json, "by_rules", 1));
  setup.by_rules = by_rules == 1;
  TW_TRY_STATUS(check(setup));
  return setup;
}

Result<Counts> counts_from(const Json& json, const Setup& setup) {
  const auto model = make_model(setup);
  Counts counts;
  TW_TRY(counts.a, tables_from(json, "a", model.a_counts));
  TW_TRY(counts.b, tables_from(json, "b", model.b_counts));
  return counts;
}

Result<std::vector<std::size_t>> levels_from(const Json& json, const Setup& setup) {
  if (!json.is_array() || json.size() != setup.knobs.size()) return not_ours("not one level per knob");
  std::vector<std::size_t> levels;
  for (std::size_t k = 0; k < json.size(); ++k) {
    TW_TRY(const auto level, count_of(json[k], "a level", setup.knobs[k].levels - 1));
    levels.push_back(level);
  }
  return levels;
}

Result<Senses> senses_from(const Json& json, const Setup& setup) {
  Senses senses;
  TW_TRY(const auto* states, list(json, "objectives", setup.objectives.size()));
  TW_TRY(const auto* loads, list(json, "load", setup.services.size()));
  if (states->size() != setup.objectives.size() || loads->size() != setup.services.size())
    return not_ours("senses of another setup");
  for (const auto& one : *states) {
    senses.objectives.emplace_back();
    if (one.is_null()) continue;
    TW_TRY(const auto state, count_of(one, "a state", 3));
    senses.objectives.back() = static_cast<devol::State>(state);
  }
  for (std::size_t s = 0; s < loads->size(); ++s) {
    senses.load_bins.emplace_back();
    if ((*loads)[s].is_null()) continue;
    TW_TRY(senses.load_bins.back(), count_of((*loads)[s], "a load", setup.services[s].load_bins - 1));
  }
  if (find(json, "power") != nullptr) {
    TW_TRY(senses.power_bin, count(json, "power", setup.power_w.size() - 1));
  }
  const auto* levels = find(json, "levels");
  TW_TRY(senses.levels, levels_from(levels == nullptr ? Json() : *levels, setup));
  if (find(json, "ci_g_per_kwh") != nullptr) {
    TW_TRY(senses.ci_g_per_kwh, number(json, "ci_g_per_kwh"));
    if (!(*senses.ci_g_per_kwh >= 0 && *senses.ci_g_per_kwh <= 1e5))
      return not_ours("an impossible intensity");
  }
  if (find(json, "ci_ahead") != nullptr) {
    TW_TRY(senses.ci_ahead, numbers(json, "ci_ahead", kMany));
    for (const double x : senses.ci_ahead)
      if (!(x >= 0 && x <= 1e3)) return not_ours("an impossible forecast");
  }
  senses.may_try = find(json, "may_try") != nullptr;
  if (const auto* rules = find(json, "rules")) {
    TW_TRY(senses.rules, levels_from(*rules, setup));
  }
  return senses;
}

}  // namespace tidewatt::continuum
