#include "node_info_codec.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "codec.h"

namespace tidewatt::store {
namespace {

using ledger::NodeInfo;

constexpr std::uint8_t kInfoVersion = 4;

// One list of fields serves both ways: Out writes them, In reads them back.
struct Out {
  ByteWriter w;
  void operator()(const std::string& s) { w.text(s); }
  void operator()(const double& d) { w.real(d); }
  void operator()(const bool& b) { w.byte(b ? 1 : 0); }
  void operator()(const UtcTime& t) { w.i64(t.time_since_epoch().count()); }
  void operator()(const Milliseconds& d) { w.i64(d.count()); }
  template <class Tag>
  void operator()(const Quantity<Tag>& q) {
    w.real(q.value());
  }
  template <class Int>
    requires std::is_integral_v<Int> || std::is_enum_v<Int>
  void operator()(const Int& n) {
    w.i64(static_cast<std::int64_t>(n));
  }
  template <class T>
  void operator()(const std::optional<T>& value) {
    w.byte(value ? 1 : 0);
    if (value) (*this)(*value);
  }
  template <class T>
  void list(const std::vector<T>& values, auto each) {
    w.u64(values.size());
    for (const auto& value : values) each(*this, value);
  }
};

struct In {
  ByteReader r;
  void operator()(std::string& s) { s = r.text(); }
  void operator()(double& d) { d = r.real(); }
  void operator()(bool& b) { b = r.byte() != 0; }
  void operator()(UtcTime& t) { t = UtcTime{Milliseconds{r.i64()}}; }
  void operator()(Milliseconds& d) { d = Milliseconds{r.i64()}; }
  template <class Tag>
  void operator()(Quantity<Tag>& q) {
    q = Quantity<Tag>{r.real()};
  }
  template <class Int>
    requires std::is_integral_v<Int> || std::is_enum_v<Int>
  void operator()(Int& n) {
    n = static_cast<Int>(r.i64());
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    if (r.byte() != 0) (*this)(value.emplace());
  }
  template <class T>
  void list(std::vector<T>& values, auto each) {
    for (auto n = r.count(); n > 0 && r.ok(); --n) each(*this, values.emplace_back());
  }
};

constexpr auto kHolderFields = [](auto& io, auto& h) {
  io(h.task_id);
  io(h.compute_share);
  io(h.memory_share);
  io(h.state);
};

constexpr auto kDeviceFields = [](auto& io, auto& d) {
  io(d.domain);
  io(d.index);
  io(d.uuid);
  io(d.vendor);
  io(d.model);
  io(d.power);
  io(d.power_instant);
  io(d.power_min);
  io(d.power_max);
  io(d.power_covered);
  io(d.power_limit);
  io(d.energy_total);
  io(d.counter_epoch);
  io(d.util);
  io(d.memory_used_bytes);
  io(d.source);
  io(d.quality);
  io(d.reason);
  io.list(d.holders, kHolderFields);
  bool has_health = d.health.has_value();
  io(has_health);
  if (!has_health) return;
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(d)>>) d.health.emplace();
  io(d.health->temperature_c);
  io(d.health->throttle_reasons);
  io(d.health->ecc_errors);
  io(d.health->xid_errors);
};

constexpr auto kNodeFields = [](auto& io, auto& n) {
  io(n.zone);
  io(n.region);
  io(n.agent_version);
  io(n.boot_id);
  io.list(n.labels, [](auto& inner, auto& label) {
    inner(label.first);
    inner(label.second);
  });
  io(n.first_seen_at);
  io(n.last_seen_at);
  io(n.last_sample_at);
  io(n.clock_offset);
  io(n.simulated);
  io(n.cpu_util);
  io(n.cpu_cores);
  io(n.cpu_model);
  io.list(n.devices, kDeviceFields);
};

constexpr auto kCheckFields = [](auto& io, auto& checked) {  // since version 2
  io(checked.domain);
  io(checked.index);
  io(checked.check.counter.n);
  io(checked.check.power.n);
  io(checked.check.time);
};

constexpr auto kAgentFields = [](auto& io, auto& share) {  // since version 2
  io(share.agent_id);
  io(share.last_sample_at);
  io(share.devices);
};

constexpr auto kSourceFields = [](auto& io, auto& report) {  // since version 3
  io(report.source);
  io(report.state);
  io(report.reason);
};

/// How many of the sources are each agent's, in the agents' order: since version 3.
constexpr auto kShareOfSources = [](auto& io, auto& agents) {
  for (auto& share : agents) io(share.sources);
};

constexpr auto kStaleFields = [](auto& io, auto& info) {  // since version 4
  bool stale = info.stale.has_value();
  io(stale);
  if (!stale) return;
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(info)>>) info.stale.emplace();
  io(info.stale->since);
  io(info.stale->behind);
};

}  // namespace

std::string encode(const NodeInfo& info) {
  std::string bytes(1, static_cast<char>(kInfoVersion));
  Out out{ByteWriter(bytes)};
  kNodeFields(out, info);
  out.list(info.agents, kAgentFields);
  out.list(info.checks, kCheckFields);
  out.list(info.sources, kSourceFields);
  kShareOfSources(out, info.agents);
  kStaleFields(out, info);
  return bytes;
}

Result<NodeInfo> decode_node_info(const ledger::NodeKey& key, std::string_view bytes) {
  NodeInfo info;
  info.key = key;
  const auto version = bytes.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(bytes.front());
  if (version >= 1 && version <= kInfoVersion) {
    In in{ByteReader(bytes.substr(1))};
    kNodeFields(in, info);
    if (version >= 2) {
      in.list(info.agents, kAgentFields);
      in.list(info.checks, kCheckFields);
    }
    if (version >= 3) {
      in.list(info.sources, kSourceFields);
      kShareOfSources(in, info.agents);
    }
    if (version >= 4) kStaleFields(in, info);
    std::size_t devices = 0;
    std::size_t sources = 0;
    for (const auto& share : info.agents) {
      devices += std::min(share.devices, info.devices.size() + 1);
      sources += std::min(share.sources, info.sources.size() + 1);
    }
    if (in.r.finished() && devices <= info.devices.size() && sources <= info.sources.size()) return info;
  }
  return fail(ErrorCode::corrupt, "what is known of node " + key.node_id + " is garbled",
              "run: tidewatt doctor");
}

}  // namespace tidewatt::store
