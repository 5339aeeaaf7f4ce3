// What the watches know, shared by their threads and the one that acts.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tidewatt/k8s/gate.h"

namespace tidewatt::cli {

class HeldCache {
 public:
  /// One part for each watch: what it lists anew replaces what it knew before.
  explicit HeldCache(std::size_t parts) : parts_(parts) {}

  void replace(std::size_t part, std::vector<k8s::Held> items);
  void put(std::size_t part, k8s::Held held);
  void remove(std::size_t part, const std::string& uid);
  /// From whichever part it is in.
  void remove(const std::string& uid);
  /// What a write or a read answered, where nothing newer came by a watch meanwhile (versions have no order).
  void update(const std::string& known_version, const k8s::Held& held);

  /// Every part was listed once.
  [[nodiscard]] bool complete() const;
  [[nodiscard]] std::vector<k8s::Held> all() const;
  /// Returns early when something changed since the last wait.
  void wait(Milliseconds most);
  void wake();

 private:
  struct Part {
    bool listed = false;
    std::map<std::string, k8s::Held> by_uid;
  };
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool news_ = false;
  std::vector<Part> parts_;
};

}  // namespace tidewatt::cli
