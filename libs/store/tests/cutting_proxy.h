// Between a store and its PostgreSQL: cuts a connection right before or right after a statement that holds a
// marker got through.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tidewatt::store::testing {

class CuttingProxy {
 public:
  enum class Cut {
    request,  ///< the statement never arrives
    answer,   ///< the statement takes effect, and nobody is told
  };

  /// Listens on `folder`/.s.PGSQL.`port` and passes on to port 5432 there.
  CuttingProxy(std::string folder, int port, std::string marker)
      : folder_(std::move(folder)), marker_(std::move(marker)) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = address_of(port);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 64) != 0)
      std::abort();
    acceptor_ = std::thread([this] { accept_all(); });
  }
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;
  ~CuttingProxy() {
    stop_ = true;
    acceptor_.join();
    for (auto& thread : connections_) thread.join();
    ::close(listener_);
  }

  /// The next `times` statements that hold the marker are cut.
  void cut(Cut what, int times) {
    what_ = what;
    left_ = times;
  }
  [[nodiscard]] int left() const { return left_; }

 private:
  [[nodiscard]] sockaddr_un address_of(int port) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = folder_ + "/.s.PGSQL." + std::to_string(port);
    if (path.size() >= sizeof address.sun_path) std::abort();
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
  }

  void accept_all() {
    while (!stop_) {
      pollfd waiting{listener_, POLLIN, 0};
      if (::poll(&waiting, 1, 50) <= 0) continue;
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      connections_.emplace_back([this, client] { pass(client); });
    }
  }

  void pass(int client) {
    const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = address_of(5432);
    bool cut_answer = false;
    if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      std::array<char, 1U << 16U> buffer{};
      while (!stop_) {
        std::array<pollfd, 2> waiting{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
        if (::poll(waiting.data(), 2, 50) <= 0) continue;
        if (waiting[0].revents != 0) {
          const auto size = ::read(client, buffer.data(), buffer.size());
          if (size <= 0) break;
          const std::string_view bytes(buffer.data(), static_cast<std::size_t>(size));
          if (bytes.find(marker_) != std::string_view::npos && left_.fetch_sub(1) > 0) {
            if (what_ == Cut::request) break;
            cut_answer = true;
          }
          if (::write(server, bytes.data(), bytes.size()) != size) break;
        }
        if (waiting[1].revents != 0) {
          const auto size = ::read(server, buffer.data(), buffer.size());
          if (size <= 0 || cut_answer) break;
          if (::write(client, buffer.data(), static_cast<std::size_t>(size)) != size) break;
        }
      }
    }
    ::close(server);
    ::close(client);
  }

  std::string folder_;
  std::string marker_;
  int listener_ = -1;
  std::atomic<bool> stop_{false};
  std::atomic<Cut> what_{Cut::answer};
  std::atomic<int> left_{0};
  std::thread acceptor_;
  std::vector<std::thread> connections_;  // the acceptor's until it ended
};

}  // namespace tidewatt::store::testing
