#include "json_text.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::wire {
namespace {

template <class Q>
void quantity(ObjectWriter& o, std::string_view name, const std::optional<Q>& value) {
  if (value) o.number(name, value->value());
}

void holders(ObjectWriter& o, const std::vector<Holder>& all) {
  if (all.empty()) return;
  auto& out = o.key("holders");
  out += '[';
  for (const auto& holder : all) {
    if (&holder != &all.front()) out += ',';
    ObjectWriter h(out);
    h.text("task_id", holder.task_id);
    if (holder.compute_share) h.number("compute_share", *holder.compute_share);
    if (holder.memory_share) h.number("memory_share", *holder.memory_share);
    h.text("state", to_string(holder.state));
  }
  out += ']';
}

void unheld(ObjectWriter& o, const std::optional<Unheld>& value) {
  if (!value) return;
  ObjectWriter u(o.key("unheld"));
  if (value->compute_share) u.number("compute_share", *value->compute_share);
  if (value->memory_share) u.number("memory_share", *value->memory_share);
  if (value->idle_share) u.number("idle_share", *value->idle_share);
}

void health(ObjectWriter& o, const std::optional<Health>& value) {
  if (!value) return;
  ObjectWriter h(o.key("health"));
  if (value->temperature_c) h.number("temperature_c", *value->temperature_c);
  if (value->throttle_reasons) h.integer("throttle_reasons", *value->throttle_reasons);
  if (value->ecc_errors) h.integer("ecc_errors", *value->ecc_errors);
  if (value->xid_errors) h.integer("xid_errors", *value->xid_errors);
}

void metrics_available(ObjectWriter& o, const DeviceSample& d) {
  auto& out = o.key("metrics_available");
  out += '[';
  bool first = true;
  const auto add = [&](bool known, std::string_view name) {
    if (!known) return;
    if (!first) out += ',';
    first = false;
    append_quoted(out, name);
  };
  add(d.power.has_value(), "power");
  add(d.util.has_value(), "util");
  add(d.memory_used_bytes.has_value(), "memory");
  out += ']';
}

void device(std::string& out, const DeviceSample& d, bool gpu) {
  ObjectWriter o(out);
  if (!gpu) o.text("domain", d.domain);
  o.integer("index", d.index);
  o.text_if("uuid", d.uuid);
  o.text_if("vendor", d.vendor);
  o.text_if("model", d.model, kMaxTextBytes);
  if (gpu) metrics_available(o, d);
  quantity(o, "power_watts", d.power);
  quantity(o, "power_watts_instant", d.power_instant);
  quantity(o, "power_watts_min", d.power_min);
  quantity(o, "power_watts_max", d.power_max);
  quantity(o, "power_covered_seconds", d.power_covered);
  quantity(o, "power_limit_watts", d.power_limit);
  quantity(o, "energy_joules_total", d.energy_total);
  o.text_if("counter_epoch", d.counter_epoch);
  if (d.util) o.number("util", *d.util);
  if (d.memory_used_bytes) o.integer("memory_used_bytes", *d.memory_used_bytes);
  o.text_if("source", d.source);
  if (d.quality != Quality::measured) o.text("quality", to_string(d.quality));
  o.text_if("power_unknown_reason", d.reason, kMaxTextBytes);
  holders(o, d.holders);
  unheld(o, d.unheld);
  health(o, d.health);
}

template <class Match>
void devices(ObjectWriter& o, std::string_view name, const Beat& beat, bool always, bool gpu, Match match) {
  bool first = true;
  std::string* out = nullptr;
  if (always) *(out = &o.key(name)) += '[';
  for (const auto& d : beat.devices) {
    if (!match(d.domain)) continue;
    if (out == nullptr) *(out = &o.key(name)) += '[';
    if (!first) *out += ',';
    first = false;
    device(*out, d, gpu);
  }
  if (out != nullptr) *out += ']';
}

void cpu(ObjectWriter& o, const Beat& beat) {
  if (!beat.cpu_util && !beat.cpu_cores && beat.cpu_model.empty()) return;
  ObjectWriter c(o.key("cpu"));
  if (beat.cpu_util) c.number("util", *beat.cpu_util);
  if (beat.cpu_cores) c.integer("cores", *beat.cpu_cores);
  c.text_if("model", beat.cpu_model, kMaxTextBytes);
}

void sources(ObjectWriter& o, const Beat& beat) {
  if (beat.sources.empty()) return;
  auto& out = o.key("sources");
  out += '[';
  for (const auto& source : beat.sources) {
    if (&source != &beat.sources.front()) out += ',';
    ObjectWriter s(out);
    s.text("source", source.source);
    s.text("state", to_string(source.state));
    s.text_if("reason", source.reason, kMaxTextBytes);
  }
  out += ']';
}

}  // namespace

std::string to_json(const Beat& beat) {
  std::string out;
  out.reserve(256 + beat.devices.size() * 384);
  {
    ObjectWriter o(out);
    o.text("schema", "v1");
    o.text("cluster", beat.cluster);
    o.text("node_id", beat.node_id);
    o.text_if("boot_id", beat.boot_id);
    o.text_if("agent_id", beat.agent_id);
    o.text_if("agent_version", beat.agent_version);
    if (beat.seq) o.integer("seq", *beat.seq);
    if (beat.sampled_at) o.text("sampled_at", format_rfc3339(*beat.sampled_at));
    if (beat.monotonic) o.integer("monotonic_ms", beat.monotonic->count());
    o.text_if("region", beat.region);
    o.text_if("zone", beat.zone);
    if (!beat.labels.empty()) {
      ObjectWriter labels(o.key("labels"));
      for (const auto& [name, value] : beat.labels)
        labels.text(printable(name, kMaxIdBytes), value, kMaxTextBytes);
    }
    cpu(o, beat);
    devices(o, "gpu_stats", beat, true, true, [](const std::string& domain) { return domain == kDomainGpu; });
    devices(o, "rails", beat, false, false,
            [](const std::string& domain) { return domain != kDomainGpu && domain != kDomainPlatform; });
    devices(o, "platform", beat, false, false,
            [](const std::string& domain) { return domain == kDomainPlatform; });
    sources(o, beat);
  }
  return out;
}

std::string join_array(const std::vector<std::string>& beats) {
  std::string out = "[";
  for (const auto& beat : beats) {
    if (out.size() > 1) out += ',';
    out += beat;
  }
  out += ']';
  return out;
}

}  // namespace tidewatt::wire
