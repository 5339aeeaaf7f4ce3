#include "zone_status.h"

#include <fmt/format.h>

#include "tidewatt/base/log.h"

namespace tidewatt::emma {
namespace {

/// What keeps the first provider from answering.
std::string failure_of(const Zone& zone) {
  const auto& first = zone.providers.front();
  const auto why = first.health().last_failure();
  return why ? fmt::format("{}: {}", first.settings.provider, to_string(*why)) : std::string{};
}

carbon::ProviderStatus provider_status(const Provider& provider, UtcTime now, SteadyTime mono) {
  carbon::ProviderStatus out = provider.status;
  if (!provider.health().may_ask(mono)) {
    out.state = "paused";
    out.next_try_at = now + (provider.health().not_before() - mono);
  } else {
    out.state = provider.health().last_failure() ? "failing"
                : provider.without_value         ? "no_value"
                : provider.status.successes > 0  ? "ok"
                                                 : "untried";
  }
  return out;
}

}  // namespace

carbon::ChainDecision decision_of(const Zone& zone, UtcTime now, Milliseconds ttl) {
  return decide(zone.book, zone.own ? &*zone.own : nullptr, now, ttl, failure_of(zone));
}

void note_step(Zone& zone, UtcTime now, Milliseconds ttl) {
  const auto got = decision_of(zone, now, ttl);
  if (zone.step == got.step) return;
  const std::string_view from = zone.step ? to_string(*zone.step) : std::string_view{"start"};
  if (got.degraded_reason.empty())
    log::info("a zone's carbon signal",
              {{"zone", zone.settings.zone}, {"from", from}, {"to", to_string(got.step)}});
  else
    log::warning("a zone's carbon signal is degraded", {{"zone", zone.settings.zone},
                                                        {"from", from},
                                                        {"to", to_string(got.step)},
                                                        {"reason", got.degraded_reason}});
  zone.step = got.step;
  zone.step_since = now;
}

carbon::ZoneStatus status_of(const Zone& zone, const Clock& clock, Milliseconds ttl) {
  const auto now = clock.utc_now();
  const auto mono = clock.mono_now();
  carbon::ZoneStatus out;
  out.identity = zone.settings.identity;
  out.decision = decision_of(zone, now, ttl);
  // Between two looks of the refreshing thread the step may have changed by time alone.
  out.since = zone.step == out.decision.step ? zone.step_since : std::nullopt;
  for (const auto& provider : zone.providers) out.providers.push_back(provider_status(provider, now, mono));
  return out;
}

}  // namespace tidewatt::emma
