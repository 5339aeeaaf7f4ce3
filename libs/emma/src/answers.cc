#include "answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidewatt/base/log.h"
#include "zone_forecast.h"

namespace tidewatt::emma {
namespace {

using carbon::FetchFailure;
using carbon::Want;

constexpr Milliseconds kOldestLatest = std::chrono::hours{6};

/// A failure found in what was parsed, beyond what the fetch itself can see.
std::optional<FetchFailure> flaw_of(const carbon::ParsedSignal& signal,
                                    const carbon::SignalBook::Taken& taken, Want want, UtcTime now) {
  const auto count = signal.points.size();
  if (taken.foreign == count) return FetchFailure::other_series;
  if (taken.foreign + taken.unusable == count) return FetchFailure::empty;
  if (want != Want::latest) return std::nullopt;
  const auto newest = std::max_element(signal.points.begin(), signal.points.end(),
                                       [](const auto& a, const auto& b) { return a.end < b.end; });
  return newest->end + kOldestLatest < now ? std::optional{FetchFailure::stale} : std::nullopt;
}

bool holds(const carbon::ParsedSignal& signal, UtcTime now) {
  return std::any_of(signal.points.begin(), signal.points.end(),
                     [now](const auto& point) { return point.start <= now && now < point.end; });
}

/// Puts the points in the book; an answer of no use becomes a failure with its reason.
void book_points(Zone& zone, const Provider& provider, Want want, Fetched& fetched, UtcTime now) {
  const auto taken = zone.book.take(fetched.signal.points, provider.settings.provider, now);
  fetched.failure = flaw_of(fetched.signal, taken, want, now);
  if (fetched.failure == FetchFailure::other_series)
    fetched.why =
        fmt::format("the answer is of {}, configured is {}", describe(fetched.signal.points.front().series),
                    describe(zone.settings.identity));
  if (fetched.failure == FetchFailure::stale) fetched.why = "the newest value is more than 6 h old";
}

Took no_value_now(const Zone& zone, Provider& provider) {
  if (!provider.without_value)
    log::info("a carbon provider has no value for now",
              {{"zone", zone.settings.zone}, {"provider", provider.settings.provider}});
  provider.without_value = true;
  provider.status.failure = "no_value_now: none of its values holds now";
  return Took::past;
}

Took succeeded(Zone& zone, Provider& provider, Want want, const carbon::ParsedSignal& signal, UtcTime now) {
  auto& status = provider.status;
  auto& health = provider.health(want);
  if (health.failures_in_a_row() > 0)
    log::info("a carbon provider answers again",
              {{"zone", zone.settings.zone}, {"provider", provider.settings.provider}});
  health.succeeded();
  if (want == Want::latest && !holds(signal, now)) return no_value_now(zone, provider);
  if (want == Want::latest) provider.without_value = false;
  status.last_success_at = now;
  if (want == provider.main) status.failure.clear();
  ++status.successes;
  note_forecast(zone, signal, now);
  return Took::wanted;
}

void failed_with(const Zone& zone, Provider& provider, Want want, const Fetched& fetched, SteadyTime now) {
  const std::string kind{to_string(*fetched.failure)};
  if (provider.health(want).last_failure() != fetched.failure)
    log::warning("a carbon provider fails", {{"zone", zone.settings.zone},
                                             {"provider", provider.settings.provider},
                                             {"failure", kind},
                                             {"error", fetched.why}});
  const auto failed_now = [&](carbon::ProviderHealth& health) {
    health.failed(*fetched.failure, now, fetched.retry_after);
  };
  // A limit is on all that is asked.
  if (fetched.failure == FetchFailure::rate_limited)
    std::for_each(provider.healths.begin(), provider.healths.end(), failed_now);
  else
    failed_now(provider.health(want));
  if (want == provider.main) provider.status.failure = kind + ": " + fetched.why;
  ++provider.status.failures[kind];
}

}  // namespace

Took take(Zone& zone, Provider& provider, Want want, Fetched fetched, const Clock& clock) {
  const auto now = clock.utc_now();
  if (!fetched.failure) book_points(zone, provider, want, fetched, now);
  if (!fetched.failure) return succeeded(zone, provider, want, fetched.signal, now);
  failed_with(zone, provider, want, fetched, clock.mono_now());
  return Took::nothing;
}

}  // namespace tidewatt::emma
