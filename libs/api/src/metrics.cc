#include "metrics.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "tidewatt/units/text.h"

namespace tidewatt::api {
namespace {

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}
template <class Value>
void line(std::string& out, std::string_view name, std::string_view labels, Value value) {
  fmt::format_to(std::back_inserter(out), "{}{} {}\n", name, labels, value);
}
template <class Value>
void single(std::string& out, std::string_view name, std::string_view type, std::string_view help,
            Value value) {
  head(out, name, type, help);
  line(out, name, "", value);
}

/// Resident bytes by /proc/self/statm; nullopt elsewhere.
std::optional<std::uint64_t> resident_bytes() {
  std::ifstream statm{"/proc/self/statm"};
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  if (!(statm >> size >> resident)) return std::nullopt;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

constexpr std::array kNotes{ledger::Note::stale,
                            ledger::Note::clock_jump,
                            ledger::Note::clock_corrected,
                            ledger::Note::gap,
                            ledger::Note::counter_reset,
                            ledger::Note::counter_implausible,
                            ledger::Note::counter_frozen,
                            ledger::Note::counter_apart,
                            ledger::Note::partial,
                            ledger::Note::power_implausible,
                            ledger::Note::estimated_not_booked};

void write_ledger(std::string& out, Metrics& metrics, const ledger::LedgerCounters& ledger) {
  constexpr std::string_view kBeats = "tidewatt_beats_total";
  head(out, kBeats, "counter", "Beats by how they were answered.");
  line(out, kBeats, "{outcome=\"accepted\"}", ledger.accepted.load());
  line(out, kBeats, "{outcome=\"duplicate\"}", ledger.duplicate.load());
  line(out, kBeats, "{outcome=\"retry\"}", ledger.retry.load());
  line(out, kBeats, "{outcome=\"rejected\"}", ledger.rejected.load());
  line(out, kBeats, "{outcome=\"malformed\"}", metrics.beats_refused.load());
  constexpr std::string_view kRemote = "tidewatt_remote_write_samples_total";
  head(out, kRemote, "counter", "Samples that Prometheus sent, by what became of them.");
  const auto& remote = metrics.remote_write;
  const std::pair<std::string_view, const RemoteWriteOutcomes::Count*> outcomes[] = {
      {"booked", &remote.booked},   {"shadow", &remote.shadow},   {"old", &remote.old},
      {"no_node", &remote.no_node}, {"no_task", &remote.no_task}, {"unusable", &remote.unusable},
      {"other", &remote.other}};
  for (const auto& [outcome, count] : outcomes)
    line(out, kRemote, fmt::format("{{outcome=\"{}\"}}", outcome), count->load());
  constexpr std::string_view kSpans = "tidewatt_otlp_spans_total";
  head(out, kSpans, "counter", "Spans that services sent, by what became of them.");
  const auto& spans = metrics.spans;
  const std::pair<std::string_view, const SpanOutcomes::Count*> span_outcomes[] = {
      {"accepted", &spans.accepted}, {"duplicate", &spans.duplicate}, {"too_old", &spans.too_old},
      {"no_room", &spans.no_room},   {"no_task", &spans.no_task},     {"unusable", &spans.unusable}};
  for (const auto& [outcome, count] : span_outcomes)
    line(out, kSpans, fmt::format("{{outcome=\"{}\"}}", outcome), count->load());
  constexpr std::string_view kNotesTotal = "tidewatt_ledger_notes_total";
  head(out, kNotesTotal, "counter", "Things the ledger noted while booking, by kind.");
  for (const auto kind : kNotes)
    line(out, kNotesTotal, fmt::format("{{kind=\"{}\"}}", ledger::to_string(kind)),
         ledger.notes.at(static_cast<std::size_t>(kind)).load());
  single(out, "tidewatt_ledger_conflicts_total", "counter",
         "Bookings repeated because another server was first.", ledger.conflicts.load());
  const std::scoped_lock lock{metrics.audit_mutex};
  if (metrics.team_hours_difference)
    single(out, "tidewatt_ledger_team_sums_difference_joules", "gauge",
           "Must read 0: the sums by team and the lifetime totals of their accounts, apart; looked at every "
           "10 min.",
           format_double(metrics.team_hours_difference->to_joules().value()));
  if (!metrics.audit) return;
  constexpr std::string_view kDifference = "tidewatt_ledger_conservation_difference_joules";
  head(out, kDifference, "gauge",
       "Must read 0: node energies are the sums of devices, and of tasks and unattributed.");
  line(out, kDifference, "{check=\"devices_minus_nodes\"}",
       format_double(metrics.audit->devices_minus_nodes.to_joules().value()));
  line(out, kDifference, "{check=\"tasks_and_unattributed_minus_nodes\"}",
       format_double(metrics.audit->tasks_and_unattributed_minus_nodes.to_joules().value()));
}

void write_http(std::string& out, Metrics& metrics, const std::optional<net::ServerStats>& server) {
  constexpr std::string_view kAnswers = "tidewatt_http_answers_total";
  head(out, kAnswers, "counter", "Answers by status class.");
  for (std::size_t i = 2; i < metrics.answers.size(); ++i)
    line(out, kAnswers, fmt::format("{{class=\"{}xx\"}}", i), metrics.answers.at(i).load());
  metrics.ingest.write(out, "tidewatt_ingest_seconds", "Time to book one request of beats.");
  metrics.requests.write(out, "tidewatt_http_request_seconds", "Time to answer one request.");
  single(out, "tidewatt_stream_events_total", "counter", "Events sent to open streams.",
         metrics.events_sent.load());
  if (!server) return;
  single(out, "tidewatt_http_requests_total", "counter", "Requests that reached a handler.",
         server->requests);
  single(out, "tidewatt_http_refused_busy_total", "counter",
         "Requests answered 503 because the queue was full.", server->refused_busy);
  single(out, "tidewatt_http_bad_requests_total", "counter", "Requests that broke a limit or the protocol.",
         server->bad_requests);
  single(out, "tidewatt_http_connections", "gauge", "Open connections.", server->connections);
  single(out, "tidewatt_http_event_streams", "gauge", "Open event streams.", server->event_streams);
  if (server->certificate_end)
    single(out, "tidewatt_tls_certificate_end_timestamp_seconds", "gauge",
           "When the TLS certificate that new connections get expires.",
           server->certificate_end->time_since_epoch().count() / 1000);
}

std::string label_value(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

void Histogram::observe(Seconds duration) {
  std::size_t slot = 0;
  while (slot < kBounds.size() && duration.value() > kBounds.at(slot)) ++slot;
  counts_.at(slot).fetch_add(1, std::memory_order_relaxed);
  sum_microseconds_.fetch_add(static_cast<std::uint64_t>(duration.value() * 1e6), std::memory_order_relaxed);
}

void Histogram::write(std::string& out, std::string_view name, std::string_view help) const {
  head(out, name, "histogram", help);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    count += counts_.at(i).load(std::memory_order_relaxed);
    line(out, name, fmt::format("_bucket{{le=\"{}\"}}", kBounds.at(i)), count);
  }
  count += counts_.at(kBounds.size()).load(std::memory_order_relaxed);
  line(out, name, "_bucket{le=\"+Inf\"}", count);
  line(out, name, "_sum",
       format_double(static_cast<double>(sum_microseconds_.load(std::memory_order_relaxed)) / 1e6));
  line(out, name, "_count", count);
}

std::string metrics_text(Metrics& metrics, const ledger::LedgerCounters& ledger, const RefusedAccess& refused,
                         const std::optional<net::ServerStats>& server, std::string_view version,
                         std::size_t nodes_live, std::size_t nodes_total) {
  std::string out;
  head(out, "tidewatt_build_info", "gauge", "The version that runs.");
  line(out, "tidewatt_build_info", fmt::format("{{version=\"{}\"}}", label_value(version)), 1);
  write_ledger(out, metrics, ledger);
  write_http(out, metrics, server);
  metrics.cluster.write(out);
  single(out, "tidewatt_sign_ins_failed_total", "counter", "Sign-ins that were refused.", refused.sign_ins);
  single(out, "tidewatt_tokens_refused_total", "counter", "Requests with a token that isn't valid.",
         refused.tokens);
  constexpr std::string_view kNodes = "tidewatt_nodes";
  head(out, kNodes, "gauge", "Nodes by state.");
  line(out, kNodes, "{state=\"live\"}", nodes_live);
  line(out, kNodes, "{state=\"silent\"}", nodes_total - nodes_live);
  if (const auto resident = resident_bytes())
    single(out, "process_resident_memory_bytes", "gauge", "Resident memory.", *resident);
  single(out, "process_cpu_seconds_total", "counter", "User and system CPU time.",
         format_double(cpu_seconds()));
  return out;
}

std::string forward_metrics_text(const ForwardCounts& counts) {
  std::string out;
  constexpr std::string_view kSamples = "tidewatt_forward_samples_total";
  head(out, kSamples, "counter", "Power samples for another store, by what became of them.");
  line(out, kSamples, "{outcome=\"sent\"}", counts.sent);
  line(out, kSamples, "{outcome=\"refused\"}", counts.refused);
  line(out, kSamples, "{outcome=\"dropped\"}", counts.dropped);
  single(out, "tidewatt_forward_waiting_samples", "gauge", "Power samples that wait to be sent on.",
         counts.waiting);
  return out;
}

std::string damage_metrics_text(std::uint64_t lost_commits) {
  std::string out;
  single(out, "tidewatt_ledger_lost_commits", "gauge",
         "Must read 0: acknowledged commits that a start found lost, until the copy of the damaged log is "
         "moved away.",
         lost_commits);
  return out;
}

std::string carbon_metrics_text(const std::vector<carbon::ZoneStatus>& zones) {
  std::string out;
  if (zones.empty()) return out;
  using carbon::ChainStep;
  constexpr std::array kSteps{ChainStep::latest, ChainStep::cached_forecast, ChainStep::own_forecast,
                              ChainStep::profile, ChainStep::off};
  const auto label = [](const carbon::ZoneStatus& zone) {
    return label_value(zone.identity.zone.value_or(""));
  };
  constexpr std::string_view kStep = "tidewatt_carbon_chain_step";
  head(out, kStep, "gauge", "1 at the step of the chain that a zone's decisions use.");
  for (const auto& zone : zones)
    for (const auto step : kSteps)
      line(out, kStep, fmt::format("{{zone=\"{}\",step=\"{}\"}}", label(zone), to_string(step)),
           zone.decision.step == step ? 1 : 0);
  constexpr std::string_view kIntensity = "tidewatt_carbon_intensity_grams_per_kwh";
  head(out, kIntensity, "gauge", "The intensity that decisions use now.");
  for (const auto& zone : zones)
    if (const auto& value = zone.decision.value)
      line(out, kIntensity,
           fmt::format("{{zone=\"{}\",kind=\"{}\",quality=\"{}\"}}", label(zone),
                       to_string(value->point.series.kind), to_string(value->point.quality)),
           format_double(value->point.intensity.value()));
  constexpr std::string_view kAge = "tidewatt_carbon_signal_age_seconds";
  head(out, kAge, "gauge", "How long ago what decisions use was fetched.");
  for (const auto& zone : zones)
    if (zone.decision.age)
      line(out, kAge, fmt::format("{{zone=\"{}\"}}", label(zone)),
           format_double(static_cast<double>(zone.decision.age->count()) / 1000));
  constexpr std::string_view kFetches = "tidewatt_carbon_fetches_total";
  head(out, kFetches, "counter", "Answers of providers by how they were.");
  for (const auto& zone : zones)
    for (const auto& provider : zone.providers) {
      const auto labels = [&](std::string_view outcome) {
        return fmt::format("{{zone=\"{}\",provider=\"{}\",outcome=\"{}\"}}", label(zone),
                           label_value(provider.provider), outcome);
      };
      line(out, kFetches, labels("ok"), provider.successes);
      for (const auto& [failure, count] : provider.failures) line(out, kFetches, labels(failure), count);
    }
  return out;
}

}  // namespace tidewatt::api
