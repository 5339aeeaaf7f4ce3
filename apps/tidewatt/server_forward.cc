#include "server_forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tidewatt/base/log.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

constexpr Milliseconds kGather{1'000};  ///< a request waits so long for more
constexpr Milliseconds kFirstPause{1'000};
constexpr Milliseconds kLongestPause{60'000};
constexpr std::size_t kMostTokenBytes = 4'096;
constexpr int kTooManyRequests = 429;
constexpr std::string_view kBearer = "Bearer ";

std::size_t samples_of(const auto& rounds) {
  std::size_t n = 0;
  for (const auto& round : rounds) n += round.devices.size();
  return n;
}

}  // namespace

std::vector<config::Setting> forward_settings() {
  using config::Setting;
  return {
      Setting{.path = "forward.url",
              .help = "Receiver of remote_write that booked power is also sent to, such as "
                      "http://victoria:8428/api/v1/write; empty = none.",
              .metavar = "URL"},
      Setting{.path = "forward.token_file", .help = "File with its bearer token.", .metavar = "FILE"},
      Setting{.path = "forward.ca_file",
              .help = "PEM file with a certificate to trust there besides the system's.",
              .metavar = "FILE"},
  };
}

ForwardSettings forward_from(config::Settings& settings) {
  ForwardSettings out{settings.text("forward.url"), settings.text("forward.token_file"),
                      settings.text("forward.ca_file")};
  if (!out.url.empty() && !out.url.starts_with("http://") && !out.url.starts_with("https://"))
    settings.add_problem("forward.url", "is no http:// or https:// address");
  if (const auto host =
          out.url.substr(out.url.find("://") == std::string::npos ? 0 : out.url.find("://") + 3);
      host.substr(0, host.find('/')).find('@') != std::string::npos)
    settings.add_problem("forward.url",
                         "holds a user or a password, which would be in logs: use forward.token_file");
  if (out.url.empty() && !(out.token_file.empty() && out.ca_file.empty()))
    settings.add_problem("forward.url", "is missing: a token or certificate for it is given");
  return out;
}

RemoteWriteForward::RemoteWriteForward(ForwardSettings settings, const FileSystem& files)
    : settings_(std::move(settings)), files_(files) {
  net::ClientOptions options;
  options.max_response_bytes = 1U << 20U;
  options.ca_file = settings_.ca_file;
  options.how_to_give_ca = "forward.ca_file";
  client_ = net::make_http_client(options);
  thread_ = std::thread{[this] { run(); }};
}

RemoteWriteForward::~RemoteWriteForward() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (const auto left = samples_of(waiting_); left > 0)
    log::warning("stopped with power that wasn't forwarded", {{"samples", std::to_string(left)}});
}

void RemoteWriteForward::add(api::PowerRound round) {
  const std::lock_guard lock{mutex_};
  counts_.waiting += round.devices.size();
  waiting_.push_back(std::move(round));
  while (counts_.waiting > kMostWaiting) {
    const auto lost = waiting_.front().devices.size();
    counts_.waiting -= lost;
    counts_.dropped += lost;
    waiting_.pop_front();
  }
  if (counts_.waiting >= kMostInRequest) wake_.notify_one();
}

api::ForwardCounts RemoteWriteForward::counts() const {
  const std::lock_guard lock{mutex_};
  return counts_;
}

std::vector<api::PowerRound> RemoteWriteForward::next_batch() {
  std::unique_lock lock{mutex_};
  wake_.wait_for(lock, kGather, [this] { return stopping_ || counts_.waiting >= kMostInRequest; });
  std::vector<api::PowerRound> batch;
  for (std::size_t samples = 0; !waiting_.empty() && samples < kMostInRequest;) {
    samples += waiting_.front().devices.size();
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return batch;
}

std::string RemoteWriteForward::body_of(const std::vector<api::PowerRound>& batch) {
  using Labels = std::vector<std::pair<std::string, std::string>>;
  std::map<Labels, std::vector<remote_write::Sample>> series;
  for (const auto& round : batch)
    for (const auto& device : round.devices) {
      // In the order of their names, as receivers want them.
      Labels labels{{"__name__", "tidewatt_device_power_watts"},
                    {"cluster", round.cluster},
                    {"device", std::to_string(device.index)},
                    {"domain", device.domain},
                    {"node", round.node_id},
                    {"quality", std::string{to_string(device.quality)}}};
      if (!device.uuid.empty()) labels.emplace_back("uuid", device.uuid);
      series[std::move(labels)].push_back({round.at, device.power.value()});
    }
  std::vector<remote_write::Series> all;
  for (auto& [labels, samples] : series) {
    std::stable_sort(samples.begin(), samples.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    all.push_back({labels, std::move(samples)});
  }
  return remote_write::make_write_request(all);
}

RemoteWriteForward::Sent RemoteWriteForward::send(const std::string& body) {
  net::ClientRequest request{"POST", settings_.url, {}, body};
  request.headers["content-type"] = "application/x-protobuf";
  request.headers["content-encoding"] = "snappy";
  request.headers["x-prometheus-remote-write-version"] = "0.1.0";
  if (!settings_.token_file.empty()) {
    const auto token = files_.read_text(settings_.token_file, kMostTokenBytes);
    if (!token) {
      trouble_ = token.error().to_string();
      return Sent::later;
    }
    request.headers["authorization"] = std::string{kBearer} + std::string{trim(*token)};
  }
  const auto answer = client_->send(request);
  if (!answer) {
    trouble_ = answer.error().to_string();
    return Sent::later;
  }
  if (answer->status >= 200 && answer->status < 300) return Sent::taken;
  // Some receivers send a request's headers back.
  const auto& sent = request.headers["authorization"];
  const auto token = std::string_view{sent}.substr(std::min<std::size_t>(sent.size(), kBearer.size()));
  if (!token.empty() && answer->body.find(token) != std::string::npos)
    trouble_ = fmt::format("HTTP {}; its text holds the token and isn't shown", answer->status);
  else
    trouble_ =
        fmt::format("HTTP {}: {}", answer->status, trim(std::string_view{answer->body}.substr(0, 200)));
  // A wrong address or token is mended by an operator, not by throwing data away.
  const bool later = answer->status < 400 || answer->status >= 500 || answer->status == kTooManyRequests ||
                     answer->status == 401 || answer->status == 403 || answer->status == 404;
  return later ? Sent::later : Sent::refused;
}

void RemoteWriteForward::tell(Sent outcome) {
  const bool failing = outcome != Sent::taken;
  if (failing && !failing_)
    log::warning(outcome == Sent::refused
                     ? "the receiver refuses forwarded power: these samples are left out"
                     : "power can't be forwarded: it waits, and the oldest is dropped when "
                       "there is no more room",
                 {{"url", settings_.url}, {"error", trouble_}});
  if (!failing && failing_) log::info("power is forwarded again", {{"url", settings_.url}});
  failing_ = failing;
}

void RemoteWriteForward::run() {
  auto pause = kFirstPause;
  for (;;) {
    auto batch = next_batch();
    {
      const std::lock_guard lock{mutex_};
      if (stopping_ && batch.empty()) return;
    }
    if (batch.empty()) continue;
    const auto samples = samples_of(batch);
    const auto outcome = send(body_of(batch));
    tell(outcome);
    std::unique_lock lock{mutex_};
    if (outcome == Sent::later) {
      for (auto round = batch.rbegin(); round != batch.rend(); ++round)
        waiting_.push_front(std::move(*round));
      if (stopping_) return;
      wake_.wait_for(lock, pause, [this] { return stopping_; });
      pause = std::min(pause * 2, kLongestPause);
      if (stopping_) return;
      continue;
    }
    pause = kFirstPause;
    counts_.waiting -= samples;
    (outcome == Sent::taken ? counts_.sent : counts_.refused) += samples;
  }
}

}  // namespace tidewatt::cli
