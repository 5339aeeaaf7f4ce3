// A training program's progress for Tidewatt: one header, C++17, POSIX sockets, nothing else.
//
//   tidewatt::EpochExporterOptions options;
//   options.epochs_total = 100;
//   tidewatt::EpochExporter exporter{"bert-42", options};                   // serves /metrics on port 8000
//   for (int epoch = 1; epoch <= 100; ++epoch) {
//     const double joules = train_one_epoch();
//     exporter.finish_epoch(epoch, joules);                                 // or without joules: unknown
//   }
//
// No failure stops the program: a port that is taken is told by error(), and training goes on.
#ifndef TIDEWATT_EPOCH_EXPORTER_H
#define TIDEWATT_EPOCH_EXPORTER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <locale>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tidewatt {

struct EpochExporterOptions {
  std::optional<std::int64_t> epochs_total{};               ///< nullopt: not known, no line
  std::optional<std::uint16_t> port = std::uint16_t{8000};  ///< 0 takes a free one; nullopt serves nothing
  std::string address = "0.0.0.0";                          ///< IPv4; "127.0.0.1" keeps it to the machine
  std::vector<std::pair<std::string, std::string>>
      labels{};  ///< beside task_id; names of letters, digits and _
};

/// Safe to call from several threads. What isn't known has no line in /metrics, never a 0.
class EpochExporter {
 public:
  explicit EpochExporter(std::string task_id, EpochExporterOptions options = {})
      : options_(std::move(options)), labels_(label_text(task_id, options_.labels)) {
    if (options_.port) serve();
  }
  ~EpochExporter() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    if (listener_ >= 0) ::close(listener_);
  }
  EpochExporter(const EpochExporter&) = delete;
  EpochExporter& operator=(const EpochExporter&) = delete;

  /// An epoch is done. `joules`: what it used; nullopt, negative or not finite: not known, and from then on
  /// the sum isn't known either.
  void finish_epoch(std::int64_t number, std::optional<double> joules = std::nullopt) {
    const std::lock_guard<std::mutex> guard{lock_};
    epoch_ = number;
    const bool known = joules && std::isfinite(*joules) && *joules >= 0;
    if (!known)
      joules_.reset();
    else if (joules_)
      *joules_ += *joules;
    any_ = true;
  }
  /// A step took this long.
  void finish_step(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return;
    const std::lock_guard<std::mutex> guard{lock_};
    steps_.push_back(seconds);
    if (steps_.size() > kStepsKept) steps_.pop_front();
  }

  /// The Prometheus text format.
  [[nodiscard]] std::string metrics() const {
    const std::lock_guard<std::mutex> guard{lock_};
    std::string out;
    add(out, "tidewatt_task_epoch", "gauge", "Epochs finished.", static_cast<double>(epoch_));
    if (options_.epochs_total)
      add(out, "tidewatt_task_epochs_total", "gauge", "Epochs the task will do.",
          static_cast<double>(*options_.epochs_total));
    if (any_ && joules_)
      add(out, "tidewatt_task_energy_joules_total", "counter", "Energy of the finished epochs.", *joules_);
    if (!steps_.empty()) {
      double sum = 0;
      for (const double seconds : steps_) sum += seconds;
      add(out, "tidewatt_task_step_latency_seconds", "gauge", "Mean time of the last 100 steps.",
          sum / static_cast<double>(steps_.size()));
    }
    return out;
  }
  /// The port that is served; nullopt: none.
  [[nodiscard]] std::optional<std::uint16_t> port() const { return bound_; }
  /// Why nothing is served; empty when all is well.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  static constexpr std::size_t kStepsKept = 100;
  static constexpr std::size_t kMostRequestBytes = 8192;
  static constexpr int kWaitMilliseconds = 100;
  static constexpr int kSecondsForAClient = 2;

  static std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '\n') {
        out += "\\n";
        continue;
      }
      if (c == '\\' || c == '"') out += '\\';
      out += c;
    }
    return out;
  }
  static bool is_label_name(const std::string& name) {
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
    for (const char c : name)
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
        return false;
    return true;
  }
  static std::string label_text(const std::string& task_id,
                                const std::vector<std::pair<std::string, std::string>>& labels) {
    std::string out = "{task_id=\"" + escaped(task_id) + "\"";
    for (const auto& label : labels)
      if (is_label_name(label.first) && label.first != "task_id")
        out += "," + label.first + "=\"" + escaped(label.second) + "\"";
    return out + "}";
  }
  void add(std::string& out, const char* name, const char* type, const char* help, double value) const {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.precision(17);
    text << value;
    out += std::string{"# HELP "} + name + " " + help + "\n# TYPE " + name + " " + type + "\n" + name +
           labels_ + " " + text.str() + "\n";
  }

  void serve() {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(*options_.port);
    if (::inet_pton(AF_INET, options_.address.c_str(), &where.sin_addr) != 1) {
      error_ = "\"" + options_.address + "\" is no IPv4 address";
      return;
    }
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    socklen_t size = sizeof where;
    if (listener_ < 0 || ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(listener_, reinterpret_cast<sockaddr*>(&where), size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &size) != 0) {
      error_ = options_.address + ":" + std::to_string(*options_.port) + ": " + std::strerror(errno);
      return;
    }
    bound_ = ntohs(where.sin_port);
    thread_ = std::thread{[this] { accept_until_stopped(); }};
  }
  void accept_until_stopped() {
    while (!stopping_) {
      pollfd waiting{listener_, POLLIN, 0};
      if (::poll(&waiting, 1, kWaitMilliseconds) <= 0) continue;
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      // One scraper that stalls must not keep the others, nor the program's end, waiting.
      const timeval most{kSecondsForAClient, 0};
      ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
      ::setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
      answer(client);
      ::close(client);
    }
  }
  void answer(int client) const {
    std::string request;
    char buffer[1024];
    while (request.find("\r\n\r\n") == std::string::npos && request.size() < kMostRequestBytes) {
      const auto got = ::recv(client, buffer, sizeof buffer, 0);
      if (got <= 0) return;
      request.append(buffer, static_cast<std::size_t>(got));
    }
    const std::string line = request.substr(0, request.find("\r\n"));
    const bool asked = line.rfind("GET /metrics ", 0) == 0 || line.rfind("GET /metrics?", 0) == 0;
    const std::string body = asked ? metrics() : "only GET /metrics is here\n";
    const std::string reply =
        std::string{asked ? "HTTP/1.1 200 OK" : "HTTP/1.1 404 Not Found"} +
        "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
    for (std::size_t sent = 0; sent < reply.size();) {
      const auto more = ::send(client, reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
      if (more <= 0) return;
      sent += static_cast<std::size_t>(more);
    }
  }

  const EpochExporterOptions options_;
  const std::string labels_;
  mutable std::mutex lock_;
  std::int64_t epoch_ = 0;
  std::optional<double> joules_ = 0.0;
  bool any_ = false;
  std::deque<double> steps_;
  int listener_ = -1;
  std::optional<std::uint16_t> bound_;
  std::string error_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace tidewatt

#endif
