#include "tidewatt/ledger/task_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tidewatt::ledger {

TaskSet::TaskSet(std::vector<std::string> ids) {
  if (ids.empty()) return;
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  ids_ = std::make_shared<const std::vector<std::string>>(std::move(ids));
}

bool TaskSet::contains(std::string_view id) const { return std::binary_search(begin(), end(), id); }

const std::vector<std::string>& TaskSet::none() {
  static const std::vector<std::string> empty;
  return empty;
}

TaskSet united(const TaskSet& a, const TaskSet& b) {
  if (a == b || b.empty()) return a;
  if (a.empty()) return b;
  std::vector<std::string> all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return TaskSet{std::move(all)};
}

}  // namespace tidewatt::ledger
