// Which tasks hold a device: the same from beat to beat, so it is made once and shared.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tidewatt::ledger {

/// An immutable set of task ids, sorted. Copies share it.
class TaskSet {
 public:
  using const_iterator = std::vector<std::string>::const_iterator;

  TaskSet() = default;
  /// @param ids  in any order, repeated or not
  explicit TaskSet(std::vector<std::string> ids);
  TaskSet(std::initializer_list<std::string> ids) : TaskSet(std::vector<std::string>(ids)) {}

  [[nodiscard]] const std::vector<std::string>& ids() const { return ids_ ? *ids_ : none(); }
  [[nodiscard]] const_iterator begin() const { return ids().begin(); }
  [[nodiscard]] const_iterator end() const { return ids().end(); }
  [[nodiscard]] std::size_t size() const { return ids().size(); }
  [[nodiscard]] bool empty() const { return !ids_; }
  [[nodiscard]] bool contains(std::string_view id) const;
  friend bool operator==(const TaskSet& a, const TaskSet& b) {
    return a.ids_ == b.ids_ || a.ids() == b.ids();
  }
  friend bool operator<(const TaskSet& a, const TaskSet& b) { return a.ids() < b.ids(); }

 private:
  static const std::vector<std::string>& none();
  std::shared_ptr<const std::vector<std::string>> ids_;  ///< null = empty
};

TaskSet united(const TaskSet& a, const TaskSet& b);

}  // namespace tidewatt::ledger
