#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "split_array.h"
#include "tidewatt/units/text.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::wire {
namespace {

namespace dom = simdjson::dom;
using dom::element_type;

/// 2^53 - 1. A reader that takes numbers for doubles can't tell 2^53 from the number after it.
constexpr std::uint64_t kMostExactInteger = 9'007'199'254'740'991;
constexpr std::size_t kMaxLabels = 64;

/// Why a beat is refused; its fields are read into a Beat until the first one that can't be.
class BeatReader {
 public:
  Result<Beat> read(dom::element element) {
    dom::object object;
    if (element.get(object) != simdjson::SUCCESS)
      return fail(ErrorCode::invalid_input, "a beat must be a JSON object");
    for (const auto field : object) {
      top(field.key, field.value);
      if (!refused_.empty()) break;
    }
    if (refused_.empty() && beat_.node_id.empty()) refuse("node_id", "missing; every beat needs one");
    if (!refused_.empty()) return fail(ErrorCode::invalid_input, std::move(refused_));
    order_devices();
    return std::move(beat_);
  }

 private:
  void refuse(std::string_view field, std::string_view why) {
    if (refused_.empty()) refused_ = fmt::format("{}: {}", field, why);
  }

  static bool absent(dom::element value) { return value.type() == element_type::NULL_VALUE; }

  static std::optional<double> number(dom::element value) {
    double d = 0;
    if (!value.is_number() || value.get(d) != simdjson::SUCCESS || !std::isfinite(d)) return std::nullopt;
    return d;
  }

  void text(std::string_view field, dom::element value, std::string& out, std::size_t most = kMaxIdBytes) {
    if (absent(value)) return;
    std::string_view s;
    if (value.get(s) != simdjson::SUCCESS) return refuse(field, "must be a string");
    if (s.size() > most) return refuse(field, fmt::format("longer than {} bytes", most));
    if (holds_control_characters(s)) return refuse(field, "holds control characters");
    out.assign(s);
  }

  void unsigned_integer(std::string_view field, dom::element value, std::optional<std::uint64_t>& out) {
    if (absent(value)) return;
    std::uint64_t n = 0;
    // Beyond it other readers of the same JSON see another number, and no agent counts so far.
    if (value.get(n) != simdjson::SUCCESS || n > kMostExactInteger)
      return refuse(field, "must be an integer from 0 to 9007199254740991");
    out = n;
  }

  void index(std::string_view field, dom::element value, int& out) {
    std::int64_t n = 0;
    if (value.get(n) != simdjson::SUCCESS || n < 0 || n > 1'000'000)
      return refuse(field, "must be an integer from 0 to 1000000");
    out = static_cast<int>(n);
  }

  /// A quantity that may be unknown: anything but a finite non-negative number is unknown, never 0.
  template <class Q>
  static void quantity(dom::element value, std::optional<Q>& out) {
    if (const auto d = number(value); d && *d >= 0) out = Q{*d};
  }

  static void fraction(dom::element value, std::optional<double>& out) {
    if (const auto d = number(value); d && *d >= 0 && *d <= 1) out = *d;
  }

  template <class Each>
  void array(std::string_view field, dom::element value, std::size_t most, Each each) {
    if (absent(value)) return;
    dom::array items;
    if (value.get(items) != simdjson::SUCCESS) return refuse(field, "must be an array");
    std::size_t count = 0;
    for (const auto item : items) {
      if (++count > most) return refuse(field, fmt::format("more than {} entries", most));
      each(item);
      if (!refused_.empty()) return;
    }
  }

  template <class Each>
  void object(std::string_view field, dom::element value, Each each) {
    if (absent(value)) return;
    dom::object fields;
    if (value.get(fields) != simdjson::SUCCESS) return refuse(field, "must be an object");
    for (const auto f : fields) {
      each(f.key, f.value);
      if (!refused_.empty()) return;
    }
  }

  void top(std::string_view key, dom::element value) {
    if (key == "schema") {
      std::string schema;
      text(key, value, schema);
      if (refused_.empty() && !schema.empty() && schema != "v1")
        refuse(key, fmt::format("unknown version \"{}\"; this server knows v1", schema));
    } else if (key == "cluster") {
      text(key, value, beat_.cluster);
      if (beat_.cluster.empty()) beat_.cluster = "default";
    } else if (key == "node_id") {
      text(key, value, beat_.node_id);
      if (refused_.empty() && trim(beat_.node_id).empty()) refuse(key, "must not be empty or blank");
    } else if (key == "boot_id") {
      text(key, value, beat_.boot_id);
    } else if (key == "agent_id") {
      text(key, value, beat_.agent_id);
    } else if (key == "agent_version") {
      text(key, value, beat_.agent_version);
    } else if (key == "seq") {
      unsigned_integer(key, value, beat_.seq);
    } else if (key == "sampled_at") {
      sampled_at(value);
    } else if (key == "monotonic_ms") {
      monotonic(value);
    } else if (key == "region") {
      text(key, value, beat_.region);
    } else if (key == "zone") {
      text(key, value, beat_.zone);
    } else if (key == "labels") {
      object(key, value, [&](std::string_view name, dom::element v) { label(name, v); });
    } else if (key == "cpu") {
      object(key, value, [&](std::string_view name, dom::element v) { cpu(name, v); });
    } else if (key == "gpu_stats") {
      devices(key, value, kDomainGpu);
    } else if (key == "rails") {
      devices(key, value, "");
    } else if (key == "platform") {
      devices(key, value, kDomainPlatform);
    } else if (key == "sources") {
      sources(value);
    }
    // Unknown keys are left alone: newer agents may send more.
  }

  void sampled_at(dom::element value) {
    if (absent(value)) return;
    std::string_view s;
    if (value.get(s) != simdjson::SUCCESS)
      return refuse("sampled_at", "must be an RFC 3339 time in a string");
    beat_.sampled_at = parse_rfc3339(s);
    if (!beat_.sampled_at) refuse("sampled_at", "is no RFC 3339 time such as 2026-11-29T08:00:20.000Z");
  }

  void monotonic(dom::element value) {
    if (absent(value)) return;
    const auto d = number(value);
    // 2^53 ms is 285,000 years: beyond it a double can't tell two milliseconds apart.
    if (!d || *d < 0 || *d >= 0x1p53)
      return refuse("monotonic_ms", "must be a number from 0 to 9007199254740991");
    beat_.monotonic = Milliseconds{std::llround(*d)};
  }

  void label(std::string_view name, dom::element value) {
    if (beat_.labels.size() >= kMaxLabels)
      return refuse("labels", fmt::format("more than {} entries", kMaxLabels));
    if (name.size() > kMaxIdBytes) return refuse("labels", "a name is too long");
    if (holds_control_characters(name)) return refuse("labels", "a name holds control characters");
    std::string out;
    text("labels", value, out, kMaxTextBytes);
    if (refused_.empty()) beat_.labels.emplace_back(std::string(name), std::move(out));
  }

  void cpu(std::string_view key, dom::element value) {
    if (key == "util") {
      fraction(value, beat_.cpu_util);
    } else if (key == "cores") {
      std::int64_t n = 0;
      if (value.get(n) == simdjson::SUCCESS && n > 0 && n <= 1'000'000) beat_.cpu_cores = static_cast<int>(n);
    } else if (key == "model") {
      text("cpu.model", value, beat_.cpu_model, kMaxTextBytes);
    }
  }

  void devices(std::string_view field, dom::element value, std::string_view domain) {
    if (dom::array items; value.get(items) == simdjson::SUCCESS)
      beat_.devices.reserve(beat_.devices.size() + std::min(items.size(), kMaxDevices));
    // All lists of a beat together.
    array(field, value, kMaxDevices + 1, [&](dom::element item) {
      if (beat_.devices.size() >= kMaxDevices)
        return refuse(
            field,
            fmt::format("more than {} devices in a beat; no node has so many: send other nodes' devices in "
                        "beats of their own",
                        kMaxDevices));
      device(field, item, domain);
    });
  }

  void device(std::string_view list, dom::element item, std::string_view domain) {
    DeviceSample d;
    d.domain = domain;
    d.index = -1;
    std::optional<bool> power_available;
    object(list, item,
           [&](std::string_view key, dom::element value) { device_field(d, power_available, key, value); });
    if (!refused_.empty()) return;
    if (d.domain.empty()) return refuse(list, "an entry has no domain");
    // Old agents name no index: the place among the devices of its domain is it.
    if (d.index < 0)
      d.index = static_cast<int>(
          std::count_if(beat_.devices.begin(), beat_.devices.end(),
                        [&](const DeviceSample& other) { return other.domain == d.domain; }));
    // A value kept for display while the round missed is not a reading.
    if (power_available == false) d.power.reset();
    beat_.devices.push_back(std::move(d));
  }

  void device_field(DeviceSample& d, std::optional<bool>& power_available, std::string_view key,
                    dom::element value) {
    if (key == "domain")
      text(key, value, d.domain);
    else if (key == "index")
      index(key, value, d.index);
    else if (key == "uuid")
      text(key, value, d.uuid);
    else if (key == "vendor")
      text(key, value, d.vendor);
    else if (key == "model")
      text(key, value, d.model, kMaxTextBytes);
    else if (key == "metrics_available")
      metrics_available(value, power_available);
    else if (key == "power_watts")
      quantity(value, d.power);
    else if (key == "power_watts_instant")
      quantity(value, d.power_instant);
    else if (key == "power_watts_min")
      quantity(value, d.power_min);
    else if (key == "power_watts_max")
      quantity(value, d.power_max);
    else if (key == "power_covered_seconds")
      quantity(value, d.power_covered);
    else if (key == "power_limit_watts")
      quantity(value, d.power_limit);
    else if (key == "energy_joules_total")
      quantity(value, d.energy_total);
    else if (key == "counter_epoch")
      text(key, value, d.counter_epoch);
    else if (key == "util")
      fraction(value, d.util);
    else if (key == "memory_used_bytes")
      memory(value, d.memory_used_bytes);
    else if (key == "source")
      text(key, value, d.source);
    else if (key == "quality")
      quality(value, d.quality);
    else if (key == "power_unknown_reason")
      text(key, value, d.reason, kMaxTextBytes);
    else if (key == "holders")
      array(key, value, kMaxHolders, [&](dom::element item) { holder(d, item); });
    else if (key == "unheld")
      unheld(d, value);
    else if (key == "health")
      health(d, value);
  }

  /// For display only: what can't be read is left out or cut, and no measurement is refused for it.
  void sources(dom::element value) {
    dom::array items;
    if (value.get(items) != simdjson::SUCCESS) return;
    beat_.sources.clear();
    for (const auto item : items) {
      if (beat_.sources.size() >= SourceReport::kMost) return;
      SourceReport report;
      std::string_view s;
      if (item["source"].get(s) != simdjson::SUCCESS || s.empty() || s.size() > kMaxIdBytes) continue;
      report.source = one_line(s);
      report.state = item["state"].get(s) == simdjson::SUCCESS ? source_state_from(s) : SourceState::failed;
      if (item["reason"].get(s) == simdjson::SUCCESS)
        report.reason = cut(one_line(s), SourceReport::kLongestReason);
      beat_.sources.push_back(std::move(report));
    }
  }

  static std::string one_line(std::string_view text) {
    std::string out{text};
    for (char& c : out)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return out;
  }

  /// The first `most` characters of UTF-8.
  static std::string cut(std::string text, std::size_t most) {
    std::size_t characters = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool continues = (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
      if (!continues && ++characters > most) {
        text.resize(i);
        break;
      }
    }
    return text;
  }

  void metrics_available(dom::element value, std::optional<bool>& power_available) {
    dom::array names;
    if (value.get(names) != simdjson::SUCCESS) return;
    power_available = false;
    for (const auto name : names) {
      std::string_view s;
      if (name.get(s) == simdjson::SUCCESS && s == "power") power_available = true;
    }
  }

  static void memory(dom::element value, std::optional<std::int64_t>& out) {
    std::int64_t n = 0;
    if (value.get(n) == simdjson::SUCCESS && n >= 0) out = n;
  }

  void quality(dom::element value, Quality& out) {
    std::string s;
    text("quality", value, s);
    if (!refused_.empty() || s.empty() || s == "measured") return;
    // What we don't know as a measurement is not booked as one.
    out = s == "simulated" ? Quality::simulated : Quality::estimated;
  }

  void holder(DeviceSample& d, dom::element item) {
    Holder h;
    object("holders", item, [&](std::string_view key, dom::element value) {
      if (key == "task_id") {
        text(key, value, h.task_id);
      } else if (key == "compute_share") {
        fraction(value, h.compute_share);
      } else if (key == "memory_share") {
        fraction(value, h.memory_share);
      } else if (key == "state") {
        std::string_view s;
        h.state = value.get(s) == simdjson::SUCCESS ? holder_state_from(s) : HolderState::unknown;
      }
    });
    if (!refused_.empty()) return;
    if (h.task_id.empty()) return refuse("holders", "a holder has no task_id");
    d.holders.push_back(std::move(h));
  }

  void unheld(DeviceSample& d, dom::element value) {
    if (absent(value)) return;
    Unheld u;
    object("unheld", value, [&](std::string_view key, dom::element v) {
      if (key == "compute_share") {
        fraction(v, u.compute_share);
      } else if (key == "memory_share") {
        fraction(v, u.memory_share);
      } else if (key == "idle_share") {
        fraction(v, u.idle_share);
      }
    });
    d.unheld = u;
  }

  void health(DeviceSample& d, dom::element value) {
    Health h;
    object("health", value, [&](std::string_view key, dom::element v) {
      if (key == "temperature_c") {
        h.temperature_c = number(v);
      } else if (key == "throttle_reasons") {
        std::uint64_t n = 0;
        if (v.get(n) == simdjson::SUCCESS) h.throttle_reasons = n;
      } else if (key == "ecc_errors") {
        memory(v, h.ecc_errors);
      } else if (key == "xid_errors") {
        memory(v, h.xid_errors);
      }
    });
    if (h.temperature_c || h.throttle_reasons || h.ecc_errors || h.xid_errors) d.health = h;
  }

  /// gpu_stats, rails, platform, whatever the order of the keys: equal beats read equal.
  void order_devices() {
    const auto rank = [](const DeviceSample& d) {
      return d.domain == kDomainGpu ? 0 : d.domain == kDomainPlatform ? 2 : 1;
    };
    const auto before = [&](const DeviceSample& a, const DeviceSample& b) { return rank(a) < rank(b); };
    if (!std::is_sorted(beat_.devices.begin(), beat_.devices.end(), before))
      std::stable_sort(beat_.devices.begin(), beat_.devices.end(), before);
  }

  Beat beat_;
  std::string refused_;
};

std::string describe(simdjson::error_code error) {
  switch (error) {
    case simdjson::DEPTH_ERROR:
      return "nested too deeply";
    case simdjson::UTF8_ERROR:
      return "not valid UTF-8";
    case simdjson::NUMBER_ERROR:
      return "a number is malformed or too large";
    case simdjson::EMPTY:
      return "empty";
    case simdjson::CAPACITY:
      return "too large";
    default:
      return simdjson::error_message(error);
  }
}

}  // namespace

struct BeatParser::Impl {
  dom::parser parser;

  /// simdjson copies what it is given, and an empty text may have no address.
  simdjson::error_code parse_text(std::string_view text, dom::element& root) {
    if (text.empty()) return simdjson::EMPTY;
    return parser.parse(text.data(), text.size(), true).get(root);
  }

  Result<std::vector<Result<Beat>>> read_all(dom::element root) {
    std::vector<Result<Beat>> beats;
    dom::array items;
    if (root.get(items) != simdjson::SUCCESS) {
      if (root.type() != element_type::OBJECT)
        return fail(ErrorCode::invalid_input, "the body must be a beat or an array of beats");
      beats.push_back(BeatReader().read(root));
      return beats;
    }
    beats.reserve(std::min(items.size(), kMaxBeats));
    for (const auto item : items) {
      if (beats.size() >= kMaxBeats) return too_many();
      beats.push_back(BeatReader().read(item));
    }
    if (beats.empty()) return fail(ErrorCode::invalid_input, "the array holds no beat");
    return beats;
  }

  static tl::unexpected<Error> too_many() {
    return fail(ErrorCode::invalid_input, fmt::format("more than {} beats in one body", kMaxBeats),
                "send smaller batches");
  }

  /// One element that is no JSON must not fail its neighbours.
  Result<std::vector<Result<Beat>>> read_one_by_one(std::string_view body, simdjson::error_code error) {
    const auto elements = split_array(body, kMaxBeats);
    if (!elements || elements->empty())
      return fail(ErrorCode::invalid_input, fmt::format("the body is no JSON: {}", describe(error)));
    std::vector<Result<Beat>> beats;
    for (const auto element : *elements) {
      dom::element root;
      const auto bad = parse_text(element, root);
      if (bad != simdjson::SUCCESS) {
        beats.push_back(
            fail(ErrorCode::invalid_input, fmt::format("the beat is no JSON: {}", describe(bad))));
      } else {
        beats.push_back(BeatReader().read(root));
      }
    }
    return beats;
  }
};

BeatParser::BeatParser() : impl_(std::make_unique<Impl>()) {}
BeatParser::~BeatParser() = default;
BeatParser::BeatParser(BeatParser&&) noexcept = default;
BeatParser& BeatParser::operator=(BeatParser&&) noexcept = default;

Result<std::vector<Result<Beat>>> BeatParser::parse(std::string_view body) {
  dom::element root;
  const auto error = impl_->parse_text(body, root);
  if (error != simdjson::SUCCESS) return impl_->read_one_by_one(body, error);
  return impl_->read_all(root);
}

Result<BeatParser::Line> BeatParser::parse_line(std::string_view line) {
  dom::element root;
  const auto error = impl_->parse_text(line, root);
  if (error != simdjson::SUCCESS)
    return fail(ErrorCode::invalid_input, fmt::format("no JSON: {}", describe(error)));
  Line out;
  dom::element inner;
  if (root.is_object() && root["beat"].get(inner) == simdjson::SUCCESS) {
    dom::element received;
    std::string_view text;
    if (root["received_at"].get(received) == simdjson::SUCCESS && !received.is_null()) {
      if (received.get(text) == simdjson::SUCCESS) out.received_at = parse_rfc3339(text);
      if (!out.received_at)
        return fail(ErrorCode::invalid_input, "received_at: must be an RFC 3339 time in a string");
    }
    root = inner;
  }
  TW_TRY(out.beat, BeatReader().read(root));
  return out;
}

}  // namespace tidewatt::wire
