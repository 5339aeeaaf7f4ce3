#include "tidewatt/emma/emma.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "fetch.h"
#include "local_source.h"
#include "point_cache.h"
#include "tidewatt/base/log.h"

namespace tidewatt::emma {
namespace {

using carbon::ChainStep;
using carbon::FetchFailure;
using carbon::Want;

constexpr std::string_view kOwn = "tidewatt";
constexpr std::string_view kProvider = "provider";
constexpr Milliseconds kHour = std::chrono::hours{1};
constexpr Milliseconds kOldestLatest = std::chrono::hours{6};
constexpr Milliseconds kOwnForecastEvery = std::chrono::hours{6};
constexpr Milliseconds kForecastAhead = std::chrono::hours{96};
constexpr int kHoursPerDay = 24;

struct Provider {
  carbon::ProviderSettings settings;
  /// By what is asked: a plan may cover values and no forecasts.
  std::array<carbon::ProviderHealth, 3> healths;
  carbon::ProviderStatus status;
  Want main = Want::latest;    ///< what it is judged by
  bool without_value = false;  ///< it answered last, but with nothing that holds then

  [[nodiscard]] carbon::ProviderHealth& health(Want want) {
    return healths.at(static_cast<std::size_t>(want));
  }
  [[nodiscard]] const carbon::ProviderHealth& health() const {
    return healths.at(static_cast<std::size_t>(main));
  }
};

struct Zone {
  explicit Zone(carbon::ChainSettings chain) : settings{std::move(chain)}, book{settings.identity} {
    for (const auto& provider : settings.providers) {
      providers.push_back({provider, {}, {}, Want::latest});
      providers.back().status.provider = provider.provider;
    }
  }
  carbon::ChainSettings settings;
  carbon::SignalBook book;
  carbon::ForecastScores scores;
  std::optional<carbon::Forecast> own;
  std::vector<Provider> providers;
  carbon::FetchGate gate;
  UtcTime forecasts_due{};
  UtcTime scored_to{};
  std::optional<ChainStep> step;
  std::optional<UtcTime> step_since;

  /// What keeps the first provider from answering.
  [[nodiscard]] std::string failure() const {
    const auto& first = providers.front();
    const auto why = first.health().last_failure();
    return why ? fmt::format("{}: {}", first.settings.provider, to_string(*why)) : std::string{};
  }
};

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

/// What an answer was worth, from worst to best.
enum class Took : std::uint8_t {
  nothing,
  past,  ///< points, none of which holds now: kept, and the next provider is asked
  wanted,
};

bool holds(const carbon::ParsedSignal& signal, UtcTime now) {
  return std::any_of(signal.points.begin(), signal.points.end(),
                     [now](const auto& point) { return point.start <= now && now < point.end; });
}

}  // namespace

struct Emma::Impl {
  Options options;
  FileSystem& files;
  const Clock& clock;
  Fetcher fetcher;
  mutable std::mutex mutex;
  std::map<std::string, Zone, std::less<>> zones;

  Impl(Options given, HttpFactory http, FileSystem& files_in, const Clock& clock_in)
      : options{std::move(given)},
        files{files_in},
        clock{clock_in},
        fetcher{std::move(http), options.secrets, clock_in} {}

  [[nodiscard]] std::string cache_path(std::string_view zone) const {
    return fmt::format("{}/{}.json", options.cache_folder, zone);
  }
  void load(Zone& zone);
  void store(const std::string& name);
  /// Asks the chain for one kind of answer, until somebody gives it. @return the best that came of it
  Took ask(Zone& zone, Want want);
  Took take(Zone& zone, Provider& provider, Want want, Fetched fetched);
  Took no_value_now(const Zone& zone, Provider& provider);
  void score(Zone& zone, UtcTime now);
  void forecast_ourselves(Zone& zone, UtcTime now);
  void note_step(Zone& zone, UtcTime now);
  [[nodiscard]] carbon::ChainDecision decision(const Zone& zone, UtcTime now) const;
  [[nodiscard]] carbon::ZoneStatus status(const Zone& zone) const;
};

void Emma::Impl::load(Zone& zone) {
  if (options.cache_folder.empty()) return;
  const auto text = files.read_text(cache_path(zone.settings.zone), 64U << 20U);
  if (!text) return;
  auto points = parse_cache(*text, zone.settings.identity);
  if (!points) {
    log::warning("a zone's carbon signals are begun anew",
                 {{"zone", zone.settings.zone}, {"error", points.error().to_string()}});
    return;
  }
  for (auto& point : *points) zone.book.restore(std::move(point));
}

void Emma::Impl::store(const std::string& name) {
  if (options.cache_folder.empty()) return;
  std::string text;
  {
    const std::scoped_lock lock{mutex};
    text = cache_text(zones.find(name)->second.book);
  }
  auto kept = files.make_folders(options.cache_folder);
  if (kept) kept = files.write_atomically(cache_path(name), text);
  if (!kept)
    log::warning("carbon signals can't be kept on disk",
                 {{"zone", name}, {"error", kept.error().to_string()}});
}

Took Emma::Impl::no_value_now(const Zone& zone, Provider& provider) {
  if (!provider.without_value)
    log::info("a carbon provider has no value for now",
              {{"zone", zone.settings.zone}, {"provider", provider.settings.provider}});
  provider.without_value = true;
  provider.status.failure = "no_value_now: none of its values holds now";
  return Took::past;
}

Took Emma::Impl::take(Zone& zone, Provider& provider, Want want, Fetched fetched) {
  const auto now = clock.utc_now();
  auto& status = provider.status;
  if (!fetched.failure) {
    const auto taken = zone.book.take(fetched.signal.points, provider.settings.provider, now);
    fetched.failure = flaw_of(fetched.signal, taken, want, now);
    if (fetched.failure == FetchFailure::other_series)
      fetched.why =
          fmt::format("the answer is of {}, configured is {}", describe(fetched.signal.points.front().series),
                      describe(zone.settings.identity));
    if (fetched.failure == FetchFailure::stale) fetched.why = "the newest value is more than 6 h old";
  }
  if (!fetched.failure) {
    auto& health = provider.health(want);
    if (health.failures_in_a_row() > 0)
      log::info("a carbon provider answers again",
                {{"zone", zone.settings.zone}, {"provider", provider.settings.provider}});
    health.succeeded();
    if (want == Want::latest && !holds(fetched.signal, now)) return no_value_now(zone, provider);
    if (want == Want::latest) provider.without_value = false;
    status.last_success_at = now;
    if (want == provider.main) status.failure.clear();
    ++status.successes;
    std::vector<carbon::SaidPoint> said;
    for (const auto& point : fetched.signal.points)
      if (point.quality == carbon::SignalQuality::forecast && point.start >= now)
        said.push_back({point.start, point.end, point.intensity.value()});
    zone.scores.said(kProvider, now, std::move(said));
    return Took::wanted;
  }
  const std::string kind{to_string(*fetched.failure)};
  if (provider.health(want).last_failure() != fetched.failure)
    log::warning("a carbon provider fails", {{"zone", zone.settings.zone},
                                             {"provider", provider.settings.provider},
                                             {"failure", kind},
                                             {"error", fetched.why}});
  const auto failed_now = [&](carbon::ProviderHealth& health) {
    health.failed(*fetched.failure, clock.mono_now(), fetched.retry_after);
  };
  // A limit is on all that is asked.
  if (fetched.failure == FetchFailure::rate_limited)
    std::for_each(provider.healths.begin(), provider.healths.end(), failed_now);
  else
    failed_now(provider.health(want));
  if (want == provider.main) status.failure = kind + ": " + fetched.why;
  ++status.failures[kind];
  return Took::nothing;
}

Took Emma::Impl::ask(Zone& zone, Want want) {
  Took best = Took::nothing;
  for (auto& provider : zone.providers) {
    const bool local = is_local(provider.settings);
    if (local ? want != Want::latest : !fetcher.has(provider.settings, want)) {
      // Its answer to `latest` holds the rest; when that failed the next one is asked.
      if (want != Want::latest && !provider.health().last_failure() && provider.status.successes > 0)
        return best;
      continue;
    }
    {
      const std::scoped_lock lock{mutex};
      if (!provider.health(want).may_ask(clock.mono_now())) continue;
    }
    auto fetched = local ? read_local(provider.settings, files, clock.utc_now(),
                                      [this](const std::string& name) {
                                        const std::scoped_lock lock{mutex};
                                        const auto found = zones.find(name);
                                        return found == zones.end()
                                                   ? carbon::HourlySeries{}
                                                   : found->second.book.hourly(clock.utc_now());
                                      })
                         : fetcher.fetch(provider.settings, want);
    const std::scoped_lock lock{mutex};
    best = std::max(best, take(zone, provider, want, std::move(fetched)));
    if (best == Took::wanted) return best;
  }
  return best;
}

void Emma::Impl::score(Zone& zone, UtcTime now) {
  for (const auto& stored : zone.book.history({zone.scored_to, now})) {
    if (stored.point.end > now || stored.point.quality == carbon::SignalQuality::fixed) continue;
    zone.scores.came(stored.point.start, stored.point.intensity.value());
    zone.scored_to = stored.point.start + Milliseconds{1};
  }
}

/// Takes the mutex itself: a fit takes up to seconds.
void Emma::Impl::forecast_ourselves(Zone& zone, UtcTime now) {
  carbon::HourlySeries series;
  {
    const std::scoped_lock lock{mutex};
    series = zone.book.hourly(now);
    if (zone.own && start_of(series.end()) - zone.own->issued_at < kOwnForecastEvery) return;
  }
  auto said = carbon::Forecaster::fit(series).and_then([](const auto& fitted) { return fitted.predict(); });
  if (!said) return;
  std::vector<carbon::SaidPoint> points;
  for (const auto& point : said->points)
    points.push_back({point.start, point.start + kHour, point.expected.value()});
  const std::scoped_lock lock{mutex};
  zone.scores.said(kOwn, said->issued_at, std::move(points));
  zone.own = *std::move(said);
}

carbon::ChainDecision Emma::Impl::decision(const Zone& zone, UtcTime now) const {
  return decide(zone.book, zone.own ? &*zone.own : nullptr, now, options.ttl, zone.failure());
}

void Emma::Impl::note_step(Zone& zone, UtcTime now) {
  const auto got = decision(zone, now);
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

carbon::ZoneStatus Emma::Impl::status(const Zone& zone) const {
  const auto now = clock.utc_now();
  const auto mono = clock.mono_now();
  carbon::ZoneStatus out;
  out.identity = zone.settings.identity;
  out.decision = decision(zone, now);
  // Between two looks of the refreshing thread the step may have changed by time alone.
  out.since = zone.step == out.decision.step ? zone.step_since : std::nullopt;
  for (const auto& provider : zone.providers) {
    auto& one = out.providers.emplace_back(provider.status);
    if (!provider.health().may_ask(mono)) {
      one.state = "paused";
      one.next_try_at = now + (provider.health().not_before() - mono);
    } else {
      one.state = provider.health().last_failure() ? "failing"
                  : provider.without_value         ? "no_value"
                  : provider.status.successes > 0  ? "ok"
                                                   : "untried";
    }
  }
  return out;
}

Emma::Emma(Options options, HttpFactory http, FileSystem& files, const Clock& clock)
    : impl_{std::make_unique<Impl>(std::move(options), std::move(http), files, clock)} {
  for (const auto& chain : impl_->options.zones) {
    auto& zone = impl_->zones.try_emplace(chain.zone, chain).first->second;
    for (auto& provider : zone.providers)
      if (!is_local(provider.settings) && !impl_->fetcher.has(provider.settings, Want::latest))
        provider.main = Want::forecast;
    impl_->load(zone);
  }
}

Emma::~Emma() = default;

void Emma::refresh(const std::string& name) {
  auto& impl = *impl_;
  const auto found = impl.zones.find(name);
  if (found == impl.zones.end()) return;
  Zone& zone = found->second;
  const auto now = impl.clock.utc_now();
  bool forecasts = false;
  {
    const std::scoped_lock lock{impl.mutex};
    if (!zone.gate.claim(now)) return;
    forecasts = now >= zone.forecasts_due;
  }
  Took best = impl.ask(zone, Want::latest);
  if (forecasts) best = std::max({best, impl.ask(zone, Want::history), impl.ask(zone, Want::forecast)});
  const bool changed = best != Took::nothing;
  impl.forecast_ourselves(zone, now);
  {
    const std::scoped_lock lock{impl.mutex};
    if (forecasts && changed) zone.forecasts_due = now + impl.options.ttl;
    impl.score(zone, now);
    impl.note_step(zone, now);
    zone.gate.done(next_fetch(zone.book, now, impl.options.ttl));
  }
  if (changed) impl.store(name);
}

void Emma::refresh_due() {
  for (const auto& [name, zone] : impl_->zones) refresh(name);
}

std::vector<carbon::ZoneStatus> Emma::zones() const {
  const std::scoped_lock lock{impl_->mutex};
  std::vector<carbon::ZoneStatus> out;
  for (const auto& [name, zone] : impl_->zones) out.push_back(impl_->status(zone));
  return out;
}

std::optional<carbon::ZoneStatus> Emma::zone(const std::string& name) const {
  const std::scoped_lock lock{impl_->mutex};
  const auto found = impl_->zones.find(name);
  if (found == impl_->zones.end()) return std::nullopt;
  return impl_->status(found->second);
}

std::optional<std::vector<carbon::StoredPoint>> Emma::history(const std::string& name, const UtcRange& range,
                                                              bool all_revisions) const {
  const std::scoped_lock lock{impl_->mutex};
  const auto found = impl_->zones.find(name);
  if (found == impl_->zones.end()) return std::nullopt;
  return found->second.book.history(range, all_revisions);
}

std::optional<carbon::ZoneForecast> Emma::forecast(const std::string& name, int hours) const {
  const std::scoped_lock lock{impl_->mutex};
  const auto found = impl_->zones.find(name);
  if (found == impl_->zones.end()) return std::nullopt;
  const Zone& zone = found->second;
  const UtcHour begin = hour_of(impl_->clock.utc_now());
  carbon::ZoneForecast out;
  out.identity = zone.settings.identity;
  for (int hour = 0; hour < std::min(hours, static_cast<int>(kForecastAhead / kHour)); ++hour) {
    const UtcTime at = start_of(begin + std::chrono::hours{hour});
    const auto theirs = zone.book.forecast({at, at + kHour});
    const carbon::ForecastPoint* own = nullptr;
    if (zone.own)
      for (const auto& point : zone.own->points)
        if (point.start == at) own = &point;
    const auto better = zone.scores.better(kProvider, kOwn, hour / kHoursPerDay + 1, kProvider);
    if (own != nullptr && (theirs.empty() || better == kOwn)) {
      carbon::ForecastSlot slot;
      slot.point.point = {at,
                          at + kHour,
                          own->expected,
                          carbon::SignalQuality::forecast,
                          zone.settings.identity,
                          std::nullopt,
                          zone.own->issued_at};
      slot.point.provider = kOwn;
      slot.point.fetched_at = zone.own->issued_at;
      slot.p10 = own->p10;
      slot.p90 = own->p90;
      out.slots.push_back(std::move(slot));
    } else {
      for (const auto& point : theirs) out.slots.push_back({point, std::nullopt, std::nullopt});
    }
  }
  if (!out.slots.empty())
    out.issued_at = out.slots.front().point.point.issued_at.value_or(out.slots.front().point.fetched_at);
  for (const auto forecaster : {kProvider, kOwn})
    for (int day = 1; day <= carbon::ForecastScores::kDays; ++day)
      if (const auto record = zone.scores.record(forecaster, day))
        out.scores.push_back({std::string{forecaster}, day, *record});
  return out;
}

}  // namespace tidewatt::emma
