// A client without manners: sends bytes as they are, over a socket of its own.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidewatt::net {

class RawClient {
 public:
  /// @param from  the address to come from; empty = the system's choice
  explicit RawClient(std::uint16_t port, const std::string& from = {})
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    if (!from.empty()) {
      sockaddr_in own{};
      own.sin_family = AF_INET;
      own.sin_addr.s_addr = ::inet_addr(from.c_str());
      if (::bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0)
        ADD_FAILURE() << "can't come from " << from;
    }
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      ADD_FAILURE() << "can't connect to port " << port;
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// @return false when the peer has closed
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  /// Reads until `marker` came or, without one, until the peer closes. The test fails after 20 s.
  std::string read_until(std::string_view marker = {}) {
    for (;;) {
      const auto found = marker.empty() ? std::string::npos : text_.find(marker);
      if (found != std::string::npos) return take(found + marker.size());
      if (!fill()) return take(text_.size());
    }
  }
  /// One response with its Content-Length; without the header just its head.
  std::string read_response() {
    std::string head = read_until("\r\n\r\n");
    const auto at = head.find("content-length: ");
    if (at == std::string::npos) return head;
    const auto length = static_cast<std::size_t>(std::stoul(head.substr(at + 16)));
    while (text_.size() < length && fill()) {
    }
    return head + take(std::min(length, text_.size()));
  }
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  bool fill() {
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, 20'000) <= 0) {
      ADD_FAILURE() << "the server neither answered nor closed; so far: " << text_;
      return false;
    }
    char chunk[8192];
    const auto got = ::recv(fd_, chunk, sizeof chunk, 0);
    closed_ = got <= 0;
    if (!closed_) text_.append(chunk, static_cast<std::size_t>(got));
    return !closed_;
  }
  std::string take(std::size_t size) {
    std::string out = text_.substr(0, size);
    text_.erase(0, size);
    return out;
  }

  int fd_;
  std::string text_;
  bool closed_ = false;
};

}  // namespace tidewatt::net
