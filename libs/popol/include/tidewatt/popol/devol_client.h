// A service's four operations over HTTP, from our side. See docs/api/devol.yaml.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/devol/evaluate.h"
#include "tidewatt/devol/objective.h"
#include "tidewatt/net/client.h"
#include "tidewatt/popol/actuator.h"

namespace tidewatt::popol {

struct ServiceSpec {
  std::string service;
  std::vector<std::string> parameters, metrics;
  std::vector<devol::Objective> objectives;
};

struct ServiceState {
  std::map<std::string, double> parameters;
  std::map<std::string, std::vector<devol::Sample>> samples;  ///< new ones
  std::uint64_t next = 0;                                     ///< to ask from the next time
  std::uint64_t dropped = 0;                                  ///< samples that nobody fetched in time
};

/// @error corrupt  names the field
Result<ServiceSpec> parse_spec(std::string_view text);
Result<ServiceState> parse_state(std::string_view text);

class DevolClient {
 public:
  /// @param url  "http://127.0.0.1:8000"
  DevolClient(std::string url, std::shared_ptr<net::HttpClient> http)
      : url_(std::move(url)), http_(std::move(http)) {}
  Result<ServiceSpec> spec();
  Result<ServiceState> state(std::uint64_t since);
  Status configure(const std::string& parameter, double value);

 private:
  Result<std::string> ask(const std::string& method, const std::string& path, std::string body);
  std::string url_;
  std::shared_ptr<net::HttpClient> http_;
};

/// A parameter of a service as a knob.
std::unique_ptr<Actuator> make_devol_actuator(std::shared_ptr<DevolClient> client, std::string parameter);

}  // namespace tidewatt::popol
