#include "span_books.h"

namespace tidewatt::api {
namespace {

constexpr std::size_t kMostBooks = 5'000;
constexpr std::ptrdiff_t kMostSpansOfAll = 1'000'000;
constexpr std::size_t kMostSenders = 10'000;

}  // namespace

std::shared_ptr<SpanBooks::Book> SpanBooks::find(std::string_view cluster, std::string_view task_id) const {
  if (count_ == 0) return nullptr;
  const std::shared_lock lock{mutex_};
  const auto of_cluster = books_.find(cluster);
  if (of_cluster == books_.end()) return nullptr;
  const auto found = of_cluster->second.find(task_id);
  return found == of_cluster->second.end() ? nullptr : found->second;
}

std::shared_ptr<SpanBooks::Book> SpanBooks::find_or_make(const Task& task) {
  if (auto found = find(task.first, task.second)) return found;
  const std::unique_lock lock{mutex_};
  auto& of_cluster = books_[task.first];
  if (const auto found = of_cluster.find(task.second); found != of_cluster.end()) return found->second;
  if (count_ >= kMostBooks) return nullptr;
  ++count_;
  return of_cluster.emplace(task.second, std::make_shared<Book>(rules_, clock_.utc_now())).first->second;
}

SpanBooks::Counts SpanBooks::add(const Task& task, std::span<const traces::Span> spans) {
  Counts counts;
  const auto book = find_or_make(task);
  if (book == nullptr || spans_ >= kMostSpansOfAll) {
    counts.full = spans.size();
    return counts;
  }
  const auto now = clock_.utc_now();
  const std::scoped_lock lock{book->mutex};
  const auto before = static_cast<std::ptrdiff_t>(book->sums.spans());
  for (const auto& span : spans) switch (book->sums.add(span, now)) {
      case traces::Taken::accepted:
        ++counts.accepted;
        break;
      case traces::Taken::duplicate:
        ++counts.duplicate;
        break;
      case traces::Taken::too_old:
        ++counts.too_old;
        break;
      case traces::Taken::of_the_future:
        ++counts.of_the_future;
        break;
      case traces::Taken::full:
        ++counts.full;
        break;
    }
  spans_ += static_cast<std::ptrdiff_t>(book->sums.spans()) - before;
  return counts;
}

bool SpanBooks::wants(std::string_view cluster, std::string_view task_id) const {
  return find(cluster, task_id) != nullptr;
}

void SpanBooks::take(std::vector<ledger::TaskInterval> intervals) {
  std::map<Task, std::vector<traces::EnergyPiece>> pieces;
  for (auto& interval : intervals)
    pieces[{interval.cluster, interval.task_id}].push_back(
        {interval.domain, interval.device, interval.since, interval.range, interval.energy});
  const auto now = clock_.utc_now();
  for (const auto& [task, of_task] : pieces) {
    const auto book = find(task.first, task.second);
    if (book == nullptr) continue;
    const std::scoped_lock lock{book->mutex};
    const auto before = static_cast<std::ptrdiff_t>(book->sums.spans());
    for (const auto& piece : of_task) book->sums.add(piece);
    book->sums.settle(now);
    spans_ += static_cast<std::ptrdiff_t>(book->sums.spans()) - before;
  }
}

void SpanBooks::settle() {
  const auto now = clock_.utc_now();
  Books books;
  {
    const std::shared_lock lock{mutex_};
    books = books_;
  }
  for (const auto& [cluster, of_cluster] : books) {
    for (const auto& [task, book] : of_cluster) {
      const std::scoped_lock lock{book->mutex};
      const auto before = static_cast<std::ptrdiff_t>(book->sums.spans());
      book->sums.settle(now);
      spans_ += static_cast<std::ptrdiff_t>(book->sums.spans()) - before;
      if (!book->sums.empty()) continue;
      const std::unique_lock names{mutex_};
      // Somebody who found it just now still adds to it: what they add is lost with an empty book.
      if (book.use_count() == 2 && books_[cluster].erase(task) > 0) --count_;
    }
  }
}

std::optional<traces::Report> SpanBooks::report(const Task& task, UtcHour from, UtcHour to) const {
  const auto book = find(task.first, task.second);
  if (book == nullptr) return std::nullopt;
  const std::scoped_lock lock{book->mutex};
  return book->sums.report(from, to);
}

std::vector<traces::TraceSum> SpanBooks::latest_traces(const Task& task, std::size_t limit) const {
  const auto book = find(task.first, task.second);
  if (book == nullptr) return {};
  const std::scoped_lock lock{book->mutex};
  return book->sums.traces(limit);
}

std::optional<UtcTime> SpanBooks::since(const Task& task) const {
  const auto book = find(task.first, task.second);
  return book == nullptr ? std::nullopt : std::optional{book->since};
}

std::optional<std::string> SpanBooks::known_sender(const std::string& attributes) const {
  const std::shared_lock lock{mutex_};
  const auto found = senders_.find(attributes);
  return found == senders_.end() ? std::nullopt : std::optional{found->second};
}

void SpanBooks::remember_sender(const std::string& attributes, const std::string& task_id) {
  const std::unique_lock lock{mutex_};
  if (senders_.size() >= kMostSenders) senders_.clear();
  senders_.insert_or_assign(attributes, task_id);
}

}  // namespace tidewatt::api
