#include "tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "figures.h"
#include "shown.h"
#include "tidewatt/ledger/account.h"
#include "words.h"

namespace tidewatt::reports {
namespace {

struct Column {
  std::string name;
  std::function<std::string(const Line&)> cell;
  std::function<const Figure*(const Line&)> figure;  ///< empty = shown even if nothing is known
};

Column figure(std::string_view name, Figure Line::* member) {
  return {std::string{name}, [member](const Line& line) { return shown(line.*member); },
          [member](const Line& line) { return &(line.*member); }};
}

class Builder {
 public:
  Builder(const Report& report, Language language)
      : report_(report), language_(language), words_(words_of(language)) {}

  void add(std::string_view title, const std::string& first, const std::vector<Column>& columns) {
    Table table{std::string{title}, {first}, {}, 0};
    std::vector<const Column*> kept;
    for (const auto& column : columns) {
      if (column.figure && !any_known(column)) {
        note_column(column);
        continue;
      }
      kept.push_back(&column);
      table.head.push_back(column.name);
      if (column.figure) note_cells(column);
    }
    if (kept.empty()) return;
    const auto row = [&](const Line& line, std::string_view name) {
      std::vector<std::string> cells{std::string{name}};
      for (const auto* column : kept) cells.push_back(column->cell(line));
      table.rows.push_back(std::move(cells));
    };
    for (const auto& line : report_.lines) row(line, line.id);
    table.total_row = table.rows.size();
    row(report_.total, words_.total);
    out_.tables.push_back(std::move(table));
  }

  void unattributed() {
    if (!report_.unattributed) return;
    auto& table = out_.tables.front();
    std::vector<std::string> cells(table.head.size());
    cells[0] = words_.unattributed;
    cells[1] = shown(kwh_of(*report_.unattributed));
    table.rows.push_back(std::move(cells));
  }

  Tables finish() {
    for (const auto& reason : cell_reasons_) note(words_.dash, reason);
    return std::move(out_);
  }

 private:
  template <class Visit>
  void each(const Visit& visit) const {
    for (const auto& line : report_.lines) visit(line);
    visit(report_.total);
  }

  [[nodiscard]] bool any_known(const Column& column) const {
    bool known = false;
    each([&](const Line& line) { known = known || column.figure(line)->value; });
    return known;
  }

  [[nodiscard]] std::set<std::string_view> reasons(const Column& column) const {
    std::set<std::string_view> out;
    each([&](const Line& line) {
      const auto* figure = column.figure(line);
      if (!figure->value && !figure->reason.empty()) out.insert(figure->reason);
    });
    return out;
  }

  void note(std::string_view name, std::string_view reason) {
    out_.unknown.push_back(
        fmt::format("{}{}{}{}", name, words_.colon, text_of(reason, language_), words_.full_stop));
  }

  void note_column(const Column& column) {
    for (const auto& reason : reasons(column)) note(column.name, reason);
  }

  void note_cells(const Column& column) {
    const auto found = reasons(column);
    cell_reasons_.insert(found.begin(), found.end());
  }

  const Report& report_;
  Language language_;
  const Words& words_;
  Tables out_;
  std::set<std::string_view> cell_reasons_;
};

std::vector<Column> energy_columns(const Words& words) {
  return {
      {std::string{words.c_kwh},
       [](const Line& line) { return line.energy ? shown(line.kwh) : std::string{kUnknown}; },
       {}},
      {std::string{words.c_coverage},
       [](const Line& line) {
         return line.coverage ? ledger::coverage_text(*line.coverage, line.whole) : std::string{kUnknown};
       },
       {}},
      {std::string{words.c_shared}, [](const Line& line) { return shown(line.shared_kwh); }, {}},
      {std::string{words.c_adjustments},
       [](const Line& line) { return line.adjustments ? shown(kwh_of(*line.adjustments)) : "0"; },
       {}},
  };
}

std::vector<Column> carbon_columns(const Words& words) {
  return {
      figure(words.c_annual, &Line::annual_kg),
      {std::string{words.c_hourly}, [](const Line& line) { return shown(line.hourly.kg); },
       [](const Line& line) { return &line.hourly.kg; }},
      {std::string{words.c_carbon_coverage},
       [](const Line& line) { return shown_percent(line.hourly.carbon_coverage); },
       {}},
      {std::string{words.c_used}, [](const Line& line) { return shown(line.hourly.ci_used); },
       [](const Line& line) { return &line.hourly.kg; }},
      {std::string{words.c_mean}, [](const Line& line) { return shown(line.hourly.ci_time_mean); },
       [](const Line& line) { return &line.hourly.kg; }},
      figure(words.c_s2_annual, &Line::scope2_location_annual_kg),
      figure(words.c_s2_hourly, &Line::scope2_location_hourly_kg),
      figure(words.c_s2_market, &Line::scope2_market_kg),
  };
}

std::vector<Column> beside_columns(const Words& words) {
  const auto saved = [](std::string_view name, Figure Savings::* member) -> Column {
    return {std::string{name}, [member](const Line& line) { return shown(line.savings.*member); },
            [member](const Line& line) { return &(line.savings.*member); }};
  };
  return {
      saved(words.c_saved_average, &Savings::attributional_kg),
      saved(words.c_saved_marginal, &Savings::consequential_kg),
      figure(words.c_upstream, &Line::upstream_kg),
      figure(words.c_losses, &Line::losses_kg),
      figure(words.c_overhead_kwh, &Line::overhead_kwh),
      figure(words.c_overhead_kg, &Line::overhead_kg),
      figure(words.c_embodied, &Line::embodied_kg),
      figure(words.c_sci, &Line::sci_per_task_hour),
      figure(words.c_sci_token, &Line::sci_per_token),
      {std::string{words.c_cfe}, [](const Line& line) { return shown_percent(line.cfe_share.value); },
       [](const Line& line) { return &line.cfe_share; }},
  };
}

std::vector<Column> money_columns(const Words& words, const std::string& currency) {
  auto cost = figure(fmt::format(fmt::runtime(words.c_cost), currency), &Line::energy_cost);
  auto demand = figure(fmt::format(fmt::runtime(words.c_demand), currency), &Line::demand_cost);
  return {
      std::move(cost),
      {std::string{words.c_peak}, [](const Line& line) { return shown(line.peak_kw); }, {}},
      std::move(demand),
      figure(words.c_carbon_cost, &Line::carbon_cost_eur),
  };
}

}  // namespace

Tables tables_of(const Report& report, Language language) {
  const Words& words = words_of(language);
  Builder builder{report, language};
  builder.add(words.energy, std::string{name_of(report.scope, words)}, energy_columns(words));
  builder.unattributed();
  if (report.view.visible) {
    builder.add(words.carbon, "", carbon_columns(words));
    builder.add(words.beside, "", beside_columns(words));
  }
  builder.add(words.money, "", money_columns(words, report.policy.currency));
  return builder.finish();
}

}  // namespace tidewatt::reports
