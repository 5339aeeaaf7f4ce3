#include "kept_answers.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <utility>

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
      kept.asked_at = now;
      if (now - kept.made_at < 2 * kept.every) {
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
    const auto every = std::max(rule_.refresh, fresh.cost * rule_.rest);
    kept_.insert_or_assign(key, Kept{fresh.response, make, every, fresh.began, asked_at, false});
    if (kept_.size() > rule_.most)
      kept_.erase(std::min_element(kept_.begin(), kept_.end(), [&key](const auto& a, const auto& b) {
        return std::pair{a.first == key, a.second.asked_at} < std::pair{b.first == key, b.second.asked_at};
      }));
  }
  changed_.notify_all();
}

std::optional<std::string> KeptAnswers::next_due() {
  const auto now = clock_.mono_now();
  std::erase_if(kept_, [&](const auto& entry) {
    return !entry.second.making && now - entry.second.asked_at > rule_.watched &&
           now - entry.second.made_at >= entry.second.every;
  });
  for (const auto& [key, kept] : kept_)
    if (!kept.making && now - kept.made_at >= kept.every) return key;
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
