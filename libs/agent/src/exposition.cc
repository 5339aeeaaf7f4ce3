#include "tidewatt/agent/exposition.h"

#include <fmt/format.h>

#include <initializer_list>

#include "tidewatt/units/printable.h"
#include "tidewatt/units/text.h"

namespace tidewatt::agent {
namespace {

using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

class Text {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    out_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  void value(const Labels& labels, double value) { line(labels, format_double(value)); }
  void value(const Labels& labels, std::uint64_t value) { line(labels, std::to_string(value)); }
  /// A family with one series; nothing at all when the value isn't known.
  void gauge(std::string_view name, std::string_view help, std::optional<double> v) {
    if (!v) return;
    family(name, "gauge", help);
    value({}, *v);
  }
  void counter(std::string_view name, std::string_view help, std::uint64_t v) {
    family(name, "counter", help);
    value({}, v);
  }
  std::string take() { return std::move(out_); }

 private:
  void line(const Labels& labels, const std::string& value) {
    out_ += name_;
    char before = '{';
    for (const auto& [key, text] : labels) {
      out_ += before;
      out_ += key;
      out_ += "=\"";
      out_ += escape_label(text);
      out_ += '"';
      before = ',';
    }
    if (before == ',') out_ += '}';
    out_ += ' ';
    out_ += value;
    out_ += '\n';
  }

  std::string out_;
  std::string name_;
};

std::optional<double> age_seconds(SteadyTime now, std::optional<SteadyTime> at) {
  if (!at) return std::nullopt;
  return static_cast<double>((now - *at).count()) / kPerKilo;
}

template <class Get>
void device_family(Text& text, const std::vector<DeviceNow>& devices, std::string_view name,
                   std::string_view type, std::string_view help, Get get) {
  bool begun = false;
  for (const auto& device : devices) {
    const auto& r = device.reading;
    const std::optional<double> v = get(r);
    if (!v) continue;
    if (!begun) text.family(name, type, help);
    begun = true;
    text.value({{"domain", r.domain},
                {"index", std::to_string(r.index)},
                {"uuid", r.uuid},
                {"model", r.model},
                {"source", r.source},
                {"quality", to_string(r.quality)}},
               *v);
  }
}

void devices(Text& text, const Snapshot& s) {
  device_family(text, s.devices, "tidewatt_agent_device_power_watts", "gauge",
                "Power as last read. No line means unknown.",
                [](const metering::Reading& r) -> std::optional<double> {
                  if (!r.power) return std::nullopt;
                  return r.power->value();
                });
  device_family(text, s.devices, "tidewatt_agent_device_energy_joules_total", "counter",
                "Cumulative energy counter of the device, unwrapped.",
                [](const metering::Reading& r) -> std::optional<double> {
                  if (!r.energy_total) return std::nullopt;
                  return r.energy_total->value();
                });
}

void sources(Text& text, const Snapshot& s) {
  if (s.sources.empty()) return;
  text.family("tidewatt_agent_source_up", "gauge", "1 when the source's last read gave readings, else 0.");
  for (const auto& source : s.sources) {
    const bool up = source.state == SourceWatch::State::up;
    text.value({{"source", source.name}, {"state", to_string(source.state)}}, std::uint64_t{up ? 1U : 0U});
  }
  text.family("tidewatt_agent_source_unknown_devices", "gauge",
              "Devices of the source whose power couldn't be told by the last reads.");
  for (const auto& source : s.sources)
    text.value({{"source", source.name}}, std::uint64_t{source.unknown_devices});
  text.family("tidewatt_agent_source_reads_total", "counter", "Reads of the source that ended.");
  for (const auto& source : s.sources) text.value({{"source", source.name}}, source.reads);
  text.family("tidewatt_agent_source_failures_total", "counter",
              "Reads of the source that ended in an error.");
  for (const auto& source : s.sources) text.value({{"source", source.name}}, source.failures);
}

void attribution_cost(Text& text, const Snapshot& s) {
  if (!s.attribution) return;
  const auto& a = *s.attribution;
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  text.gauge("tidewatt_agent_attribution_up", "1 while CPU time is attributed to tasks, else 0.",
             a.looks > 0 && a.last.trouble.empty() && !a.is_late ? 1.0 : 0.0);
  text.counter("tidewatt_agent_attribution_looks_total", "Looks at the node's cgroups and device processes.",
               a.looks);
  text.counter("tidewatt_agent_attribution_late_total",
               "Beats without attribution because the look took too long.", a.late);
  text.gauge("tidewatt_agent_attribution_look_seconds", "How long the last look took.", a.seconds);
  text.family("tidewatt_agent_attribution_cpu_seconds_total", "counter", "CPU time of all looks.");
  text.value({}, a.cpu_seconds_total);
  text.gauge("tidewatt_agent_attribution_cgroups", "Cgroups walked by the last look.", count(a.last.cgroups));
  text.gauge("tidewatt_agent_attribution_tasks", "Tasks told with the CPU's energy.", count(a.last.tasks));
  text.gauge("tidewatt_agent_attribution_unknown_shapes",
             "Cgroups whose path has no known shape; they are named by it.", count(a.last.unknown_shapes));
  text.gauge("tidewatt_agent_attribution_unknown_processes",
             "Processes on devices whose task is unknown; their part is nobody's.",
             count(a.last.unknown_processes));
  text.gauge("tidewatt_agent_attribution_unreadable_cgroups", "Cgroups without a readable counter.",
             count(a.last.unreadable));
  text.gauge("tidewatt_agent_attribution_cut_short", "1 when there was more than the limits allow.",
             a.last.cut_short ? 1.0 : 0.0);
}

void delivery(Text& text, const Snapshot& s) {
  text.counter("tidewatt_agent_beats_spooled_total", "Beats made and spooled since the start.",
               s.spool.appended);
  if (s.relayed)
    text.counter("tidewatt_agent_beats_relayed_total", "Beats taken from other agents since the start.",
                 *s.relayed);
  text.counter("tidewatt_agent_beats_sent_total", "Beats that the server acknowledged.", s.sender.sent);
  text.counter("tidewatt_agent_beats_duplicate_total", "Of these, beats that the server had already.",
               s.sender.duplicates);
  text.family("tidewatt_agent_beats_dropped_total", "counter",
              "Beats that never reach the ledger, by reason.");
  text.value({{"reason", "rejected"}}, s.sender.rejected);
  text.value({{"reason", "spool_full"}}, s.spool.dropped_full);
  text.value({{"reason", "spool_age"}}, s.spool.dropped_old);
  text.value({{"reason", "memory_full"}}, s.spool.lost_memory);
  text.value({{"reason", "spool_hole"}}, s.spool.lost_holes);
  text.counter("tidewatt_agent_send_attempts_total", "Requests to the server.", s.sender.attempts);
  text.counter("tidewatt_agent_send_failures_total", "Requests after which the agent had to wait.",
               s.sender.failures);
  text.family("tidewatt_agent_link", "gauge", "Always 1; the label says how the way to the server is.");
  text.value({{"state", to_string(s.sender.link)}}, std::uint64_t{1});
  text.gauge("tidewatt_agent_spool_bytes", "Size of the spool on disk.",
             static_cast<double>(s.spool.disk_bytes));
  text.gauge("tidewatt_agent_spool_waiting_beats", "Beats not yet acknowledged by the server.",
             static_cast<double>(s.spool.waiting));
  text.gauge("tidewatt_agent_spool_degraded", "1 while the disk takes nothing and beats are in memory only.",
             s.spool.degraded ? 1.0 : 0.0);
  text.counter("tidewatt_agent_spool_bad_records_total", "Torn or damaged places found in the spool.",
               s.spool.bad_records);
  text.gauge("tidewatt_agent_last_success_age_seconds", "Time since the server last took a beat.",
             age_seconds(s.now, s.sender.last_success));
  text.gauge("tidewatt_agent_sample_age_seconds", "Time since a value last changed.",
             age_seconds(s.now, s.last_change));
}

}  // namespace

std::string escape_label(std::string_view value) {
  std::string out;
  while (!value.empty()) {
    const std::size_t length = utf8_length(value);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      value.remove_prefix(1);
      continue;
    }
    const std::string_view character = value.substr(0, length);
    if (character == "\\" || character == "\"") {
      out += '\\';
      out += character;
    } else if (character == "\n") {
      out += "\\n";
    } else {
      out += character;
    }
    value.remove_prefix(length);
  }
  return out;
}

std::string to_prometheus(const Snapshot& s) {
  Text text;
  text.family("tidewatt_agent_info", "gauge", "Always 1; the labels say which agent this is.");
  text.value({{"version", s.version}, {"cluster", s.cluster}, {"node_id", s.node_id}}, std::uint64_t{1});
  devices(text, s);
  sources(text, s);
  attribution_cost(text, s);
  delivery(text, s);
  if (s.own_cpu_seconds) {
    text.family("process_cpu_seconds_total", "counter", "CPU time of the agent itself.");
    text.value({}, *s.own_cpu_seconds);
  }
  if (s.own_resident_bytes) {
    text.family("process_resident_memory_bytes", "gauge", "Resident memory of the agent itself.");
    text.value({}, *s.own_resident_bytes);
  }
  return text.take();
}

HealthAnswer health_of(const Snapshot& s, SteadyTime started, Milliseconds patience) {
  const SteadyTime since = s.last_read.value_or(started);
  if (s.now - since > patience) {
    std::string why;
    for (const auto& source : s.sources) {
      if (!source.trouble.empty()) why += fmt::format("; {}: {}", source.name, source.trouble);
    }
    if (s.sources.empty()) why = "; no source is configured";
    return {503, fmt::format("nothing was read for {} s{}\n", (s.now - since).count() / 1000, why)};
  }
  const auto age = age_seconds(s.now, s.last_change);
  auto said =
      age ? fmt::format("ok; newest changed value {:.1f} s ago", *age) : std::string{"ok; no value yet"};
  // It works, but what is gone is gone.
  if (s.spool.lost_holes > 0)
    said += fmt::format("; {} beats lost: the spool's files were damaged or removed", s.spool.lost_holes);
  return {200, said + "\n"};
}

}  // namespace tidewatt::agent
