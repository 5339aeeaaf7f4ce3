// An API over a ledger in memory, with clocks set by hand and no sockets.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/api/api.h"
#include "tidewatt/store/memory.h"
#include "tidewatt/testing/manual_clock.h"
#include "tidewatt/units/time.h"

namespace tidewatt::api::testing {

using Json = nlohmann::json;

/// Different every time; not random at all.
class CountingRng final : public Rng {
 public:
  std::uint64_t next() override { return ++count_ * 0x9E3779B97F4A7C15U; }

 private:
  std::uint64_t count_ = 0;
};

inline UtcTime at(std::string_view text) { return parse_rfc3339(text).value(); }

class ApiTest : public ::testing::Test {
 protected:
  explicit ApiTest(ApiOptions options = make_options()) { restart(std::move(options)); }

  static ApiOptions make_options() {
    ApiOptions options;
    options.version = "1.2.3";
    options.server_run = "run-1";
    options.factor.factor.source = "placeholder";
    return options;
  }
  static carbon::FactorInForce configured_factor() {
    carbon::FactorInForce factor;
    factor.factor = {carbon::KilogramsPerKwh{0.5}, carbon::Gas::co2e, "utility 2025", true, 2025};
    return factor;
  }

  /// The same store under new options, as after a restart.
  void restart(ApiOptions options) {
    api_ = std::make_unique<Api>(*store_, ledger_, clock_, rng_, std::move(options));
  }

  std::string token(Role role, const std::string& team = {}) {
    return api_->access().create_token("t", role, team, std::nullopt, "test")->secret;
  }

  /// `target` as in a request line: path and query, percent-encoded.
  net::Request request(const std::string& method, const std::string& target, const std::string& bearer = {},
                       const std::string& body = {}) {
    net::Request made;
    made.method = method;
    const auto question = target.find('?');
    made.raw_path = target.substr(0, question);
    made.path = made.raw_path;
    std::string rest = question == std::string::npos ? std::string{} : target.substr(question + 1);
    while (!rest.empty()) {
      const auto ampersand = rest.find('&');
      const std::string pair = rest.substr(0, ampersand);
      rest = ampersand == std::string::npos ? std::string{} : rest.substr(ampersand + 1);
      const auto equals = pair.find('=');
      made.query_items.emplace_back(pair.substr(0, equals),
                                    equals == std::string::npos ? std::string{} : pair.substr(equals + 1));
      made.query.insert_or_assign(made.query_items.back().first, made.query_items.back().second);
    }
    if (!bearer.empty()) made.headers["authorization"] = "Bearer " + bearer;
    made.body = body;
    made.remote_address = "192.0.2.7";
    made.request_id = "r1";
    return made;
  }
  net::Response call(const std::string& method, const std::string& target, const std::string& bearer = {},
                     const std::string& body = {}) {
    return api_->handle(request(method, target, bearer, body));
  }
  Json get(const std::string& target, const std::string& bearer) {
    const auto response = call("GET", target, bearer);
    EXPECT_EQ(response.status, 200) << target << ": " << response.body;
    return Json::parse(response.body, nullptr, false);
  }

  /// One beat of a node with one card; watts absent = unknown.
  static std::string beat(const std::string& node, std::string_view time, std::optional<double> watts,
                          const std::vector<std::string>& holders = {},
                          const std::string& quality = "measured") {
    Json card{{"index", 0},       {"uuid", node + "-0"}, {"model", "H100"},
              {"source", "nvml"}, {"quality", quality},  {"power_limit_watts", 700}};
    if (watts) card["power_watts"] = *watts;
    card["holders"] = Json::array();
    for (const auto& holder : holders) card["holders"].push_back({{"task_id", holder}});
    return Json{{"schema", "v1"}, {"node_id", node}, {"sampled_at", time}, {"gpu_stats", Json::array({card})}}
        .dump();
  }
  Json post(const std::string& body) {
    if (agent_.empty()) agent_ = token(Role::agent);
    const auto response = call("POST", "/api/v1/heartbeats", agent_, body);
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body, nullptr, false);
  }
  /// A minute of 360 W on card 0: 21,600 J, 6 Wh; ends at 10:01.
  void one_minute(const std::string& node, const std::vector<std::string>& holders = {}) {
    post(beat(node, "2026-03-01T10:00:00Z", 360, holders));
    post(beat(node, "2026-03-01T10:01:00Z", 360, holders));
  }

  ::tidewatt::testing::ManualClock clock_{at("2026-03-01T10:01:10Z")};
  CountingRng rng_;
  std::unique_ptr<ledger::Store> store_ = store::make_memory_store();
  ledger::Ledger ledger_{*store_, ledger::Rules{}};
  std::unique_ptr<Api> api_;
  std::string agent_;
};

}  // namespace tidewatt::api::testing
