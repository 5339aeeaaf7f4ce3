#include "event_queue.h"

#include <algorithm>
#include <utility>

namespace tidewatt::net {

std::string event_text(std::string_view event, std::string_view data) {
  std::string text = "event: ";
  for (const char c : event) text += c == '\n' || c == '\r' ? ' ' : c;
  text += '\n';
  // Each line of the data needs its own field; otherwise its second line would be read as one.
  do {
    const auto end = std::min(data.find_first_of("\r\n"), data.size());
    text += "data: ";
    text += data.substr(0, end);
    text += '\n';
    const bool pair = data.substr(end).starts_with("\r\n");
    data.remove_prefix(std::min(end + (pair ? 2 : 1), data.size()));
  } while (!data.empty());
  text += '\n';
  return text;
}

EventQueue::EventQueue(std::size_t max_bytes, std::function<void()> wake)
    : max_bytes_(max_bytes), wake_(std::move(wake)) {}

bool EventQueue::send(std::string_view event, std::string_view data) {
  std::string text = event_text(event, data);
  const std::lock_guard lock{mutex_};
  if (!open_) return false;
  if (waiting_.size() + text.size() > max_bytes_) {
    open_ = false;  // a client that misses events must reconnect, not go on with holes
    waiting_.clear();
  } else {
    waiting_ += text;
  }
  if (!awake_) wake_();
  awake_ = true;
  return open_;
}

bool EventQueue::open() const {
  const std::lock_guard lock{mutex_};
  return open_;
}

std::string EventQueue::take() {
  const std::lock_guard lock{mutex_};
  awake_ = false;
  return std::exchange(waiting_, {});
}

void EventQueue::close() {
  const std::lock_guard lock{mutex_};
  open_ = false;
  awake_ = true;  // never call wake_ again
  waiting_.clear();
  wake_ = nullptr;
}

}  // namespace tidewatt::net
