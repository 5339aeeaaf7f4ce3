#include "tidewatt/slurm/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tidewatt/runner/outcome.h"

namespace tidewatt::slurm {
namespace {

using std::chrono::minutes;

constexpr std::array kLengths{minutes{15},      minutes{30},      minutes{60},      minutes{2 * 60},
                              minutes{3 * 60},  minutes{4 * 60},  minutes{6 * 60},  minutes{8 * 60},
                              minutes{12 * 60}, minutes{16 * 60}, minutes{24 * 60}, minutes{36 * 60},
                              minutes{48 * 60}, minutes{72 * 60}, minutes{96 * 60}};
constexpr std::size_t kLongestName = 64;

/// Until when the signal is known without a break.
UtcTime known_until(const std::vector<runner::SignalSlot>& signal, UtcTime now) {
  auto slots = signal;
  std::ranges::sort(slots, {}, &runner::SignalSlot::begin);
  UtcTime until = now;
  for (const auto& slot : slots)
    if (slot.begin <= until) until = std::max(until, slot.end);
  return until;
}

std::int64_t seconds(UtcTime at) {
  return std::chrono::ceil<std::chrono::seconds>(at.time_since_epoch()).count();
}
std::int64_t seconds(Milliseconds length) { return std::chrono::floor<std::chrono::seconds>(length).count(); }

}  // namespace

Begin best_begin(Milliseconds length, UtcTime latest, const std::vector<runner::SignalSlot>& signal,
                 UtcTime now) {
  Begin best;
  const auto end = std::min(latest + length, known_until(signal, now));
  if (latest <= now || end <= now + length) return best;
  runner::Order order;
  order.id = "job";
  order.submitted = now;
  order.duration = length;
  order.deadline = end;
  const auto plan = make_plan(order, {}, signal, {}, now);
  if (plan.windows.empty()) return best;
  const auto begin = std::clamp(plan.windows.front().begin, now, end - length);
  runner::Record record;
  record.state = runner::State::ended;
  record.pieces = {{begin, begin + length}};
  const auto outcome = outcome_of(order, record, plan, begin + length);
  best.g_per_kwh = outcome.mean_g_per_kwh;
  best.now_g_per_kwh = outcome.baseline_g_per_kwh;
  if (begin > now && best.g_per_kwh && best.now_g_per_kwh && *best.g_per_kwh < *best.now_g_per_kwh)
    best.at = begin;
  return best;
}

Table make_table(const std::vector<runner::SignalSlot>& signal, UtcTime now, Milliseconds valid) {
  Table table;
  table.made = now;
  table.expires = now + valid;
  for (const auto length : kLengths) {
    Row row;
    row.length = length;
    for (std::size_t i = 0; i < std::size(kWaiting); ++i)
      row.begins[i] = best_begin(length, now + k8s::slack_of(kWaiting[i]), signal, now);
    table.rows.push_back(row);
  }
  return table;
}

std::optional<std::pair<std::string, k8s::Tolerance>> qos_from(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals > kLongestName) return std::nullopt;
  const auto name = text.substr(0, equals);
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (!std::ranges::all_of(name, plain)) return std::nullopt;
  const auto tolerance = k8s::tolerance_from(text.substr(equals + 1));
  if (!tolerance) return std::nullopt;
  return std::pair{std::string(name), *tolerance};
}

UtcTime RealTime::shown(UtcTime at) const {
  return shown_origin + Milliseconds{std::llround(static_cast<double>((at - real_origin).count()) * speed)};
}

UtcTime RealTime::real(UtcTime at) const { return real_origin + real(at - shown_origin); }

Milliseconds RealTime::real(Milliseconds length) const {
  return Milliseconds{std::llround(static_cast<double>(length.count()) / speed)};
}

std::string to_text(const Table& table, const RealTime& time) {
  auto out = fmt::format("tidewatt-slurm/1 made={} expires={}\n", seconds(time.real(table.made)),
                         seconds(time.real(table.expires)));
  for (const auto& [name, tolerance] : table.qos)
    out += fmt::format("qos {} {}\n", name, to_string(tolerance));
  for (std::size_t i = 0; i < std::size(kWaiting); ++i) {
    out += fmt::format("class {} slack={}", to_string(kWaiting[i]),
                       seconds(time.real(k8s::slack_of(kWaiting[i]))));
    for (const auto& row : table.rows) {
      const auto& at = row.begins[i].at;
      out += fmt::format(" {}={}", seconds(time.real(row.length)), at ? seconds(time.real(*at)) : 0);
    }
    out += "\n";  // 0, long ago: at once
  }
  return out + "end.\n";
}

}  // namespace tidewatt::slurm
