#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tidewatt/planning/planner.h"
#include "tidewatt/units/text.h"

namespace tidewatt::planning {
namespace {

using Out = std::back_insert_iterator<fmt::memory_buffer>;

void put(fmt::memory_buffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

void put_text(fmt::memory_buffer& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\')
      fmt::format_to(Out{out}, "\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20)
      fmt::format_to(Out{out}, "\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out.push_back(c);
  }
  out.push_back('"');
}

void put_number(fmt::memory_buffer& out, double value) {
  put(out, std::isfinite(value) ? format_double(value == 0 ? 0.0 : value) : "null");
}

void put_number(fmt::memory_buffer& out, const std::optional<double>& value) {
  if (value)
    put_number(out, *value);
  else
    put(out, "null");
}

std::string_view name_of(JobStatus status) {
  switch (status) {
    case JobStatus::planned:
      return "planned";
    case JobStatus::infeasible:
      return "infeasible";
    case JobStatus::late:
      return "late";
  }
  return "planned";
}

class AnswerWriter {
 public:
  AnswerWriter(const Problem& problem, const Answer& answer) : problem_(problem), answer_(answer) {}

  std::string write() {
    put(out_, "{\"jobs\":[");
    for (std::size_t i = 0; i < answer_.jobs.size(); ++i) {
      if (i > 0) out_.push_back(',');
      write_job(i);
    }
    put(out_, "],\"sites\":[");
    for (std::size_t i = 0; i < answer_.sites.size(); ++i) write_site(i);
    put(out_, "],\"totals\":{");
    write_totals();
    put(out_, "},\"signal\":{\"quality\":");
    put_text(out_, answer_.quality);
    put(out_, ",\"zones\":{");
    for (std::size_t z = 0; z < problem_.zones.size(); ++z) write_zone(z);
    put(out_, "}}}");
    return fmt::to_string(out_);
  }

 private:
  void key(std::string_view name) {
    out_.push_back(',');
    put_text(out_, name);
    out_.push_back(':');
  }

  void time(Minute at) {
    out_.push_back('"');
    put(out_, format_rfc3339_short(problem_.start + std::chrono::minutes{at}));
    out_.push_back('"');
  }

  void write_job(std::size_t i) {
    const auto& job = problem_.jobs[i];
    const auto& answer = answer_.jobs[i];
    put(out_, "{\"id\":");
    put_text(out_, job.id);
    key("status");
    put_text(out_, name_of(answer.status));
    key("reason");
    if (answer.reason)
      put_text(out_, *answer.reason);
    else
      put(out_, "null");
    if (!job.team.empty()) {
      key("team");
      put_text(out_, job.team);
    }
    put(out_, ",\"segments\":[");
    for (std::size_t k = 0; k < answer.segments.size(); ++k) {
      const auto& piece = answer.segments[k];
      put(out_, k > 0 ? ",{\"site\":" : "{\"site\":");
      put_text(out_, problem_.sites[static_cast<std::size_t>(piece.site)].id);
      key("start");
      time(piece.begin);
      key("end");
      time(piece.end);
      key("power_kw");
      put_number(out_, piece.kw);
      fmt::format_to(Out{out_}, ",\"replicas\":{}}}", piece.replicas);
    }
    put(out_, "]");
    key("carbon_g");
    put_number(out_, answer.carbon_g);
    key("energy_kwh");
    put_number(out_, answer.energy_kwh);
    key("cost");
    put_number(out_, answer.cost);
    key("baseline_carbon_g");
    put_number(out_, answer.baseline_carbon_g);
    key("savings_g");
    put_number(out_, answer.savings_g);
    key("savings_percent");
    put_number(out_, answer.savings_percent);
    fmt::format_to(Out{out_}, ",\"late_minutes\":{}", answer.late_minutes);
    key("carbon_coverage");
    put_number(out_, answer.carbon_coverage);
    put(out_, ",\"explain\":{\"binding\":");
    put_text(out_, answer.binding);
    fmt::format_to(Out{out_}, ",\"considered\":{}", answer.considered);
    if (!answer.notes.empty()) {
      put(out_, ",\"notes\":[");
      for (std::size_t k = 0; k < answer.notes.size(); ++k) {
        if (k > 0) out_.push_back(',');
        put_text(out_, answer.notes[k]);
      }
      out_.push_back(']');
    }
    put(out_, "}}");
  }

  void write_site(std::size_t i) {
    const auto& site = answer_.sites[i];
    put(out_, i > 0 ? ",{\"id\":" : "{\"id\":");
    put_text(out_, problem_.sites[static_cast<std::size_t>(site.site)].id);
    key("pump_kwh");
    put_number(out_, site.pump_kwh);
    key("pump_carbon_g");
    put_number(out_, site.pump_carbon_g);
    fmt::format_to(Out{out_}, ",\"starts\":{}}}", site.starts);
  }

  void write_totals() {
    put(out_, "\"carbon_g\":");
    put_number(out_, answer_.carbon_g);
    key("energy_kwh");
    put_number(out_, answer_.energy_kwh);
    key("cost");
    put_number(out_, answer_.cost);
    key("baseline_carbon_g");
    put_number(out_, answer_.baseline_carbon_g);
    if (answer_.baseline_capped_carbon_g) {
      key("baseline_capped_carbon_g");
      put_number(out_, answer_.baseline_capped_carbon_g);
    }
    key("lower_bound_g");
    put_number(out_, answer_.lower_bound_g);
    key("gap_percent");
    const auto& bound = answer_.lower_bound_g;
    put_number(
        out_, bound && *bound > 0 ? std::optional{100 * (answer_.carbon_g - *bound) / *bound} : std::nullopt);
    if (problem_.weights) {
      key("objective");
      put_number(out_, answer_.objective);
      key("objective_bound");
      put_number(out_, answer_.objective_bound);
    }
    if (problem_.budgets.empty()) return;
    put(out_, ",\"over_budget\":{");
    bool first = true;
    for (const auto& [team, grams] : answer_.over_budget) {
      if (!first) out_.push_back(',');
      first = false;
      put_text(out_, team);
      out_.push_back(':');
      put_number(out_, grams);
    }
    out_.push_back('}');
  }

  void write_zone(std::size_t z) {
    const auto& zone = problem_.zones[z];
    if (z > 0) out_.push_back(',');
    put_text(out_, zone.name);
    fmt::format_to(Out{out_}, ":{{\"slots\":{},\"interpolated\":{},\"unknown\":{}}}", zone.known.size(),
                   std::count(zone.known.begin(), zone.known.end(), Known::interpolated),
                   std::count(zone.known.begin(), zone.known.end(), Known::unknown));
  }

  const Problem& problem_;
  const Answer& answer_;
  fmt::memory_buffer out_;
};

}  // namespace

std::string to_json(const Problem& problem, const Answer& answer) {
  return AnswerWriter{problem, answer}.write();
}

}  // namespace tidewatt::planning
