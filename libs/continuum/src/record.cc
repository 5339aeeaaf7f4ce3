#include "tidewatt/continuum/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "record_json.h"
#include "tidewatt/inference/fingerprint.h"

namespace tidewatt::continuum {
namespace {

constexpr std::size_t kLongestLine = 16U << 20U;

std::string check_of(std::string_view text) {
  inference::Fingerprint hash;
  hash.add(text);
  return fmt::format("{:016x}", hash.value());
}

std::string with_check(Json json) {
  json.erase("check");
  json["check"] = check_of(json.dump());
  return json.dump();
}

tl::unexpected<Error> changed(std::string what) {
  return fail(ErrorCode::corrupt, std::move(what),
              "the decision can't be trusted; compare with a copy of the journal");
}

std::string_view line_of(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// The line's content, when every byte is as it was written.
Result<Json> parse_line(std::string_view line) {
  if (line.size() > kLongestLine) return changed("a line of more than 16 MiB");
  auto json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("check") || !json["check"].is_string())
    return changed("the line is not as it was written");
  const auto check = json["check"].get<std::string>();
  // Byte for byte: no other spelling of the same numbers either.
  if (json.dump(-1, ' ', false, Json::error_handler_t::replace) != line)
    return changed("the line is not as it was written");
  json.erase("check");
  if (check_of(json.dump(-1, ' ', false, Json::error_handler_t::replace)) != check)
    return changed("the line was changed: its check does not fit");
  return json;
}

double rounded(double x) { return std::round(x * 1e6) / 1e6; }

Json terms_json(const Terms& terms) {
  Json json{{"promises", terms.promises}, {"carbon", terms.carbon}, {"cost", terms.cost}};
  if (terms.a_information != 0 || terms.b_information != 0) {
    json["a_information"] = terms.a_information;
    json["b_information"] = terms.b_information;
  }
  return json;
}

Json why_not_json(const Decision& decision, std::size_t most) {
  Json all = Json::array();
  for (const auto& other : decision.why_not) {
    if (all.size() == most) break;
    const auto& a = other.terms;
    const auto& b = decision.chosen.terms;
    Json one{{"levels", other.levels},
             {"against",
              {{"promises", rounded(a.promises - b.promises)},
               {"carbon", rounded(a.carbon - b.carbon)},
               {"cost", rounded(a.cost - b.cost)}}}};
    if (const double tried = a.a_information + a.b_information - b.a_information - b.b_information;
        tried != 0)
      one["against"]["information"] = rounded(tried);
    if (other.excluded != nullptr) one["excluded"] = other.excluded;
    all.push_back(std::move(one));
  }
  return all;
}

Json rounded_list(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double x : values) json.push_back(rounded(x));
  return json;
}

Json before_json(const Acted& before) {
  Json json{{"did", before.did}, {"ok", before.ok}, {"who", before.who}};
  if (before.blocked) json["blocked"] = *before.blocked;
  return json;
}

void add_decision(const Decision& decision, Json& record) {
  record["by"] = to_string(decision.by);
  record["levels"] = decision.levels;
  record["G"] = decision.chosen.terms.sum();
  record["terms"] = terms_json(decision.chosen.terms);
  record["p"] = rounded(decision.chosen.probability);
  record["expected"] = {{"violation", rounded_list(decision.violation)},
                        {"power_w", rounded(decision.power_w)}};
  record["surprise"] = rounded(decision.surprise);
  if (decision.drift) record["drift"] = true;
  if (decision.contradicted) record["contradicted"] = true;
  if (decision.none_allowed) record["none_allowed"] = true;
  if (decision.bound) record["bound"] = rounded(*decision.bound);
  if (decision.broke) record["broke"] = *decision.broke;
  for (const auto& one : decision.given_up)
    record["given_up"].push_back({{"objective", one.objective}, {"possible", one.possible}});
  record["result"] = fmt::format("{:016x}", decision.fingerprint);
}

struct Line {
  Context context;
  std::uint64_t number = 0;
  std::optional<Acted> before;
  Senses senses;
};

Result<Acted> acted_from(const Json& json, const Setup& setup) {
  Acted acted;
  if (!json.is_object() || !json.contains("did") || !json.contains("ok") || !json["ok"].is_boolean() ||
      !json.contains("who") || !json["who"].is_string())
    return changed("what was done is missing");
  TW_TRY(acted.did, levels_from(json["did"], setup));
  acted.ok = json["ok"].get<bool>();
  acted.who = json["who"].get<std::string>();
  if (json.contains("blocked")) {
    TW_TRY(acted.blocked, levels_from(json["blocked"], setup));
  }
  return acted;
}

Result<Line> line_from(const Json& json, const Setup& setup) {
  Line line;
  const auto text = [&](const char* name) {
    return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : std::string{};
  };
  const auto at = parse_rfc3339(text("at"));
  if (!at || !json.contains("n") || !json["n"].is_number_unsigned() || !json.contains("in"))
    return changed("time, number or senses are missing");
  line.context.at = *at;
  line.context.mode = text("mode");
  line.context.journal = text("journal");
  line.context.signal_as_of = parse_rfc3339(text("signal_as_of"));
  line.context.cut_off = json.contains("cut_off");
  line.number = json["n"].get<std::uint64_t>();
  if (json.contains("before")) {
    TW_TRY(line.before, acted_from(json["before"], setup));
  }
  TW_TRY(line.senses, senses_from(json["in"], setup));
  return line;
}

struct Walk {
  std::optional<Setup> setup;
  std::optional<Brain> brain;
  std::uint64_t decisions = 0;
};

Status take_setup(const Json& json, Walk& walk) {
  if (!json.contains("setup")) return changed("a setup's line without a setup");
  TW_TRY(auto setup, setup_from(json["setup"]));
  std::optional<Counts> counts;
  if (json.contains("counts") && !json["counts"].is_null()) {
    TW_TRY(counts, counts_from(json["counts"], setup));
  }
  walk.setup = setup;
  walk.brain.emplace(std::move(setup), std::move(counts));
  walk.decisions = 0;
  return {};
}

/// One decision again. @return its line, as it has to be
Result<std::string> again(const Json& json, Walk& walk) {
  if (!walk.brain) return changed("a decision before any setup");
  TW_TRY(const auto line, line_from(json, *walk.setup));
  if (line.number != walk.decisions)
    return changed(
        fmt::format("decision {} where {} follows: lines are missing", line.number, walk.decisions));
  if (line.before.has_value() != (walk.decisions > 0)) return changed("what was done before is missing");
  if (line.before) {
    walk.brain->acted(line.before->did);
    if (line.before->blocked) walk.brain->block(*line.before->blocked);
  }
  const auto decision = walk.brain->decide(line.senses);
  ++walk.decisions;
  return decision_line(line.number, line.context, line.before, line.senses, decision);
}

/// Goes through the journal's lines. `each(line, words)` after each decision; false ends the walk.
template <class Each>
Status walk_lines(std::string_view journal, Walk& walk, const Each& each) {
  std::size_t number = 0;
  while (!journal.empty()) {
    ++number;
    const auto end = journal.find('\n');
    if (end == std::string_view::npos) break;  // unfinished
    const auto line = journal.substr(0, end);
    journal.remove_prefix(end + 1);
    const auto where = [&](const Error& error) {
      return tl::unexpected(error.with_context(fmt::format("line {}", number)));
    };
    const auto json = parse_line(line);
    if (!json) return where(json.error());
    const auto kind = json->value("k", Json());
    if (kind == "setup") {
      if (const auto taken = take_setup(*json, walk); !taken) return where(taken.error());
    } else if (kind == "decision") {
      const auto words = again(*json, walk);
      if (!words) return where(words.error());
      if (*words != line) return where(changed("the replay decided differently").value());
      if (!each(line, *json)) return {};
    } else
      return where(changed("neither setup nor decision").value());
  }
  return {};
}

std::string levels_text(const Setup& setup, const Json& levels) {
  std::string text;
  for (std::size_t k = 0; k < setup.knobs.size(); ++k)
    text += fmt::format("{}{}={}", k == 0 ? "" : " ", setup.knobs[k].name, levels[k].dump());
  return text;
}

std::string words_of(const Setup& setup, const Json& record) {
  auto words = fmt::format("decision {} at {}, mode {}: {} by {}; replayed bit for bit\n", record["n"].dump(),
                           record["at"].get<std::string>(), record["mode"].get<std::string>(),
                           levels_text(setup, record["levels"]), record["by"].get<std::string>());
  words += fmt::format("  G {:.9f} =", record["G"].get<double>());
  const char* sign = "";
  for (const auto& [name, value] : record["terms"].items()) {
    words += fmt::format("{} {:.9f} {}", sign, value.get<double>(), name);
    sign = " +";
  }
  words += "\n";
  for (std::size_t m = 0; m < setup.objectives.size(); ++m)
    words += fmt::format(
        "  {} of {}: seen {}, expected to be violated {:.2f} %; one violated period weighs {:.4g} gCO2e\n",
        setup.objectives[m].text, setup.services[setup.objectives[m].service].name,
        record["in"]["objectives"][m].is_null()
            ? "nothing"
            : to_string(static_cast<devol::State>(record["in"]["objectives"][m].get<unsigned>())),
        record["expected"]["violation"][m].get<double>() * 100, exchange_grams(setup, m));
  const auto& ci = record["in"]["ci_g_per_kwh"];
  words += fmt::format("  carbon intensity {} gCO2e/kWh{}; power expected {:.1f} W; surprise {:.4f} nat\n",
                       ci.is_null() ? "unknown" : ci.dump(),
                       record.contains("cut_off") ? " (cut off: the last one known)" : "",
                       record["expected"]["power_w"].get<double>(), record["surprise"].get<double>());
  if (record.contains("broke"))
    words += fmt::format("  rolled back: the change before broke {}\n",
                         setup.objectives[record["broke"].get<std::size_t>()].text);
  if (record.contains("given_up"))
    for (const auto& one : record["given_up"])
      words += fmt::format(
          "  given up: {}{}\n", setup.objectives[one["objective"].get<std::size_t>()].text,
          one["possible"].get<bool>() ? " (stronger promises stand against it)" : " (nothing keeps it)");
  if (record.contains("why_not"))
    for (const auto& other : record["why_not"])
      words += fmt::format("  why not {}: {}\n", levels_text(setup, other["levels"]),
                           other.contains("excluded") ? "excluded: " + other["excluded"].get<std::string>()
                                                      : other["against"].dump());
  return words;
}

}  // namespace

std::string setup_line(const Setup& setup, const std::optional<Counts>& counts, UtcTime at) {
  return with_check({{"k", "setup"},
                     {"v", 1},
                     {"at", format_rfc3339(at)},
                     {"setup", to_json(setup)},
                     {"counts", counts ? to_json(*counts) : Json(nullptr)}});
}

std::string decision_line(std::uint64_t number, const Context& context, const std::optional<Acted>& before,
                          const Senses& senses, const Decision& decision) {
  Json record{{"k", "decision"},
              {"n", number},
              {"at", format_rfc3339(context.at)},
              {"mode", context.mode},
              {"journal", context.journal},
              {"in", to_json(senses)}};
  if (context.signal_as_of) record["signal_as_of"] = format_rfc3339(*context.signal_as_of);
  if (context.cut_off) record["cut_off"] = true;
  if (before) record["before"] = before_json(*before);
  add_decision(decision, record);
  for (std::size_t others = 3; others > 0; --others) {
    record["why_not"] = why_not_json(decision, others);
    record["belief"] = Json::array();
    for (const auto& belief : decision.belief) record["belief"].push_back(rounded_list(belief));
    if (auto line = with_check(record); line.size() <= kLargestRecord) return line;
  }
  record.erase("belief");  // it is in the replay
  record.erase("why_not");
  return with_check(std::move(record));
}

bool is_decision(std::string_view line) {
  return line_of(line).find("\"k\":\"decision\"") != std::string_view::npos;
}

Result<std::string> journal_of(std::string_view line) {
  TW_TRY(const auto json, parse_line(line_of(line)));
  if (!json.contains("journal") || !json["journal"].is_string()) return changed("it names no journal");
  return json["journal"].get<std::string>();
}

Result<Replayed> replay(std::string_view journal) {
  Walk walk;
  TW_TRY_STATUS(walk_lines(journal, walk, [](std::string_view, const Json&) { return true; }));
  if (!walk.brain) return fail(ErrorCode::not_found, "the journal holds no setup");
  return Replayed{std::move(*walk.brain), std::move(*walk.setup), walk.decisions};
}

Result<std::string> explain(std::string_view record, std::string_view journal) {
  const auto wanted = line_of(record);
  TW_TRY(const auto unused, parse_line(wanted));
  (void)unused;
  Walk walk;
  std::string words;
  TW_TRY_STATUS(walk_lines(journal, walk, [&](std::string_view line, const Json& json) {
    if (line != wanted) return true;
    words = words_of(*walk.setup, json);
    return false;
  }));
  if (words.empty()) return changed("the journal has no such decision");
  return words;
}

}  // namespace tidewatt::continuum
