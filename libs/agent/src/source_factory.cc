#include "tidewatt/agent/source_factory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

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

/// Not tried while the machine has no such cards: no process is started to find nothing.
class WhereCardsAre final : public sensors::Source {
 public:
  WhereCardsAre(std::string library, std::unique_ptr<Source> source, std::shared_ptr<FileSystem> files)
      : library_(std::move(library)), source_(std::move(source)), files_(std::move(files)) {}
  [[nodiscard]] std::string name() const override { return source_->name(); }
  Result<std::vector<sensors::Reading>> read() override {
    // Once seen they stay: a driver that is unloaded for a moment is the library's own trouble.
    seen_ = seen_ || sensors::has_cards_for(library_, *files_);
    if (!seen_)
      return fail(ErrorCode::not_found, fmt::format("no cards or driver for {} on this machine", library_));
    return source_->read();
  }

 private:
  std::string library_;
  std::unique_ptr<Source> source_;
  std::shared_ptr<FileSystem> files_;
  bool seen_ = false;
};

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
  for (const auto& spec : specs) {
    const bool all = spec.kind == "auto";
    if (all) {
      add(make_fallback("nvidia",
                        std::make_unique<WhereCardsAre>("nvml", library("nvml", parts), parts.files),
                        sensors::make_nvidia_smi(*parts.files, *parts.processes, *parts.clock), parts.clock));
    }
    if (std::ranges::find(sensors::library_names(), spec.kind) != sensors::library_names().end())
      add(library(spec.kind, parts));
    if (spec.kind == "nvidia-smi") {
      add(sensors::make_nvidia_smi(*parts.files, *parts.processes, *parts.clock));
    }
    if (all || spec.kind == "rapl") add(sensors::make_rapl(*parts.files, *parts.clock));
    if (all || spec.kind == "hwmon") add(sensors::make_hwmon(*parts.files, *parts.clock));
    if (spec.kind == "sim") add(sim(spec, parts));
    if (spec.kind == "replay") {
      TW_TRY(auto source, replay(spec, parts));
      add(std::move(source));
    }
  }
  return out;
}

}  // namespace tidewatt::agent
