#include "held_cache.h"

#include <utility>

namespace tidewatt::cli {

void HeldCache::replace(std::size_t part, std::vector<k8s::Held> items) {
  std::map<std::string, k8s::Held> by_uid;
  for (auto& item : items) {
    auto uid = item.uid;
    by_uid.insert_or_assign(std::move(uid), std::move(item));
  }
  {
    const std::scoped_lock lock{mutex_};
    parts_[part].listed = true;
    parts_[part].by_uid = std::move(by_uid);
    news_ = true;
  }
  changed_.notify_all();
}

void HeldCache::put(std::size_t part, k8s::Held held) {
  {
    const std::scoped_lock lock{mutex_};
    auto uid = held.uid;
    parts_[part].by_uid.insert_or_assign(std::move(uid), std::move(held));
    news_ = true;
  }
  changed_.notify_all();
}

void HeldCache::remove(std::size_t part, const std::string& uid) {
  {
    // News, too: what left one selection may stand newer in another, behind the copy that goes now.
    const std::scoped_lock lock{mutex_};
    parts_[part].by_uid.erase(uid);
    news_ = true;
  }
  changed_.notify_all();
}

void HeldCache::remove(const std::string& uid) {
  const std::scoped_lock lock{mutex_};
  for (auto& part : parts_) part.by_uid.erase(uid);
}

void HeldCache::update(const std::string& known_version, const k8s::Held& held) {
  const std::scoped_lock lock{mutex_};
  for (auto& part : parts_)
    if (const auto found = part.by_uid.find(held.uid);
        found != part.by_uid.end() && found->second.resource_version == known_version)
      found->second = held;
}

bool HeldCache::complete() const {
  const std::scoped_lock lock{mutex_};
  for (const auto& part : parts_)
    if (!part.listed) return false;
  return true;
}

std::vector<k8s::Held> HeldCache::all() const {
  const std::scoped_lock lock{mutex_};
  std::vector<k8s::Held> all;
  for (const auto& part : parts_)
    for (const auto& [uid, held] : part.by_uid) all.push_back(held);
  return all;
}

void HeldCache::wait(Milliseconds most) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, most, [this] { return news_; });
  news_ = false;
}

void HeldCache::wake() {
  {
    const std::scoped_lock lock{mutex_};
    news_ = true;
  }
  changed_.notify_all();
}

}  // namespace tidewatt::cli
