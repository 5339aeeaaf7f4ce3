#include "tidewatt/agent/source_runner.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "device_states.h"
#include "tidewatt/base/log.h"

namespace tidewatt::agent {
namespace {

constexpr std::chrono::milliseconds kPatienceAtTheEnd{500};

void log_change(const std::string& name, const SourceWatch& watch) {
  switch (watch.state()) {
    case SourceWatch::State::up:
      if (watch.trouble().empty())
        log::info("source is read", {{"source", name}});
      else
        log::warning("source is read, but not all of its devices",
                     {{"source", name}, {"error", watch.trouble()}});
      break;
    case SourceWatch::State::absent:
      log::info("source isn't on this machine; looked for again now and then",
                {{"source", name}, {"reason", watch.trouble()}});
      break;
    default:
      log::warning("source gives nothing; its devices are unknown, others aren't affected",
                   {{"source", name}, {"state", to_string(watch.state())}, {"error", watch.trouble()}});
  }
}

void log_notes(const std::string& name, std::vector<std::string> notes, std::vector<std::string>& before) {
  for (const auto& note : notes)
    if (std::ranges::find(before, note) == before.end())
      log::info("a part of the source is left out", {{"source", name}, {"note", note}});
  before = std::move(notes);
}

}  // namespace

struct SourceRunner::Shared {
  Shared(std::unique_ptr<sensors::Source> s, SourceWatch w, std::shared_ptr<Collector> c,
         std::shared_ptr<const Clock> k)
      : source(std::move(s)), name(source->name()), collector(std::move(c)), clock(std::move(k)), watch(w) {}

  // Only the reading thread touches these.
  std::unique_ptr<sensors::Source> source;
  DeviceStates devices;
  std::vector<std::string> notes;
  const std::string name;
  const std::shared_ptr<Collector> collector;
  const std::shared_ptr<const Clock> clock;

  mutable std::mutex mutex;
  std::condition_variable changed;
  SourceWatch watch;
  std::vector<std::string> unknown;  ///< devices
  bool stop = false;
  bool ended = false;
};

SourceRunner::SourceRunner(std::unique_ptr<sensors::Source> source, SourceWatch watch,
                           std::shared_ptr<Collector> collector, std::shared_ptr<const Clock> clock)
    : shared_(std::make_shared<Shared>(std::move(source), watch, std::move(collector), std::move(clock))) {}

SourceRunner::~SourceRunner() {
  if (!thread_.joinable()) return;
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
  const bool ended = shared_->changed.wait_for(lock, kPatienceAtTheEnd, [this] { return shared_->ended; });
  lock.unlock();
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void SourceRunner::start() {
  thread_ = std::thread([shared = shared_] { run(shared); });
}

void SourceRunner::read_once() { read_one(*shared_); }

void SourceRunner::run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (!shared->stop) {
    const Milliseconds wait = shared->watch.due() - shared->clock->mono_now();
    if (wait > Milliseconds{0}) {
      shared->changed.wait_for(lock, wait);
      continue;
    }
    lock.unlock();
    read_one(*shared);
    lock.lock();
  }
  shared->ended = true;
  shared->changed.notify_all();
}

void SourceRunner::read_one(Shared& shared) {
  {
    const std::lock_guard lock(shared.mutex);
    shared.watch.started(shared.clock->mono_now());
  }
  Result<std::vector<metering::Reading>> readings = fail(ErrorCode::internal, "the source threw");
  try {
    readings = shared.source->read();
  } catch (const std::exception& error) {
    readings = fail(ErrorCode::internal, std::string("the source threw: ") + error.what());
  }
  const SteadyTime now = shared.clock->mono_now();
  if (readings) {
    shared.collector->add(shared.name, *readings, now);
  } else {
    shared.collector->fail(shared.name, now, readings.error().message);
  }
  if (readings) {
    shared.devices.take(*readings, now);
    log_notes(shared.name, shared.source->notes(), shared.notes);
  }
  const std::lock_guard lock(shared.mutex);
  bool changed = false;
  if (readings) {
    changed = shared.watch.succeeded(now, shared.devices.trouble(), shared.devices.none_is_known());
    auto unknown = shared.devices.unknown();
    changed = changed || unknown != shared.unknown;
    shared.unknown = std::move(unknown);
  } else {
    changed = shared.watch.failed(now, readings.error());
  }
  if (changed) log_change(shared.name, shared.watch);
}

void SourceRunner::check() {
  const SteadyTime now = shared_->clock->mono_now();
  std::string trouble;
  {
    const std::lock_guard lock(shared_->mutex);
    const bool changed = shared_->watch.check(now);
    if (changed) log_change(shared_->name, shared_->watch);
    if (shared_->watch.state() != SourceWatch::State::hanging) return;
    trouble = shared_->watch.trouble();
  }
  shared_->collector->fail(shared_->name, now, trouble);
}

SourceStatus SourceRunner::status() const {
  const std::lock_guard lock(shared_->mutex);
  const SourceWatch& watch = shared_->watch;
  return {shared_->name, watch.state(),    watch.trouble(),
          watch.reads(), watch.failures(), shared_->unknown.size()};
}

}  // namespace tidewatt::agent
