#include "tidewatt/agent/source_factory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "card_families.h"
#include "card_numbers.h"
#include "node_meter_spec.h"
#include "tidewatt/metering/replay_log.h"
#include "tidewatt/sensors/isolated.h"
#include "tidewatt/sensors/libraries.h"
#include "tidewatt/sensors/replay.h"
#include "tidewatt/sensors/sources.h"
#include "tidewatt/units/text.h"

namespace tidewatt::agent {
namespace {

constexpr std::chrono::minutes kTryFirstAgain{1};

class Fallback final : public sensors::Source {
 public:
  Fallback(std::string name, std::unique_ptr<Source> first, std::unique_ptr<Source> second,
           std::shared_ptr<const Clock> clock)
      : name_(std::move(name)),
        first_(std::move(first)),
        second_(std::move(second)),
        clock_(std::move(clock)) {}

  [[nodiscard]] std::string name() const override { return name_; }

  Result<std::vector<sensors::Reading>> read() override {
    const SteadyTime now = clock_->mono_now();
    // Without a second there is nothing to stay with.
    if (!first_missing_since_ || second_missing_ || now - *first_missing_since_ >= kTryFirstAgain) {
      auto readings = first_->read();
      const bool missing = !readings && (readings.error().code == ErrorCode::not_found ||
                                         readings.error().code == ErrorCode::unavailable);
      if (!missing) {
        first_missing_since_.reset();
        return readings;
      }
      first_missing_since_ = now;
      why_first_is_missing_ = readings.error();
    }
    auto readings = second_->read();
    if (readings)
      second_missing_ = false;
    else if (readings.error().code != ErrorCode::unavailable)  // that one says nothing new: it waits
      second_missing_ = readings.error().code == ErrorCode::not_found;
    if (!readings && second_missing_) return tl::unexpected(why_first_is_missing_);
    return readings;
  }

 private:
  std::string name_;
  std::unique_ptr<Source> first_;
  std::unique_ptr<Source> second_;
  std::shared_ptr<const Clock> clock_;
  std::optional<SteadyTime> first_missing_since_;
  Error why_first_is_missing_;
  bool second_missing_ = false;
};

/// Keeps alive what a source reads from, for as long as the source itself.
class Owning final : public sensors::Source {
 public:
  Owning(std::unique_ptr<Source> source, SourceParts parts)
      : parts_(std::move(parts)), source_(std::move(source)) {}
  [[nodiscard]] std::string name() const override { return source_->name(); }
  Result<std::vector<sensors::Reading>> read() override { return source_->read(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return source_->notes(); }

 private:
  SourceParts parts_;
  std::unique_ptr<Source> source_;  // destroyed first
};

std::unique_ptr<sensors::Source> sim(const SourceSpec& spec, const SourceParts& parts) {
  sensors::SimOptions options;
  options.node_id = parts.node_id;
  const auto number = [&](std::string_view name) -> std::optional<std::uint64_t> {
    const std::string* text = spec.option(name);
    return text == nullptr ? std::nullopt : parse_uint64(*text);
  };
  if (const auto n = number("gpus")) options.gpus = static_cast<int>(std::min<std::uint64_t>(*n, 1024));
  if (const auto n = number("seed")) options.seed = *n;
  if (const auto n = number("limit")) options.gpu_limit = Watts{static_cast<double>(*n)};
  if (const auto n = number("cpu")) options.cpu_rails = *n != 0;
  if (const auto n = number("platform")) options.platform_meter = *n != 0;
  return sensors::make_sim(std::move(options), *parts.clock);
}

/// A vendor's library, in a process of its own.
std::unique_ptr<sensors::Source> library(const std::string& name, const SourceParts& parts) {
  return sensors::make_isolated(
      name, [start = parts.start_sensor, name] { return start(name); }, parts.clock);
}

bool is_here(const Family& family, const FileSystem& files) {
  const auto has_cards = [&](const std::string& name) { return sensors::has_cards_for(name, files); };
  if (!family.libraries.empty()) return std::ranges::any_of(family.libraries, has_cards);
  return std::ranges::any_of(family.tools, [&](const auto& name) { return sensors::has_tool(name, files); });
}

/// nullptr: none of its ways can be gone.
std::unique_ptr<sensors::Source> all_ways(const Family& family, const SourceParts& parts) {
  std::vector<std::unique_ptr<sensors::Source>> ways;
  for (const auto& name : family.libraries) ways.push_back(library(name, parts));
  const auto understood = sensors::tool_names();
  for (const auto& name : family.tools)
    if (std::ranges::find(understood, name) != understood.end())
      ways.push_back(sensors::make_tool(name, *parts.files, *parts.processes, *parts.clock));
  std::unique_ptr<sensors::Source> source;
  for (auto way = ways.rbegin(); way != ways.rend(); ++way)
    source = source ? make_fallback(std::string{family.name}, std::move(*way), std::move(source), parts.clock)
                    : std::move(*way);
  return source;
}

/// NVIDIA's driver may be loaded long after the agent started, in a container from which the bus isn't seen:
/// looked for at every read, and no process is started to find nothing.
class WhereNvidiaIs final : public sensors::Source {
 public:
  WhereNvidiaIs(std::unique_ptr<Source> source, std::shared_ptr<FileSystem> files)
      : source_(std::move(source)), files_(std::move(files)) {}
  [[nodiscard]] std::string name() const override { return source_->name(); }
  Result<std::vector<sensors::Reading>> read() override {
    // Once seen it stays: a driver that is unloaded for a moment is the library's own trouble.
    seen_ = seen_ || sensors::has_cards_for("nvml", *files_) || sensors::has_tool("nvidia-smi", *files_);
    if (!seen_) return fail(ErrorCode::not_found, "no NVIDIA card, driver or tool on this machine");
    return source_->read();
  }

 private:
  std::unique_ptr<Source> source_;
  std::shared_ptr<FileSystem> files_;
  bool seen_ = false;
};

constexpr int kDevicesOfASource = 100;

/// A source's cards numbered apart from those of others, and its other devices from `first_other` on.
class Numbered final : public sensors::Source {
 public:
  Numbered(std::unique_ptr<Source> source, std::shared_ptr<CardNumbers> numbers, int first_other)
      : source_(std::move(source)),
        numbers_(std::move(numbers)),
        place_(numbers_->enter()),
        first_other_(first_other) {}
  [[nodiscard]] std::string name() const override { return source_->name(); }
  Result<std::vector<sensors::Reading>> read() override {
    auto readings = source_->read();
    const auto is_card = [](const auto& reading) { return reading.domain == kDomainGpu; };
    if (!readings || std::ranges::none_of(*readings, is_card)) numbers_->gave_none(place_);
    if (!readings) return readings;
    for (auto& reading : *readings)
      reading.index += is_card(reading) ? static_cast<int>(numbers_->hundred_of(place_)) * kDevicesOfASource
                                        : first_other_;
    return readings;
  }

 private:
  std::unique_ptr<Source> source_;
  std::shared_ptr<CardNumbers> numbers_;
  std::size_t place_;
  int first_other_;
};

/// Simulated or recorded: it has every domain, and beside real hardware it must not share its numbers.
bool is_made_up(const SourceSpec& spec) { return spec.kind == "sim" || spec.kind == "replay"; }

constexpr std::size_t kMaxLogBytes = 256U << 20U;

/// This node's part of a log, or the whole log when it is of one node.
Result<std::unique_ptr<sensors::Source>> replay(const SourceSpec& spec, const SourceParts& parts) {
  const std::string where = "replay:" + spec.file;
  const auto text = parts.files->read_text(spec.file, kMaxLogBytes);
  if (!text)
    return tl::unexpected(
        Error{ErrorCode::invalid_input, text.error().message, text.error().hint}.with_context(where));
  auto log = metering::parse_replay_log(*text, spec.file);
  if (!log) return tl::unexpected(log.error().with_context(where));
  std::set<std::string> nodes;
  for (const auto& sample : log->samples) nodes.insert(sample.node);
  if (!nodes.contains(parts.node_id) && nodes.size() > 1) {
    return fail(
        ErrorCode::invalid_input,
        fmt::format("{}: holds the nodes {}, but not \"{}\"", where, fmt::join(nodes, ", "), parts.node_id),
        "give one of them with --node-id");
  }
  return sensors::make_replay(std::move(*log), nodes.contains(parts.node_id) ? parts.node_id : "",
                              parts.speed, *parts.clock);
}

}  // namespace

std::unique_ptr<sensors::Source> make_fallback(std::string name, std::unique_ptr<sensors::Source> first,
                                               std::unique_ptr<sensors::Source> second,
                                               std::shared_ptr<const Clock> clock) {
  return std::make_unique<Fallback>(std::move(name), std::move(first), std::move(second), std::move(clock));
}

Result<std::vector<std::unique_ptr<sensors::Source>>> build_sources(const std::vector<SourceSpec>& specs,
                                                                    const SourceParts& parts) {
  std::vector<std::unique_ptr<sensors::Source>> out;
  const auto add = [&](std::unique_ptr<sensors::Source> source) {
    out.push_back(std::make_unique<Owning>(std::move(source), parts));
  };
  const auto numbers = std::make_shared<CardNumbers>();
  // Real rails, boards and meters come first, whatever the order in the settings.
  int of_others = std::ranges::all_of(specs, is_made_up) ? 0 : 1;
  const auto add_cards = [&](std::unique_ptr<sensors::Source> source, bool has_others = false) {
    const int others = has_others ? of_others++ : 0;
    add(std::make_unique<Numbered>(std::move(source), numbers, others * kDevicesOfASource));
  };
  const auto is_named = [&](const Family& family) {
    return std::ranges::any_of(specs, [&](const auto& spec) { return family_of(spec) == &family; });
  };
  int pdus = 0;
  SourceSpec ipmi;
  ipmi.kind = "ipmi";
  for (const auto& spec : specs) {
    const bool all = spec.kind == "auto";
    if (all) {
      // NVIDIA is looked for later too.
      std::unique_ptr<sensors::Source> later;
      for (const auto& family : families()) {
        if (is_named(family)) continue;  // its cards would count twice
        const bool here = is_here(family, *parts.files);
        const bool nvidia = family.name == "nvidia";
        if (!here && !nvidia) continue;
        auto source = all_ways(family, parts);
        if (source && nvidia) source = std::make_unique<WhereNvidiaIs>(std::move(source), parts.files);
        if (source && here) add_cards(std::move(source));
        if (source) later = std::move(source);
      }
      if (later) add_cards(std::move(later));
    }
    if (std::ranges::find(sensors::library_names(), spec.kind) != sensors::library_names().end())
      add_cards(library(spec.kind, parts));
    if (spec.kind == "tool")
      add_cards(sensors::make_tool(spec.tool, *parts.files, *parts.processes, *parts.clock));
    if (spec.kind == "nvidia-smi")
      add_cards(sensors::make_tool(spec.kind, *parts.files, *parts.processes, *parts.clock));
    if (all || spec.kind == "rapl") add(sensors::make_rapl(*parts.files, *parts.clock));
    if (all || spec.kind == "hwmon") add(sensors::make_hwmon(*parts.files, *parts.clock));
    if (all) add(make_node_meter(ipmi, parts, 0));
    if (is_node_meter(spec.kind)) add(make_node_meter(spec, parts, pdus));
    if (spec.kind == "snmp") ++pdus;
    if (spec.kind == "sim") add_cards(sim(spec, parts), true);
    if (spec.kind == "replay") {
      TW_TRY(auto source, replay(spec, parts));
      add_cards(std::move(source), true);
    }
  }
  return out;
}

}  // namespace tidewatt::agent
