// A month that was worked out by hand, as ledger rows: what gather, report and text tests share.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/reports/gather.h"
#include "tidewatt/reports/report.h"

namespace tidewatt::reports::testing {

inline UtcHour hour_at(std::string_view text) { return hour_of(*parse_rfc3339(text)); }
inline const Window kMarch{hour_at("2026-03-01T00:00:00Z"), hour_at("2026-04-01T00:00:00Z")};

inline WideMicrojoules from_kwh(double kwh) {
  return WideMicrojoules::from_raw(static_cast<WideMicrojoules::Int>(std::llround(kwh * 1000)) *
                                   3'600'000'000);
}

/// Rows and adjustments in memory, by key then hour as a ledger gives them.
class Rows final : public ledger::ImageSource {
 public:
  void add(ledger::Scope scope, const std::string& id, const std::string& part, const std::string& domain,
           UtcHour hour, double kwh, double simulated_kwh = 0) {
    ledger::HourlyRow row{{"default", scope, id, part, domain}, hour, {}};
    row.measures.energy = from_kwh(kwh);
    row.measures.simulated = from_kwh(simulated_kwh);
    row.measures.covered = std::chrono::hours{1};
    rows.push_back(std::move(row));
  }
  void adjust(ledger::Scope scope, const std::string& id, const std::string& part, UtcHour hour, double kwh) {
    ledger::Adjustment late{
        {"default", scope, id, part, "gpu"}, hour, {}, std::nullopt, std::string{ledger::kLateReason}};
    late.measures.energy = from_kwh(kwh);
    adjustments.push_back(std::move(late));
  }
  Status read_image(const ledger::ImageParts& parts, ledger::ImageSink& sink) override {
    const auto wanted = [&](const ledger::AccountKey& key, UtcHour hour) {
      const auto& ids = parts.filter.ids;
      return hour >= parts.from && hour < parts.to &&
             (!parts.filter.scope || key.scope == *parts.filter.scope) &&
             (parts.filter.cluster.empty() || key.cluster == parts.filter.cluster) &&
             (parts.filter.domain.empty() || key.domain == parts.filter.domain) &&
             (ids.empty() || std::find(ids.begin(), ids.end(), key.id) != ids.end());
    };
    if (parts.adjustments)
      for (const auto& late : adjustments)
        if (wanted(late.key, late.hour)) TW_TRY_STATUS(sink.add(late));
    if (parts.hourly)
      for (const auto& row : rows)
        if (wanted(row.key, row.hour)) TW_TRY_STATUS(sink.add(row));
    return {};
  }
  std::vector<ledger::HourlyRow> rows;
  std::vector<ledger::Adjustment> adjustments;
};

inline std::vector<ledger::SharedNode> one_node(const std::string& id = "n1",
                                                const std::string& zone = "DE") {
  auto node = std::make_shared<ledger::NodeInfo>();
  node->key = {"default", id};
  node->zone = zone;
  return {node};
}

/// March 2026 on one node in DE: 1 kWh each hour, 3 kWh at 10-15 h: 36 kWh a day, 1,116 kWh in all. The grid:
/// 400 g/kWh, 200 g at 10-15 h, the 29th unknown. Sealed on 9 April; 2 kWh of the 5th at 12:00 came later.
inline Rows march_rows() {
  Rows rows;
  for (int i = 0; i < 31 * 24; ++i) {
    const auto hour = kMarch.from + std::chrono::hours{i};
    const bool busy = i % 24 >= 10 && i % 24 < 16;
    rows.add(ledger::Scope::node, "n1", "", "gpu", hour, busy ? 3 : 1);
    rows.add(ledger::Scope::device, "n1/0", "", "gpu", hour, busy ? 3 : 1);
    rows.add(ledger::Scope::task_device, "t1", "n1/0", "gpu", hour, busy ? 2 : 1);
  }
  for (auto& row : rows.rows)
    if (row.key.scope == ledger::Scope::node && row.measures.energy == from_kwh(3))
      row.measures.unattributed = from_kwh(1);
  rows.adjust(ledger::Scope::node, "n1", "", hour_at("2026-03-05T12:00:00Z"), 2);
  rows.adjust(ledger::Scope::task_device, "t1", "n1/0", hour_at("2026-03-05T12:00:00Z"), 2);
  return rows;
}

inline ledger::Seal march_seal() {
  ledger::Seal seal;
  seal.month = *ledger::parse_month("2026-03");
  seal.sealed_at = *parse_rfc3339("2026-04-09T00:00:00Z");
  seal.rows = 744;
  seal.hash = std::string(64, 'a');
  return seal;
}

inline ZoneSeries grid(carbon::SignalBoundary boundary = carbon::SignalBoundary::direct) {
  ZoneSeries series{
      {"DE", carbon::SignalKind::average, boundary, carbon::SignalBasis::consumption}, {kMarch.from, {}}, {}};
  for (int i = 0; i < 31 * 24; ++i) {
    series.intensity.hours.emplace_back(i % 24 >= 10 && i % 24 < 16 ? 200.0 : 400.0);
    if (i / 24 == 28) series.intensity.hours.back().reset();
  }
  return series;
}

inline Policy policy() {
  Policy policy;
  policy.factor.value = carbon::KilogramsPerKwh{0.38};
  policy.factor.source = "agency, document, 2026";
  policy.factor.configured = true;
  policy.factor.year = 2026;
  policy.factor.boundary = carbon::SignalBoundary::direct;
  policy.zones["DE"] = grid();
  return policy;
}

inline Booked march(Scope scope, bool with_simulated = false) {
  auto rows = march_rows();
  ledger::TaskInfo task;
  task.task_id = "t1";
  task.team = "vision";
  task.group_id = "g1";
  Question question;
  question.scope = scope;
  question.window = kMarch;
  question.with_simulated = with_simulated;
  return gather(rows, question, {task}, one_node(), {march_seal()}).value();
}

inline Report report_of(const Booked& booked, const Policy& stated,
                        carbon::Viewer viewer = carbon::Viewer::platform_operator) {
  return make_report(booked, stated, carbon::carbon_view(stated.factor, viewer)).value();
}

}  // namespace tidewatt::reports::testing
