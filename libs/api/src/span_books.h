// The spans of tasks, and what each task's energy became among them: one book a task, in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/ledger/integrate.h"
#include "tidewatt/traces/task_book.h"

namespace tidewatt::api {

/// Thread-safe.
class SpanBooks final : public ledger::IntervalWatch {
 public:
  using Task = std::pair<std::string, std::string>;  ///< cluster, task id

  explicit SpanBooks(const Clock& clock, const traces::BookRules& rules = {})
      : clock_(clock), rules_(rules) {}

  struct Counts {
    std::size_t accepted = 0, duplicate = 0, too_old = 0, of_the_future = 0, full = 0;
    [[nodiscard]] std::size_t rejected() const { return too_old + of_the_future + full; }
  };
  Counts add(const Task& task, std::span<const traces::Span> spans);

  [[nodiscard]] bool wants(std::string_view cluster, std::string_view task_id) const override;
  void take(std::vector<ledger::TaskInterval> intervals) override;
  /// Drops what is too old, and books that are empty. Now and then.
  void settle();

  /// nullopt = no span of it ever came
  [[nodiscard]] std::optional<traces::Report> report(const Task& task, UtcHour from, UtcHour to) const;
  [[nodiscard]] std::vector<traces::TraceSum> latest_traces(const Task& task, std::size_t limit) const;
  /// When the task's first span came.
  [[nodiscard]] std::optional<UtcTime> since(const Task& task) const;

  /// Which task a sender's attributes turned out to mean: asked once, then remembered.
  [[nodiscard]] std::optional<std::string> known_sender(const std::string& attributes) const;
  void remember_sender(const std::string& attributes, const std::string& task_id);

 private:
  struct Book {
    explicit Book(const traces::BookRules& rules, UtcTime now) : sums(rules), since(now) {}
    mutable std::mutex mutex;
    traces::TaskBook sums;
    const UtcTime since;
  };
  using Books = std::map<std::string, std::map<std::string, std::shared_ptr<Book>, std::less<>>, std::less<>>;

  [[nodiscard]] std::shared_ptr<Book> find(std::string_view cluster, std::string_view task_id) const;
  std::shared_ptr<Book> find_or_make(const Task& task);

  const Clock& clock_;
  const traces::BookRules rules_;
  mutable std::shared_mutex mutex_;  ///< of what follows; never waits for a book's own
  Books books_;                      ///< by cluster, then task
  std::map<std::string, std::string> senders_;
  std::atomic<std::size_t> count_{0};
  std::atomic<std::ptrdiff_t> spans_{0};
};

}  // namespace tidewatt::api
