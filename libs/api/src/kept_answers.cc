#include "kept_answers.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <utility>
#include <vector>

#include "tidewatt/base/log.h"

namespace tidewatt::api {
namespace {

constexpr std::chrono::milliseconds kLookEvery{500};

}  // namespace

KeptAnswers::KeptAnswers(const Clock& clock, std::function<Milliseconds()> cpu, Rule rule)
    : clock_(clock), cpu_(std::move(cpu)), rule_(rule) {}

KeptAnswers::~KeptAnswers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void KeptAnswers::start() {
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      changed_.wait_for(lock, kLookEvery, [this] { return stopping_; });
      if (stopping_ || kept_.empty()) continue;
      lock.unlock();
      refresh();
      lock.lock();
    }
  });
}

KeptAnswers::Fresh KeptAnswers::made(const Make& make) const {
  const auto before = cpu_();
  const auto began = clock_.mono_now();
  Fresh fresh{make(), Milliseconds{0}, began};
  fresh.cost = cpu_() - before;
  return fresh;
}

net::Response KeptAnswers::get(const std::string& key, const Make& make) {
  {
    std::unique_lock lock(mutex_);
    while (true) {
      const auto found = kept_.find(key);
      if (found == kept_.end()) break;
      auto& kept = found->second;
      const auto now = clock_.mono_now();
      const bool fresh_enough = now - kept.made_at < 2 * every(kept, now);
      kept.asked_at = now;  // watched from now on, so a rested one is due at once
      if (fresh_enough) {
        auto response = kept.response;
        response.headers["age"] =
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now - kept.made_at).count());
        return response;
      }
      if (!kept.making) {
        kept.making = true;
        break;
      }
      changed_.wait(lock);  // somebody makes it already
    }
  }
  Fresh fresh;
  try {
    fresh = made(make);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    kept_.erase(key);
    changed_.notify_all();
    throw;
  }
  keep(key, make, fresh, fresh.began);
  return std::move(fresh.response);
}

void KeptAnswers::keep(const std::string& key, const Make& make, const Fresh& fresh, SteadyTime asked_at) {
  const std::lock_guard lock(mutex_);
  if (fresh.response.status != 200 || fresh.cost < rule_.dear) {
    kept_.erase(key);
  } else {
    kept_.insert_or_assign(key, Kept{fresh.response, make, fresh.cost, fresh.began, asked_at, false});
    if (kept_.size() > rule_.most)
      kept_.erase(std::min_element(kept_.begin(), kept_.end(), [&key](const auto& a, const auto& b) {
        return std::pair{a.first == key, a.second.asked_at} < std::pair{b.first == key, b.second.asked_at};
      }));
  }
  changed_.notify_all();
}

bool KeptAnswers::is_watched(const Kept& kept, SteadyTime now) const {
  return now - kept.asked_at <= rule_.watched;
}

Milliseconds KeptAnswers::every(const Kept& kept, SteadyTime now) const {
  return is_watched(kept, now) ? std::max(rule_.refresh, kept.cost * rule_.rest)
                               : std::max(rule_.resting, kept.cost * rule_.rest_unwatched);
}

void KeptAnswers::forget_unasked(SteadyTime now) {
  std::vector<std::pair<SteadyTime, std::string>> resting;
  for (const auto& [key, kept] : kept_)
    if (!kept.making && !is_watched(kept, now)) resting.emplace_back(kept.asked_at, key);
  std::sort(resting.rbegin(), resting.rend());
  for (std::size_t i = 0; i < resting.size(); ++i)
    if (i >= rule_.most_resting || now - resting[i].first > rule_.remembered) kept_.erase(resting[i].second);
}

std::optional<std::string> KeptAnswers::next_due() {
  const auto now = clock_.mono_now();
  forget_unasked(now);
  for (const auto& [key, kept] : kept_)
    if (!kept.making && now - kept.made_at >= every(kept, now)) return key;
  return std::nullopt;
}

void KeptAnswers::refresh() {
  while (true) {
    std::string key;
    Make make;
    {
      const std::lock_guard lock(mutex_);
      const auto due = stopping_ ? std::nullopt : next_due();
      if (!due) return;
      key = *due;
      auto& kept = kept_.at(key);
      kept.making = true;
      make = kept.make;
    }
    Fresh fresh;
    try {
      fresh = made(make);
    } catch (const std::exception& problem) {
      fresh.response.status = 500;  // the next who asks is told what is wrong
      log::error("an answer could not be made anew", {{"error", problem.what()}});
    }
    SteadyTime asked_at{};
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = kept_.find(key); found != kept_.end()) asked_at = found->second.asked_at;
    }
    keep(key, make, fresh, asked_at);
  }
}

Milliseconds thread_cpu() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::duration_cast<Milliseconds>(std::chrono::seconds{time.tv_sec} +
                                                  std::chrono::nanoseconds{time.tv_nsec});
}

}  // namespace tidewatt::api
