#include "tidewatt/api/ledger_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core.h"

namespace tidewatt::api {
namespace {

/// The full-width = + - @.
constexpr std::array<std::string_view, 4> kWideFormulas{"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
                                                        "\xef\xbc\xa0"};

/// Fields in double quotes where they need it; a leading = + - @ would be a formula to a spreadsheet, which
/// skips blanks before it and knows the full-width forms, too.
std::string csv_field(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n\v\f\xc2\xa0");
  const auto rest = std::string_view{text}.substr(std::min(begin, text.size()));
  const bool formula =
      text.starts_with('\t') || text.starts_with('\r') ||
      (!rest.empty() && std::string_view{"=+-@"}.find(rest.front()) != std::string_view::npos) ||
      std::any_of(kWideFormulas.begin(), kWideFormulas.end(),
                  [rest](std::string_view sign) { return rest.starts_with(sign); });
  if (!formula && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = formula ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string seconds_text(Milliseconds value) {
  return fmt::format("{}.{:03}", value.count() / 1000, value.count() % 1000);
}

void append_line(const ledger::AccountKey& key, UtcHour hour, const ledger::WideMeasures& m,
                 std::string_view entry, std::optional<UtcTime> booked_at, std::string& out) {
  out += fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", format_rfc3339_short(start_of(hour)),
      csv_field(key.cluster), ledger::to_string(key.scope), csv_field(key.id), csv_field(key.part),
      csv_field(key.domain), m.energy.to_string(), m.counter.to_string(), m.shared.to_string(),
      m.unattributed.to_string(), m.simulated.to_string(), m.spread.to_string(), seconds_text(m.covered),
      seconds_text(m.gap), seconds_text(m.partial), seconds_text(m.shared_time), m.samples, entry,
      booked_at ? format_rfc3339_short(*booked_at) : "");
}

Json object_of(const ledger::AccountKey& key, UtcHour hour, const ledger::WideMeasures& m) {
  return Json{{"hour", format_rfc3339_short(start_of(hour))},
              {"cluster", key.cluster},
              {"scope", ledger::to_string(key.scope)},
              {"id", key.id},
              {"part", key.part},
              {"domain", key.domain},
              {"energy_uj", m.energy.to_string()},
              {"counter_uj", m.counter.to_string()},
              {"shared_energy_uj", m.shared.to_string()},
              {"unattributed_uj", m.unattributed.to_string()},
              {"simulated_uj", m.simulated.to_string()},
              {"spread_uj", m.spread.to_string()},
              {"covered_seconds", seconds(m.covered)},
              {"gap_seconds", seconds(m.gap)},
              {"partial_seconds", seconds(m.partial)},
              {"shared_seconds", seconds(m.shared_time)},
              {"samples", m.samples}};
}

}  // namespace

std::string export_head() {
  return "hour,cluster,scope,id,part,domain,energy_uj,counter_uj,shared_energy_uj,unattributed_uj,simulated_"
         "uj,"
         "spread_uj,covered_seconds,gap_seconds,partial_seconds,shared_seconds,samples,entry,booked_at\n";
}

void append_csv(const ledger::HourlyRow& row, std::string& out) {
  append_line(row.key, row.hour, row.measures, "hour", std::nullopt, out);
}
void append_csv(const ledger::Adjustment& adjustment, std::string& out) {
  append_line(adjustment.key, adjustment.hour, adjustment.measures, "adjustment", adjustment.booked_at, out);
}

void append_json(const ledger::HourlyRow& row, std::string& out) {
  Json object = object_of(row.key, row.hour, row.measures);
  object["entry"] = "hour";
  out += json_text(object);
}
void append_json(const ledger::Adjustment& adjustment, std::string& out) {
  Json object = object_of(adjustment.key, adjustment.hour, adjustment.measures);
  object["entry"] = "adjustment";
  object["booked_at"] = time(adjustment.booked_at);
  object["reason"] = adjustment.reason;
  out += json_text(object);
}

std::string seal_json(const ledger::Seal& seal) {
  const auto text = [](const std::string& hash) { return hash.empty() ? Json(nullptr) : Json(hash); };
  const bool done = !seal.hash.empty();
  return json_text(Json{{"month", ledger::to_string(seal.month)},
                        {"sealed_at", format_rfc3339_short(seal.sealed_at)},
                        {"rows", done ? Json(seal.rows) : Json(nullptr)},
                        {"energy_uj", done ? Json(seal.energy.to_string()) : Json(nullptr)},
                        {"hash", text(seal.hash)},
                        {"previous", text(seal.previous)}});
}

std::string verification_json(const ledger::Verification& found) {
  return json_text(Json{{"ok", found.ok()},
                        {"seals", found.seals},
                        {"accounts", found.accounts},
                        {"rows", found.rows},
                        {"adjustments", found.adjustments},
                        {"nodes_used_uj", found.nodes_used.to_string()},
                        {"node_energy_uj", found.node_energy.to_string()},
                        {"mismatch_count", found.mismatch_count},
                        {"mismatches", found.mismatches}});
}

}  // namespace tidewatt::api
