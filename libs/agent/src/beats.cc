#include "tidewatt/agent/beats.h"

#include <algorithm>

#include "tidewatt/agent/backoff.h"
#include "tidewatt/base/log.h"
#include "tidewatt/units/printable.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::agent {
namespace {

/// A counter is as old as its last reading: over a few milliseconds its difference would be that of a whole
/// sampling period, and the ledger would rightly not believe it.
constexpr Milliseconds kLeastBetweenBeats{1'000};

/// Without "(next try in 241 s)", which is wrong by the time that somebody reads it.
std::string lasting(std::string trouble) {
  constexpr std::string_view kFrom = " (next try in ";
  const auto from = trouble.find(kFrom);
  const auto to = from == std::string::npos ? from : trouble.find(')', from);
  if (to != std::string::npos) trouble.erase(from, to - from + 1);
  return trouble;
}

SourceReport report_of(const SourceStatus& status) {
  using State = SourceWatch::State;
  SourceReport report;
  report.source = status.name;
  report.state = status.state == State::up         ? SourceState::ok
                 : status.state == State::starting ? SourceState::starting
                 : status.state == State::absent   ? SourceState::absent
                                                   : SourceState::failed;
  // Tools' words may hold anything; a byte that is no text would cost the whole beat.
  report.reason = printable(lasting(status.trouble), SourceReport::kLongestReason);
  return report;
}

/// Attribution is no source of power, but what it misses is missed in the same places.
SourceReport report_of(const AttributionStatus& status) {
  SourceReport report;
  report.source = "attribution";
  report.state = SourceState::failed;
  report.reason = "looking at the cgroups took too long: this beat's energy is told to no task";
  if (status.last.cgroups > 0) report.reason += " (" + std::to_string(status.last.cgroups) + " cgroups)";
  return report;
}

/// What gives nothing first: the list is bounded, and that is what people ask for.
std::vector<SourceReport> reports_of(const std::vector<std::unique_ptr<SourceRunner>>& sources) {
  std::vector<SourceReport> reports;
  reports.reserve(sources.size());
  for (const auto& source : sources) reports.push_back(report_of(source->status()));
  if (reports.size() <= SourceReport::kMost) return reports;
  std::ranges::stable_partition(reports, [](const auto& r) { return r.state != SourceState::ok; });
  reports.resize(SourceReport::kMost);
  return reports;
}

}  // namespace

Beats::Beats(NodeFacts facts, const Clock& clock, const FileSystem& files, Collector& collector,
             std::vector<std::unique_ptr<SourceRunner>>& sources, AttributionThread* attribution)
    : facts_(std::move(facts)),
      clock_(clock),
      collector_(collector),
      sources_(sources),
      attribution_(attribution),
      cpu_(files) {
  cpu_.read();  // the first beat's utilisation is since here, and its CPU time
  if (attribution_ != nullptr) attribution_->look({});
}

Beat Beats::make() {
  for (const auto& source : sources_) source->check();
  Beat beat;
  beat.cluster = facts_.cluster;
  beat.node_id = facts_.node_id;
  beat.boot_id = facts_.boot_id;
  beat.agent_id = facts_.agent_id;
  beat.agent_version = facts_.agent_version;
  beat.region = facts_.region;
  beat.zone = facts_.zone;
  beat.labels = facts_.labels;
  beat.cpu_util = cpu_.read();
  beat.cpu_cores = facts_.cpu_cores;
  beat.cpu_model = facts_.cpu_model;
  const SteadyTime now = clock_.mono_now();
  beat.sampled_at = clock_.utc_now();
  beat.monotonic = now.time_since_epoch();
  beat.devices = collector_.finish(now);
  beat.sources = reports_of(sources_);
  if (attribution_ == nullptr) return beat;
  std::vector<metering::Reading> latest;
  for (auto& device : collector_.latest(now))
    if (device.reading.processes) latest.push_back(std::move(device.reading));
  // At the interval's end, so that CPU time and energy are of the same seconds.
  if (const auto workloads = attribution_->look(std::move(latest))) workloads->apply(beat.devices);
  const auto status = attribution_->status();
  if (status.is_late && beat.sources.size() < SourceReport::kMost) beat.sources.push_back(report_of(status));
  return beat;
}

void Beats::make_and_spool(Spool& spool, Identity& identity) {
  Beat beat = make();
  beat.seq = identity.seq_of(spool.next_id());
  const bool on_disk = spool.append(wire::to_json(beat));
  identity.beats_are_on_disk(on_disk);
  if (on_disk == !degraded_) return;
  degraded_ = !on_disk;
  if (degraded_) {
    log::error("the spool's disk takes nothing; the newest beats are kept in memory and still sent",
               {{"error", spool.stats().failure}});
  } else {
    log::info("the spool's disk works again");
  }
}

void run_beats(const Clock& clock, Rng& rng, Milliseconds period,
               const std::function<bool(Milliseconds)>& wait, const std::function<void()>& beat) {
  const Milliseconds least = std::min(kLeastBetweenBeats, period / 2);
  SteadyTime last = clock.mono_now();
  SteadyTime due =
      last + least +
      Milliseconds{static_cast<std::int64_t>(rng.uniform() * static_cast<double>((period - least).count()))};
  for (;;) {
    const bool stop = wait(std::max(Milliseconds{due - clock.mono_now()}, Milliseconds{0}));
    const SteadyTime now = clock.mono_now();
    if (stop && now - last < least) return;
    if (!stop && now < due) continue;  // woken early
    beat();
    if (stop) return;
    last = now;
    due = next_due(due, period, clock.mono_now() + least);
  }
}

}  // namespace tidewatt::agent
