// Alerts: what should worry somebody now.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "handlers.h"
#include "node_view.h"

namespace tidewatt::api {
namespace {

using ledger::NodeInfo;

constexpr std::size_t kMostOfAKind = 50;
constexpr double kLowCoverage = 0.95;
constexpr Milliseconds kClockTolerance{30'000};
constexpr Milliseconds kCertificateNews{21LL * 24 * 3600 * 1000};
/// Beats that overtook each other are over sooner.
constexpr Milliseconds kStaleFor{60'000};

Json alert(std::string_view kind, std::string_view subject, std::optional<UtcTime> since, std::string text) {
  return Json{{"kind", kind}, {"subject", subject}, {"since", time(since)}, {"text", std::move(text)}};
}

Json alert(std::string_view kind, const NodeInfo& node, std::optional<UtcTime> since, std::string text) {
  auto made = alert(kind, node.key.node_id, since, std::move(text));
  made["cluster"] = node.key.cluster;
  return made;
}

/// "n1-2" before "n1-10": runs of digits compare as numbers.
bool naturally_before(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number_at = [&](std::string_view text, std::size_t& at) {
    while (at < text.size() && text[at] == '0') ++at;
    const auto begin = at;
    while (at < text.size() && digit(text[at])) ++at;
    return text.substr(begin, at - begin);
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const auto x = number_at(a, i);
      const auto y = number_at(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  return a.size() - i < b.size() - j;
}

std::vector<const NodeInfo*> in_natural_order(const std::vector<ledger::SharedNode>& nodes) {
  std::vector<const NodeInfo*> order;
  order.reserve(nodes.size());
  for (const auto& node : nodes) order.push_back(node.get());
  std::stable_sort(order.begin(), order.end(), [](const NodeInfo* a, const NodeInfo* b) {
    return naturally_before(a->key.node_id, b->key.node_id);
  });
  return order;
}

void conservation(Core& core, Json& alerts) {
  const std::scoped_lock lock{core.metrics.audit_mutex};
  const auto& audit = core.metrics.audit;
  if (!audit) return;
  const WideMicrojoules nothing{};
  if (audit->devices_minus_nodes == nothing && audit->tasks_and_unattributed_minus_nodes == nothing) return;
  alerts.push_back(alert("conservation", "ledger", std::nullopt,
                         fmt::format("sums differ: devices - nodes = {} uJ, tasks + unattributed - nodes = "
                                     "{} uJ; totals can't be trusted",
                                     audit->devices_minus_nodes.to_string(),
                                     audit->tasks_and_unattributed_minus_nodes.to_string())));
}

void damage_alerts(const Core& core, Json& alerts) {
  for (const auto& found : core.store.damage())
    alerts.push_back(
        alert("ledger_damaged", "ledger", found.found_at,
              fmt::format("its write-ahead log was damaged: {} acknowledged commits are lost; check the "
                          "server's disk and memory, then move away {}",
                          found.lost_commits, found.evidence)));
}

void certificate_alert(const Core& core, Json& alerts) {
  const auto end = core.server_stats ? core.server_stats().certificate_end : std::nullopt;
  const auto now = core.clock.utc_now();
  if (!end || *end - now > kCertificateNews) return;
  alerts.push_back(
      alert("certificate_ends", "tls.certificate", std::nullopt,
            fmt::format("the TLS certificate {} at {}: then no agent and no browser connects; renew it, "
                        "the server takes the new files by itself",
                        *end <= now ? "expired" : "expires", format_rfc3339_short(*end))));
}

void carbon_signals(const Core& core, Json& alerts) {
  if (!core.options.signals) return;
  for (const auto& zone : core.options.signals->zones())
    if (!zone.decision.degraded_reason.empty())
      alerts.push_back(alert(zone.decision.step == carbon::ChainStep::off ? "carbon_off" : "carbon_degraded",
                             zone.identity.zone.value_or(""), zone.since, zone.decision.degraded_reason));
}

}  // namespace

Alerts alerts_of(Core& core, const std::vector<ledger::SharedNode>& nodes,
                 const std::map<SubjectKey, Totals>& totals) {
  const auto now = core.clock.utc_now();
  Json alerts = Json::array();
  conservation(core, alerts);
  damage_alerts(core, alerts);
  certificate_alert(core, alerts);
  carbon_signals(core, alerts);
  const std::size_t before_nodes = alerts.size();
  std::size_t silent = 0;
  std::size_t offset = 0;
  std::size_t low = 0;
  std::size_t apart = 0;
  std::size_t stale = 0;
  for (const NodeInfo* each : in_natural_order(nodes)) {
    const NodeInfo& node = *each;
    const bool live = is_live(node, now, core.options.silent_after);
    if (!live && silent++ < kMostOfAKind)
      alerts.push_back(alert(
          "agent_silent", node, node.last_seen_at,
          fmt::format("no beat for {} min: its power is unknown; look at the agent there",
                      std::chrono::duration_cast<std::chrono::minutes>(now - node.last_seen_at).count())));
    const bool is_stale = live && node.stale && now - node.stale->since >= kStaleFor;
    if (is_stale && stale++ < kMostOfAKind)
      alerts.push_back(alert("beats_stale", node, node.stale->since, stale_text(*node.stale)));
    if (live && !is_stale && node.clock_offset && std::chrono::abs(*node.clock_offset) > kClockTolerance &&
        offset++ < kMostOfAKind)
      alerts.push_back(alert("clock_offset", node, node.last_seen_at,
                             fmt::format("its clock and the server's differ by {} s, or its beats are late",
                                         node.clock_offset->count() / 1000)));
    for (const auto& [domain, index, check] : node.checks) {
      if (!live || !check.apart() || apart++ >= kMostOfAKind) continue;
      const double counter = to_joules(check.counter).value();
      const double power = to_joules(check.power).value();
      alerts.push_back(alert(
          "counter_apart", node, std::nullopt,
          fmt::format("{} {}: its counter and its measured power differ by {:.1f} %; booked by the counter",
                      domain, index, std::abs(counter - power) / std::max(counter, power) * 100)));
    }
    const auto found = totals.find({node.key.cluster, node.key.node_id});
    if (!live || found == totals.end()) continue;  // one cause, one alert: a silent agent is named already
    const auto share = found->second.coverage();
    if (share && *share < kLowCoverage && low++ < kMostOfAKind)
      alerts.push_back(alert("coverage_low", node, std::nullopt,
                             fmt::format("only {} of the range is covered: real energy is higher than shown",
                                         ledger::coverage_text(*share, false))));
  }
  return {std::move(alerts), before_nodes + silent + stale + offset + low + apart};
}

}  // namespace tidewatt::api
