#include "tidewatt/agent/sender.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidewatt/base/log.h"
#include "tidewatt/net/compress.h"

namespace tidewatt::agent {
namespace {

constexpr std::chrono::minutes kBetweenReasons{1};

std::string json_array(const std::vector<SpoolRecord>& batch) {
  std::size_t size = 2;
  for (const auto& record : batch) size += record.payload.size() + 1;
  std::string body;
  body.reserve(size);
  for (const auto& record : batch) {
    body += body.empty() ? '[' : ',';
    body += record.payload;
  }
  body += ']';
  return body;
}

}  // namespace

Sender::Sender(Spool& spool, const Clock& clock, Rng& rng, TokenSource token, SenderOptions options)
    : spool_(spool),
      clock_(clock),
      rng_(rng),
      token_source_(std::move(token)),
      options_(std::move(options)),
      batch_limit_(options_.max_beats) {}

std::optional<SteadyTime> Sender::step(net::HttpClient& client) {
  if (clock_.mono_now() < not_before_) return not_before_;
  const auto batch = spool_.peek(batch_limit_, options_.max_bytes);
  if (batch.empty()) return std::nullopt;
  send(client, batch);
  return std::max(not_before_, clock_.mono_now());
}

void Sender::last_attempt(net::HttpClient& client) {
  const auto batch = spool_.peek(batch_limit_, options_.max_bytes);
  if (!batch.empty()) send(client, batch);
}

void Sender::send(net::HttpClient& client, const std::vector<SpoolRecord>& batch) {
  if (!token_read_) read_token();
  const net::ClientRequest request = request_for(batch);
  Verdict verdict = judge(client.send(request), batch.size(), clock_.utc_now());
  if (verdict.reread_token && read_token()) {
    // Rotated while we ran: the new one gets its try at once.
    verdict.back_off = false;
  }
  apply(verdict, batch);
}

net::ClientRequest Sender::request_for(const std::vector<SpoolRecord>& batch) const {
  net::ClientRequest request;
  request.method = "POST";
  request.url = options_.url;
  request.headers["content-type"] = "application/json";
  if (!options_.user_agent.empty()) request.headers["user-agent"] = options_.user_agent;
  if (token_) request.headers["authorization"] = "Bearer " + *token_;
  request.body = json_array(batch);
  if (request.body.size() > options_.gzip_above) {
    request.body = net::gzip(request.body);
    request.headers["content-encoding"] = "gzip";
  }
  return request;
}

void Sender::apply(const Verdict& verdict, const std::vector<SpoolRecord>& batch) {
  for (const auto& rejection : verdict.rejections) {
    log::error("the server refuses beats for good; they are dropped",
               {{"reason", rejection.reason},
                {"beats", std::to_string(rejection.beats)},
                {"first_id", std::to_string(batch[rejection.first].id)}});
  }
  if (verdict.done > 0) spool_.acknowledge(batch[verdict.done - 1].id);
  if (verdict.smaller_batches) {
    batch_limit_ = std::max<std::size_t>(batch.size() / 2, 1);
  } else if (verdict.done == batch.size()) {
    batch_limit_ = std::min(batch_limit_ * 2, options_.max_beats);
  }
  const SteadyTime now = clock_.mono_now();
  {
    const std::lock_guard lock(mutex_);
    ++stats_.attempts;
    stats_.sent += verdict.accepted + verdict.duplicates;
    stats_.duplicates += verdict.duplicates;
    for (const auto& rejection : verdict.rejections) stats_.rejected += rejection.beats;
    if (verdict.accepted + verdict.duplicates > 0) stats_.last_success = now;
    if (verdict.back_off) ++stats_.failures;
  }
  enter(verdict.link, verdict.trouble);
  if (verdict.back_off) {
    // Progress ends a row of failures: the server is there, it only wants a pause.
    if (verdict.done > 0) back_off_.reset();
    const Milliseconds jittered = back_off_.next(rng_);
    // Jitter on top, so that all who were told the same second don't come in it.
    not_before_ = now + (verdict.retry_after ? *verdict.retry_after + jittered : jittered);
  } else {
    back_off_.reset();
    not_before_ = now;
  }
}

void Sender::enter(Link link, const std::string& trouble) {
  const SteadyTime now = clock_.mono_now();
  {
    const std::lock_guard lock(mutex_);
    // Another reason for the same state is news too, but reasons may alternate for hours.
    const bool news =
        link != Link::delivering && trouble != logged_trouble_ && now - logged_at_ >= kBetweenReasons;
    if (stats_.link == link && !news) return;
    stats_.link = link;
  }
  logged_trouble_ = trouble;
  logged_at_ = now;
  if (link == Link::delivering) {
    log::info("beats are delivered", {{"server", options_.url}});
    return;
  }
  log::warning("beats are not delivered; they are kept and sent later",
               {{"state", to_string(link)},
                {"server", options_.url},
                {"error", trouble},
                {"waiting", std::to_string(spool_.stats().waiting)}});
}

bool Sender::read_token() {
  auto read = token_source_();
  token_read_ = read.has_value();
  if (!read) {
    // Sent without: the server's 401 then says the same, and a later try reads the file again.
    if (token_trouble_ != read.error().message) {
      token_trouble_ = read.error().message;
      log::error("the token can't be read; write the agent's token there",
                 {{"error", read.error().to_string()}});
    }
    return false;
  }
  token_trouble_.clear();
  if (!*read && !no_token_told_)
    log::warning("no token was given: the server refuses beats without one",
                 {{"todo", "give --token-file, or set TIDEWATT_TOKEN"}});
  no_token_told_ = !*read;
  const bool changed = *read != token_;
  token_ = std::move(*read);
  return changed;
}

SenderStats Sender::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace tidewatt::agent
