// A provider in memory: answers by what the URL holds, counts what it was asked.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tidewatt/emma/emma.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::emma::testing {

using namespace std::chrono_literals;

class FakeUpstream {
 public:
  using Answer = std::function<Result<net::Response>(const net::ClientRequest&)>;
  /// The first that fits counts; later added ones come first.
  void answer(std::string part, Answer answer) {
    const std::scoped_lock lock{mutex_};
    pages_.insert(pages_.begin(), {std::move(part), std::move(answer)});
  }
  void answer(std::string part, int status, std::string body, net::Headers headers = {}) {
    answer(std::move(part),
           [=](const auto&) -> Result<net::Response> { return net::Response{status, headers, body}; });
  }
  [[nodiscard]] int times(const std::string& part) const {
    const std::scoped_lock lock{mutex_};
    int count = 0;
    for (const auto& url : asked_) count += url.find(part) != std::string::npos ? 1 : 0;
    return count;
  }
  HttpFactory factory() {
    return [this] { return std::make_unique<Client>(*this); };
  }

 private:
  class Client final : public net::HttpClient {
   public:
    explicit Client(FakeUpstream& web) : web_{web} {}
    Result<net::Response> stream(const net::ClientRequest& request, const net::Streaming&) override {
      return send(request);
    }
    Result<net::Response> send(const net::ClientRequest& request) override {
      Answer answer;
      {
        const std::scoped_lock lock{web_.mutex_};
        web_.asked_.push_back(request.url);
        for (const auto& [part, page] : web_.pages_)
          if (request.url.find(part) != std::string::npos) {
            answer = page;
            break;
          }
      }
      return answer ? answer(request) : net::Response{404, {}, ""};
    }

   private:
    FakeUpstream& web_;
  };

  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, Answer>> pages_;
  std::vector<std::string> asked_;
};

inline UtcTime at(std::string_view text) { return parse_rfc3339(text).value(); }

/// A row of Electricity Maps.
inline std::string row(UtcTime start, double grams, const std::string& zone = "DE") {
  return fmt::format(
      R"({{"zone":"{}","carbonIntensity":{},"datetime":"{}","emissionFactorType":"lifecycle","isEstimated":false}})",
      zone, grams, format_rfc3339(start));
}

inline std::string history(UtcTime end, int hours, double grams = 300) {
  std::string rows;
  for (int back = hours; back >= 1; --back) {
    const UtcTime start = end - back * std::chrono::hours{1};
    const auto hour = static_cast<double>(start.time_since_epoch() / 1h % 24);
    rows += (rows.empty() ? "" : ",") + row(start, grams + hour);
  }
  return R"({"zone":"DE","history":[)" + rows + "]}";
}

inline std::string forecast(UtcTime begin, int hours, double grams = 350) {
  std::string rows;
  for (int hour = 0; hour < hours; ++hour)
    rows += fmt::format(R"({}{{"carbonIntensity":{},"datetime":"{}"}})", hour ? "," : "", grams,
                        format_rfc3339(begin + hour * std::chrono::hours{1}));
  return R"({"zone":"DE","forecast":[)" + rows + R"(],"updatedAt":")" + format_rfc3339(begin) + R"("})";
}

/// A zone DE on Electricity Maps at 12:20.
struct World {
  FakeUpstream web;
  ::tidewatt::testing::FakeFileSystem files;
  ::tidewatt::testing::ManualClock clock{at("2026-03-10T12:20:00Z")};
  UtcTime hour = at("2026-03-10T12:00:00Z");
  std::unique_ptr<Emma> emma;

  explicit World(const std::string& chain = "electricitymaps", const std::string& zone = "DE") {
    start(chain, zone);
  }
  void start(const std::string& chain = "electricitymaps", const std::string& zone = "DE") {
    Options options;
    options.zones.push_back(carbon::parse_chain(zone, chain).value());
    options.secrets = {"em-token", "user", "pass", "key", "peer-token", "entsoe-token"};
    options.cache_folder = "/data/carbon";
    emma = std::make_unique<Emma>(std::move(options), web.factory(), files, clock);
  }
  void healthy(int history_hours = 24) {
    web.answer("/latest", 200, row(hour, 280));
    web.answer("/history", 200, history(hour, history_hours));
    web.answer("/forecast", 200, forecast(hour, 72));
  }
  carbon::ZoneStatus look(const std::string& zone = "DE") { return emma->zone(zone).value(); }
};

}  // namespace tidewatt::emma::testing
