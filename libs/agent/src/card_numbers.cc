#include "card_numbers.h"

#include <algorithm>
#include <chrono>

namespace tidewatt::agent {
namespace {

// Below the deadline of a read.
constexpr std::chrono::milliseconds kPatience{2'000};

}  // namespace

std::size_t CardNumbers::enter() {
  const std::lock_guard lock(mutex_);
  entries_.emplace_back();
  return entries_.size() - 1;
}

void CardNumbers::gave_none(std::size_t place) {
  const std::lock_guard lock(mutex_);
  entries_[place].answered = true;
  changed_.notify_all();
}

std::size_t CardNumbers::hundred_of(std::size_t place) {
  std::unique_lock lock(mutex_);
  if (entries_[place].hundred) return *entries_[place].hundred;
  const auto before = [&] {
    return std::ranges::subrange(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(place));
  };
  changed_.wait_for(lock, kPatience, [&] { return std::ranges::all_of(before(), &Entry::answered); });
  // One that hasn't answered by now is slow, and may give cards yet.
  auto hundred = static_cast<std::size_t>(
      std::ranges::count_if(before(), [](const Entry& e) { return e.hundred || !e.answered; }));
  const auto taken = [&] {
    return std::ranges::any_of(entries_, [&](const Entry& e) { return e.hundred == hundred; });
  };
  while (taken()) ++hundred;
  entries_[place].hundred = hundred;
  entries_[place].answered = true;
  changed_.notify_all();
  return hundred;
}

}  // namespace tidewatt::agent
