#include "tidewatt/emma/emma.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "answers.h"
#include "fetch.h"
#include "local_source.h"
#include "point_cache.h"
#include "zone.h"
#include "zone_files.h"
#include "zone_forecast.h"
#include "zone_status.h"

namespace tidewatt::emma {

using carbon::Want;

/// Whose turn it is: the order in which providers are asked, and who may touch a zone meanwhile.
struct Emma::Impl {
  Options options;
  FileSystem& files;
  ZoneFiles cache;
  const Clock& clock;
  Fetcher fetcher;
  mutable std::mutex mutex;
  std::map<std::string, Zone, std::less<>> zones;

  Impl(Options given, HttpFactory http, FileSystem& files_in, const Clock& clock_in)
      : options{std::move(given)},
        files{files_in},
        cache{options.cache_folder, files_in},
        clock{clock_in},
        fetcher{std::move(http), options.secrets, clock_in} {}

  void store(const std::string& name);
  /// Asks the chain for one kind of answer, until somebody gives it. @return the best that came of it
  Took ask(Zone& zone, Want want);
  Fetched fetch(const carbon::ProviderSettings& provider, Want want);
  carbon::HourlySeries hours_of(const std::string& zone) const;
  void forecast_ourselves(Zone& zone, UtcTime now);
};

void Emma::Impl::store(const std::string& name) {
  if (!cache.kept()) return;
  std::string text;
  {
    const std::scoped_lock lock{mutex};
    text = cache_text(zones.find(name)->second.book);
  }
  cache.store(name, text);
}

carbon::HourlySeries Emma::Impl::hours_of(const std::string& zone) const {
  const std::scoped_lock lock{mutex};
  const auto found = zones.find(zone);
  return found == zones.end() ? carbon::HourlySeries{} : found->second.book.hourly(clock.utc_now());
}

Fetched Emma::Impl::fetch(const carbon::ProviderSettings& provider, Want want) {
  if (!is_local(provider)) return fetcher.fetch(provider, want);
  return read_local(provider, files, clock.utc_now(),
                    [this](const std::string& zone) { return hours_of(zone); });
}

Took Emma::Impl::ask(Zone& zone, Want want) {
  Took best = Took::nothing;
  for (auto& provider : zone.providers) {
    const bool has =
        is_local(provider.settings) ? want == Want::latest : fetcher.has(provider.settings, want);
    if (!has) {
      // Its answer to `latest` holds the rest; when that failed the next one is asked.
      if (want != Want::latest && !provider.health().last_failure() && provider.status.successes > 0)
        return best;
      continue;
    }
    {
      const std::scoped_lock lock{mutex};
      if (!provider.health(want).may_ask(clock.mono_now())) continue;
    }
    auto fetched = fetch(provider.settings, want);
    const std::scoped_lock lock{mutex};
    best = std::max(best, take(zone, provider, want, std::move(fetched), clock));
    if (best == Took::wanted) return best;
  }
  return best;
}

/// Takes the mutex itself: a fit takes up to seconds.
void Emma::Impl::forecast_ourselves(Zone& zone, UtcTime now) {
  std::optional<carbon::HourlySeries> series;
  {
    const std::scoped_lock lock{mutex};
    series = series_to_forecast(zone, now);
  }
  if (!series) return;
  auto said = own_forecast(*series);
  if (!said) return;
  const std::scoped_lock lock{mutex};
  keep_own_forecast(zone, *std::move(said));
}

Emma::Emma(Options options, HttpFactory http, FileSystem& files, const Clock& clock)
    : impl_{std::make_unique<Impl>(std::move(options), std::move(http), files, clock)} {
  for (const auto& chain : impl_->options.zones) {
    auto& zone = impl_->zones.try_emplace(chain.zone, chain).first->second;
    for (auto& provider : zone.providers)
      if (!is_local(provider.settings) && !impl_->fetcher.has(provider.settings, Want::latest))
        provider.main = Want::forecast;
    impl_->cache.load(zone);
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
    score(zone, now);
    note_step(zone, now, impl.options.ttl);
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
  for (const auto& [name, zone] : impl_->zones)
    out.push_back(status_of(zone, impl_->clock, impl_->options.ttl));
  return out;
}

std::optional<carbon::ZoneStatus> Emma::zone(const std::string& name) const {
  const std::scoped_lock lock{impl_->mutex};
  const auto found = impl_->zones.find(name);
  if (found == impl_->zones.end()) return std::nullopt;
  return status_of(found->second, impl_->clock, impl_->options.ttl);
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
  return forecast_of(found->second, impl_->clock.utc_now(), hours);
}

}  // namespace tidewatt::emma
