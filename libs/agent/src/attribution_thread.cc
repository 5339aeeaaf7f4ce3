#include "tidewatt/agent/attribution_thread.h"

#include <time.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "tidewatt/base/log.h"

namespace tidewatt::agent {
namespace {

constexpr std::chrono::milliseconds kPatienceAtTheEnd{500};
/// A machine with too many cgroups is late at every beat: it is said once in a while.
constexpr std::chrono::minutes kBetweenLateWarnings{10};

double cpu_seconds_of_this_thread() {
  timespec time{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
  constexpr double kNano = 1e-9;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * kNano;
}

}  // namespace

/// What the two threads share. The worker holds a reference of its own: it may outlive the rest.
struct AttributionThread::Desk {
  explicit Desk(std::unique_ptr<WorkloadScanner> s) : scanner(std::move(s)) {}

  std::unique_ptr<WorkloadScanner> scanner;  // only the worker touches it
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  std::vector<metering::Reading> question;
  std::optional<Workloads> answer;
  AttributionStatus status;
  std::optional<std::chrono::steady_clock::time_point> warned_late;
  bool stop = false;
  bool ended = false;
};

AttributionThread::AttributionThread(std::unique_ptr<WorkloadScanner> scanner, Milliseconds patience)
    : desk_(std::make_shared<Desk>(std::move(scanner))), patience_(patience) {
  thread_ = std::thread([desk = desk_] { work(desk); });
}

AttributionThread::~AttributionThread() {
  std::unique_lock lock(desk_->mutex);
  desk_->stop = true;
  desk_->changed.notify_all();
  const bool ended = desk_->changed.wait_for(lock, kPatienceAtTheEnd, [this] { return desk_->ended; });
  lock.unlock();
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void AttributionThread::work(const std::shared_ptr<Desk>& desk) {
  std::unique_lock lock(desk->mutex);
  for (;;) {
    desk->changed.wait(lock, [&] { return desk->stop || desk->asked > desk->answered; });
    if (desk->stop) break;
    const auto number = desk->asked;
    const auto devices = std::move(desk->question);
    lock.unlock();
    const auto begin = std::chrono::steady_clock::now();
    Workloads found;
    try {
      found = desk->scanner->look(devices);
    } catch (const std::exception& error) {
      found = {};
      found.stats.trouble = error.what();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    lock.lock();
    if (found.stats.trouble != desk->status.last.trouble) {
      if (found.stats.trouble.empty()) {
        log::info("CPU time is attributed to tasks");
      } else {
        log::warning("CPU energy isn't attributed to tasks; it is measured all the same",
                     {{"error", found.stats.trouble}});
      }
    }
    desk->status.last = found.stats;
    ++desk->status.looks;
    desk->status.seconds = took.count();
    desk->status.cpu_seconds_total = cpu_seconds_of_this_thread();
    desk->answer = std::move(found);
    desk->answered = number;
    desk->changed.notify_all();
  }
  desk->ended = true;
  desk->changed.notify_all();
}

void AttributionThread::note_late(Desk& desk) {
  ++desk.status.late;
  desk.status.is_late = true;
  const auto now = std::chrono::steady_clock::now();
  if (desk.warned_late && now - *desk.warned_late < kBetweenLateWarnings) return;
  desk.warned_late = now;
  log::warning("looking at the cgroups took too long: beats go without tasks, their energy is unattributed",
               {{"beats_so_far", std::to_string(desk.status.late)},
                {"cgroups", std::to_string(desk.status.last.cgroups)}});
}

std::optional<Workloads> AttributionThread::look(std::vector<metering::Reading> devices) {
  std::unique_lock lock(desk_->mutex);
  if (desk_->asked > desk_->answered) {
    note_late(*desk_);
    return std::nullopt;
  }
  desk_->question = std::move(devices);
  desk_->answer.reset();
  const auto number = ++desk_->asked;
  desk_->changed.notify_all();
  if (!desk_->changed.wait_for(lock, patience_, [&] { return desk_->answered == number; })) {
    note_late(*desk_);
    return std::nullopt;
  }
  desk_->status.is_late = false;
  return std::exchange(desk_->answer, std::nullopt);
}

AttributionStatus AttributionThread::status() const {
  const std::lock_guard lock(desk_->mutex);
  return desk_->status;
}

}  // namespace tidewatt::agent
