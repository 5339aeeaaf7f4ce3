// One connection of the server: reads a request, has it answered by a worker, writes the answer, again.
// All on the io thread, except run(), which a worker calls while the io thread leaves the request alone.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "event_queue.h"
#include "head_scanner.h"
#include "request_head.h"
#include "server_core.h"
#include "tidewatt/base/log.h"

namespace tidewatt::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

template <class Stream>
class Connection final : public ConnectionBase, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(Stream stream, ServerCore& core, std::string remote_address)
      : stream_(std::move(stream)), core_(core), remote_address_(std::move(remote_address)) {
    core_.add(this);
  }
  ~Connection() override {
    leave_stream();
    release_body();
    core_.remove(this);
  }

  void start() override;
  void check(SteadyClock::time_point now) override;
  void finish_soon() override;
  void close_now() override;
  std::optional<SteadyClock::time_point> idle_since() const override {
    // One whose head or handshake drags on isn't served either.
    if (state_ == State::idle || state_ == State::head || state_ == State::handshake) return request_begin_;
    if (state_ == State::closing) return SteadyClock::time_point::min();
    return std::nullopt;
  }
  const std::string& remote_address() const override { return remote_address_; }
  void silence_events() override {
    if (events_) events_->close();
  }

 private:
  static constexpr bool kTls = !std::is_same_v<Stream, Socket>;
  static constexpr std::size_t kSmallRead = 2048;  ///< what an idle connection costs
  static constexpr std::size_t kBodyRead = 64U << 10U;
  static constexpr std::size_t kJoinedWrite = 16U << 10U;  ///< head and body go out as one piece up to here
  static constexpr std::size_t kMaxDiscarded = 64U << 20U;
  static constexpr std::size_t kMaxEventBytes = 1U << 20U;
  static constexpr auto kLinger = std::chrono::milliseconds{5000};
  static constexpr auto kLastLinger = std::chrono::milliseconds{500};  ///< when the server stops
  static constexpr auto kHeartbeat = std::chrono::seconds{15};
  static constexpr auto kEventWrite = std::chrono::seconds{30};
  static constexpr auto kNever = SteadyClock::time_point::max();
  enum class State { handshake, idle, head, body, working, writing, streaming, closing, closed };

  Socket& socket();
  auto self() { return this->shared_from_this(); }
  void enter(State state, SteadyClock::time_point deadline) {
    state_ = state;
    deadline_ = deadline;
  }
  void next_request();
  void scan_head();
  void read_more_head();
  void take_head(std::size_t size);
  void send_continue();
  void read_body();
  void after_body_read(error_code error);
  bool account_body();
  void release_body();
  void dispatch();
  void run();
  Response answer();
  void after_run();
  void refuse(Response response);
  void send(Response response);
  void after_send();
  void enter_stream();
  void leave_stream();
  void pump_events();
  void watch_stream_peer();
  void close_politely();
  void discard_rest();
  bool is_lost(error_code error);

  Stream stream_;
  ServerCore& core_;
  std::string remote_address_;
  State state_ = State::idle;
  SteadyClock::time_point deadline_ = kNever;
  SteadyClock::time_point request_begin_{};
  bool timed_out_ = false;
  beast::flat_buffer buffer_;
  HeadScanner scanner_{0};
  std::optional<http::request_parser<http::string_body>> parser_;
  CheckedHead head_;
  Response response_;
  std::string out_;
  bool keep_alive_ = true;
  bool http_1_0_ = false;
  std::size_t accounted_ = 0;
  std::size_t discarded_ = 0;
  std::shared_ptr<EventQueue> events_;
  bool becomes_stream_ = false;  ///< set by the worker: the stream handler took the connection
  bool streaming_counted_ = false;
  bool writing_events_ = false;
  SteadyClock::time_point last_event_{};
};

template <class Stream>
Socket& Connection<Stream>::socket() {
  if constexpr (kTls) {
    return stream_.next_layer();
  } else {
    return stream_;
  }
}

template <class Stream>
void Connection<Stream>::start() {
  if constexpr (kTls) {
    request_begin_ = SteadyClock::now();
    enter(State::handshake, request_begin_ + core_.options.read_timeout);
    stream_.async_handshake(asio::ssl::stream_base::server, [me = self()](error_code error) {
      if (error || me->state_ == State::closed) return me->close_now();
      me->next_request();
    });
  } else {
    next_request();
  }
}

/// True when the connection is closed or was closed because of `error`.
template <class Stream>
bool Connection<Stream>::is_lost(error_code error) {
  if (state_ == State::closed) return true;
  if (!error) return false;
  close_now();
  return true;
}

template <class Stream>
void Connection<Stream>::next_request() {
  if (core_.stopping && buffer_.size() == 0) return close_politely();
  scanner_ = HeadScanner{core_.options.max_header_bytes};
  head_ = {};
  timed_out_ = false;
  if (buffer_.size() == 0 && buffer_.capacity() > 2 * kSmallRead) buffer_ = beast::flat_buffer{};
  buffer_.max_size(std::numeric_limits<std::size_t>::max());  // the scanner bounds it from here
  request_begin_ = SteadyClock::now();
  if (buffer_.size() == 0) {
    enter(State::idle, request_begin_ + core_.options.idle_timeout);
  } else {
    enter(State::head, request_begin_ + core_.options.read_timeout);
  }
  scan_head();
}

template <class Stream>
void Connection<Stream>::scan_head() {
  std::string_view bytes{static_cast<const char*>(buffer_.cdata().data()), buffer_.size()};
  // An empty line before a request comes from old clients and means nothing.
  while (bytes.starts_with("\r\n")) {
    buffer_.consume(2);
    bytes.remove_prefix(2);
    scanner_ = HeadScanner{core_.options.max_header_bytes};
  }
  switch (scanner_.scan(bytes)) {
    case HeadScanner::State::incomplete:
      return read_more_head();
    case HeadScanner::State::complete:
      return take_head(scanner_.size());
    case HeadScanner::State::malformed:
      return refuse(problem(400, "bad_request", "Bad request", scanner_.reason()));
    case HeadScanner::State::too_large:
      return refuse(problem(431, "headers_too_large", "Headers too large",
                            fmt::format("send at most {} bytes of headers", core_.options.max_header_bytes)));
  }
}

template <class Stream>
void Connection<Stream>::read_more_head() {
  stream_.async_read_some(buffer_.prepare(kSmallRead), [me = self()](error_code error, std::size_t got) {
    if (me->timed_out_ && me->state_ == State::head)
      return me->refuse(
          problem(408, "request_too_slow", "Request too slow", "send the whole request at once"));
    if (me->is_lost(error)) return;
    me->buffer_.commit(got);
    if (me->state_ == State::idle) {
      me->request_begin_ = SteadyClock::now();
      me->enter(State::head, me->request_begin_ + me->core_.options.read_timeout);
    }
    me->scan_head();
  });
}

template <class Stream>
void Connection<Stream>::take_head(std::size_t size) {
  parser_.emplace();
  parser_->eager(false);
  parser_->header_limit(static_cast<std::uint32_t>(core_.options.max_header_bytes));
  parser_->body_limit(core_.options.max_body_bytes);
  error_code error;
  parser_->put(asio::buffer(buffer_.cdata().data(), size), error);
  if (error == http::error::body_limit) error = {};  // check_head says it better
  if (error && error != http::error::need_more) {
    return refuse(problem(400, "bad_request", "Bad request",
                          fmt::format("not an HTTP/1.1 request: {}", error.message())));
  }
  buffer_.consume(size);
  head_ = check_head(parser_->get(), core_.options.max_body_bytes, core_.options.own_encodings);
  http_1_0_ = parser_->get().version() < 11;
  if (head_.request.request_id.empty()) head_.request.request_id = core_.ids.next();
  head_.request.remote_address = remote_address_;
  head_.request.tls = kTls;
  if (head_.refusal) return refuse(std::move(*head_.refusal));
  keep_alive_ = parser_->get().keep_alive();
  if (!head_.has_body) return dispatch();
  parser_->eager(true);
  buffer_.max_size(kBodyRead + core_.options.max_header_bytes + buffer_.size());
  const auto expected = head_.content_length.value_or(kBodyRead);
  buffer_.reserve(static_cast<std::size_t>(
      std::min<std::uint64_t>(std::max<std::uint64_t>(expected, kSmallRead), kBodyRead)));
  enter(State::body, request_begin_ + core_.options.read_timeout);
  if (head_.expects_continue && buffer_.size() == 0) return send_continue();
  read_body();
}

template <class Stream>
void Connection<Stream>::send_continue() {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(stream_, asio::buffer(kContinue), [me = self()](error_code error, std::size_t) {
    if (!me->is_lost(error)) me->read_body();
  });
}

template <class Stream>
void Connection<Stream>::read_body() {
  http::async_read_some(stream_, buffer_, *parser_,
                        [me = self()](error_code error, std::size_t) { me->after_body_read(error); });
}

template <class Stream>
void Connection<Stream>::after_body_read(error_code error) {
  if (state_ == State::closed) return;
  if (timed_out_)
    return refuse(
        problem(408, "request_too_slow", "Request too slow",
                fmt::format("the body did not arrive within {} ms", core_.options.read_timeout.count())));
  if (error == http::error::body_limit)
    return refuse(problem(
        413, "body_too_large", "Body too large",
        fmt::format("the limit is {} bytes: send several smaller requests", core_.options.max_body_bytes)));
  if (error && (error.category() == make_error_code(http::error::bad_chunk).category()) &&
      error != http::error::partial_message && error != http::error::end_of_stream)
    return refuse(problem(400, "bad_request", "Bad request",
                          fmt::format("the body is malformed: {}", error.message())));
  if (is_lost(error)) return;
  if (!account_body()) {
    ++core_.refused_busy;
    auto busy = problem(503, "busy", "Server busy", "too many requests are being received: try again later");
    busy.headers["retry-after"] = "1";
    return refuse(std::move(busy));
  }
  if (!parser_->is_done()) return read_body();
  head_.request.body = std::move(parser_->get().body());
  dispatch();
}

/// Counts the body's bytes that are in memory. False when all connections together hold too many.
template <class Stream>
bool Connection<Stream>::account_body() {
  const std::size_t held = parser_->get().body().size();
  core_.buffered += held - accounted_;
  accounted_ = held;
  return core_.buffered <= ServerCore::kMaxBuffered;
}

template <class Stream>
void Connection<Stream>::release_body() {
  core_.buffered -= accounted_;
  accounted_ = 0;
}

template <class Stream>
void Connection<Stream>::dispatch() {
  ++core_.requests;
  enter(State::working, kNever);
  parser_.reset();
  const bool is_stream =
      head_.request.method == "GET" && !head_.is_head && core_.streams.contains(head_.request.path);
  bool accepted = !is_stream || core_.open_streams < std::max<std::size_t>(core_.max_connections / 2, 1);
  if (is_stream && accepted) {
    std::weak_ptr<Connection> weak = self();
    auto wake = [weak, &io = core_.io] {
      asio::post(io, [weak] {
        if (const auto me = weak.lock()) me->pump_events();
      });
    };
    events_ = std::make_shared<EventQueue>(kMaxEventBytes, std::move(wake));
  }
  // The job gives the connection back to the io thread: it must not die on the worker's.
  accepted = accepted && core_.pool_of(head_.request.method).submit([me = self()]() mutable {
    me->run();
    auto& io = me->core_.io;
    asio::post(io, [done = std::move(me)] { done->after_run(); });
  });
  if (accepted) return;
  leave_stream();
  release_body();
  ++core_.refused_busy;
  auto busy = problem(503, "busy", "Server busy", "the queue of requests is full: try again later");
  busy.headers["retry-after"] = "1";
  stamp_problem(busy, head_.request.request_id);
  send(std::move(busy));
}

/// On a worker.
template <class Stream>
void Connection<Stream>::run() {
  const std::string accept_encoding{head_.request.header("accept-encoding").value_or("")};
  std::string cause;
  try {
    response_ = answer();
    if (response_.status < 200 || response_.status > 599)
      throw std::logic_error{"the handler answered with no status"};
    if (!becomes_stream_) compress_when_wanted(response_, accept_encoding);
  } catch (const std::exception& thrown) {
    cause = thrown.what();
  } catch (...) {
    cause = "unknown exception";
  }
  if (!cause.empty()) {
    const auto& request = head_.request;
    log::error("a request failed", {{"request_id", request.request_id},
                                    {"method", request.method},
                                    {"path", request.raw_path},
                                    {"cause", cause}});
    becomes_stream_ = false;
    response_ =
        problem(500, "internal", "Internal error", "report the request_id; the server's log says more");
  }
  stamp_problem(response_, head_.request.request_id);
  head_.request.body = {};
}

template <class Stream>
Response Connection<Stream>::answer() {
  Request& request = head_.request;
  if (head_.encoding != Encoding::identity) {
    const InflateLimits limits{core_.options.max_body_bytes, core_.options.max_decompression_ratio};
    std::string body;
    const auto inflated = decompress(head_.encoding, request.body, limits, body);
    if (inflated != Inflated::ok) ++core_.bad_requests;
    if (inflated == Inflated::broken)
      return problem(400, "bad_encoding", "Bad encoding", "the body is not what its Content-Encoding says");
    if (inflated == Inflated::too_large)
      return problem(
          413, "body_too_large", "Body too large",
          fmt::format("it unpacks to more than {} bytes or {} times its size: send several smaller requests",
                      limits.bytes, limits.ratio));
    request.body = std::move(body);
    request.headers.erase("content-encoding");
  }
  if (!events_) return core_.handler(request);
  auto refusal = core_.streams.find(request.path)->second(request, events_);
  if (refusal) return std::move(*refusal);
  becomes_stream_ = true;
  return {};
}

template <class Stream>
void Connection<Stream>::after_run() {
  release_body();
  if (state_ == State::closed) return;
  if (becomes_stream_) return enter_stream();
  leave_stream();
  send(std::move(response_));
}

template <class Stream>
void Connection<Stream>::refuse(Response response) {
  ++core_.bad_requests;
  keep_alive_ = false;
  parser_.reset();
  release_body();
  if (head_.request.request_id.empty()) head_.request.request_id = core_.ids.next();
  stamp_problem(response, head_.request.request_id);
  send(std::move(response));
}

template <class Stream>
void Connection<Stream>::send(Response response) {
  response_ = std::move(response);
  if (core_.stopping) keep_alive_ = false;
  out_ = head_text(response_, {keep_alive_, http_1_0_, head_.request.request_id, core_.date()});
  if (head_.is_head || !has_body(response_.status)) response_.body.clear();
  // Big answers get more time: at least 64 KiB a second.
  const auto size_bonus = std::chrono::seconds{response_.body.size() >> 16U};
  enter(State::writing, SteadyClock::now() + core_.options.idle_timeout + size_bonus);
  const auto done = [me = self()](error_code error, std::size_t) {
    if (!me->is_lost(error)) me->after_send();
  };
  if (response_.body.size() <= kJoinedWrite) {
    out_ += response_.body;
    asio::async_write(stream_, asio::buffer(out_), done);
  } else {
    const std::array<asio::const_buffer, 2> parts{asio::buffer(out_), asio::buffer(response_.body)};
    asio::async_write(stream_, parts, done);
  }
}

template <class Stream>
void Connection<Stream>::after_send() {
  response_ = {};
  if (keep_alive_) {
    next_request();
  } else {
    close_politely();
  }
}

template <class Stream>
void Connection<Stream>::enter_stream() {
  static constexpr std::string_view kHead =
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\n"
      "x-accel-buffering: no\r\nconnection: close\r\n";
  if (core_.stopping) return close_now();
  enter(State::streaming, kNever);
  ++core_.open_streams;
  ++core_.event_streams;
  streaming_counted_ = true;
  out_ = fmt::format("{}date: {}\r\nx-request-id: {}\r\n\r\n: open\n\n", kHead, core_.date(),
                     head_.request.request_id);
  head_ = {};
  watch_stream_peer();
  pump_events();
}

template <class Stream>
void Connection<Stream>::leave_stream() {
  if (events_) events_->close();
  events_.reset();
  if (streaming_counted_) {
    --core_.open_streams;
    --core_.event_streams;
  }
  streaming_counted_ = false;
}

template <class Stream>
void Connection<Stream>::pump_events() {
  if (state_ != State::streaming || writing_events_) return;
  if (!events_->open()) return close_now();  // too slow: dropped
  out_ += events_->take();
  if (out_.empty()) return;
  writing_events_ = true;
  last_event_ = SteadyClock::now();
  deadline_ = last_event_ + kEventWrite;
  asio::async_write(stream_, asio::buffer(out_), [me = self()](error_code error, std::size_t) {
    me->writing_events_ = false;
    if (me->is_lost(error)) return;
    me->deadline_ = kNever;
    me->out_.clear();
    me->pump_events();
  });
}

/// A stream's client has nothing to say; reading is how its going is noticed.
template <class Stream>
void Connection<Stream>::watch_stream_peer() {
  stream_.async_read_some(asio::buffer(core_.discarded), [me = self()](error_code error, std::size_t) {
    if (!me->is_lost(error)) me->watch_stream_peer();
  });
}

/// Says that nothing more comes and waits a little for the peer to close: closing with unread bytes would
/// make the kernel send a reset that overtakes our answer.
template <class Stream>
void Connection<Stream>::close_politely() {
  enter(State::closing, SteadyClock::now() + (core_.stopping ? kLastLinger : kLinger));
  buffer_ = beast::flat_buffer{};
  const auto shut = [](const std::shared_ptr<Connection>& me) {
    if (me->state_ == State::closed) return;
    error_code ignored;
    me->socket().shutdown(asio::socket_base::shutdown_send, ignored);
    me->discard_rest();
  };
  if constexpr (kTls) {
    // The peer's own "close notify" isn't waited for: it may still be sending a body.
    ::SSL_set_shutdown(stream_.native_handle(), SSL_RECEIVED_SHUTDOWN);
    stream_.async_shutdown([me = self(), shut](error_code) { shut(me); });
  } else {
    shut(self());
  }
}

template <class Stream>
void Connection<Stream>::discard_rest() {
  socket().async_read_some(asio::buffer(core_.discarded), [me = self()](error_code error, std::size_t got) {
    if (me->is_lost(error)) return;
    me->discarded_ += got;
    if (me->discarded_ > kMaxDiscarded) return me->close_now();
    me->discard_rest();
  });
}

template <class Stream>
void Connection<Stream>::check(SteadyClock::time_point now) {
  if (state_ == State::streaming && !writing_events_ && now - last_event_ >= kHeartbeat) {
    out_ = ": still here\n\n";
    pump_events();
  }
  if (now < deadline_) return;
  if (state_ != State::head && state_ != State::body) return close_now();
  timed_out_ = true;  // the read ends with an error and is answered with 408
  deadline_ = now + core_.options.read_timeout;
  error_code ignored;
  socket().cancel(ignored);
}

template <class Stream>
void Connection<Stream>::finish_soon() {
  keep_alive_ = false;
  if (state_ == State::idle || state_ == State::handshake || state_ == State::streaming ||
      state_ == State::closing)
    close_now();
}

template <class Stream>
void Connection<Stream>::close_now() {
  if (state_ == State::closed) return;
  enter(State::closed, kNever);
  leave_stream();
  error_code ignored;
  socket().close(ignored);
}

}  // namespace tidewatt::net
