#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "tidewatt/net/server.h"

namespace tidewatt::net {

/// The text of one server-sent event.
std::string event_text(std::string_view event, std::string_view data);

/// Events between the threads that send and the connection that writes. Bounded by bytes.
class EventQueue final : public EventSink {
 public:
  /// `wake` is called when something waits to be taken; never after close() returned.
  EventQueue(std::size_t max_bytes, std::function<void()> wake);

  bool send(std::string_view event, std::string_view data) override;
  [[nodiscard]] bool open() const override;

  /// All that waits; empty when nothing does. The next event wakes again.
  std::string take();
  void close();

 private:
  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::function<void()> wake_;
  std::string waiting_;
  bool awake_ = false;
  bool open_ = true;
};

}  // namespace tidewatt::net
