#include "tidewatt/popol/devol_client.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tidewatt/units/text.h"

namespace tidewatt::popol {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostNames = 200, kLongestName = 100, kMostSamples = 200'000;

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::corrupt, what, "the service does not answer as docs/api/devol.yaml says");
}

/// The member `key` of every object of the list `name`, as short texts.
Result<std::vector<std::string>> names(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_array() || found->size() > kMostNames)
    return wrong(fmt::format("{} is no list", name));
  std::vector<std::string> all;
  for (const auto& one : *found) {
    const auto text = one.is_object() ? one.find("name") : one.end();
    if (!one.is_object() || text == one.end() || !text->is_string() ||
        text->get_ref<const std::string&>().size() > kLongestName)
      return wrong(fmt::format("{} holds an entry without a name", name));
    all.push_back(text->get<std::string>());
  }
  return all;
}

Status take_samples(const Json& list, const std::string& metric, ServiceState& state) {
  if (!list.is_array() || list.size() > kMostSamples) return wrong("samples of " + metric + " are no list");
  auto& samples = state.samples[metric];
  for (const auto& one : list) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_number_integer() || !one[1].is_number())
      return wrong("a sample of " + metric);
    const auto ms = one[0].get<std::int64_t>();
    constexpr std::int64_t kYear9999 = 253'402'300'799'999;
    if (ms < 0 || ms > kYear9999) return wrong("the time of a sample of " + metric);
    samples.push_back({UtcTime{Milliseconds{ms}}, one[1].get<double>()});
  }
  return {};
}

class DevolActuator final : public Actuator {
 public:
  DevolActuator(std::shared_ptr<DevolClient> client, std::string parameter)
      : client_(std::move(client)), parameter_(std::move(parameter)) {}

  [[nodiscard]] Result<double> read() const override {
    // Past every sample: only the parameters are asked for.
    TW_TRY(const auto state, client_->state(~std::uint64_t{0} >> 1U));
    const auto found = state.parameters.find(parameter_);
    if (found == state.parameters.end())
      return fail(ErrorCode::not_found, "the service has no parameter " + parameter_,
                  "GET /devol/v1/spec names them");
    return found->second;
  }
  [[nodiscard]] Result<std::string> dry_run(double value) const override {
    if (!std::isfinite(value)) return fail(ErrorCode::invalid_input, "no number");
    TW_TRY(const auto now, read());
    return fmt::format("PUT {} = {} (now {})", parameter_, format_double(value), format_double(now));
  }
  Status apply(double value) override { return client_->configure(parameter_, value); }

 private:
  std::shared_ptr<DevolClient> client_;
  std::string parameter_;
};

}  // namespace

Result<ServiceSpec> parse_spec(std::string_view text) {
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return wrong("the spec is no JSON object");
  ServiceSpec spec;
  if (const auto name = json.find("service"); name != json.end() && name->is_string())
    spec.service = name->get<std::string>();
  if (spec.service.empty() || spec.service.size() > kLongestName) return wrong("service has no short name");
  TW_TRY(spec.parameters, names(json, "parameters"));
  TW_TRY(spec.metrics, names(json, "metrics"));
  const auto objectives = json.find("objectives");
  if (objectives == json.end() || !objectives->is_array() || objectives->size() > kMostNames)
    return wrong("objectives is no list");
  for (const auto& one : *objectives) {
    if (!one.is_string()) return wrong("an objective is no text");
    auto objective = devol::parse_objective(one.get_ref<const std::string&>());
    if (!objective) return tl::unexpected(objective.error().with_context("objective of " + spec.service));
    spec.objectives.push_back(*std::move(objective));
  }
  return spec;
}

Result<ServiceState> parse_state(std::string_view text) {
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return wrong("the state is no JSON object");
  ServiceState state;
  const auto parameters = json.find("parameters");
  if (parameters == json.end() || !parameters->is_object() || parameters->size() > kMostNames)
    return wrong("parameters is no object");
  for (const auto& [name, value] : parameters->items())
    if (value.is_number()) state.parameters[name] = value.get<double>();
  const auto samples = json.find("samples");
  if (samples == json.end() || !samples->is_object() || samples->size() > kMostNames)
    return wrong("samples is no object");
  for (const auto& [name, list] : samples->items()) TW_TRY_STATUS(take_samples(list, name, state));
  const auto next = json.find("next");
  if (next == json.end() || !next->is_number_unsigned()) return wrong("next is no count");
  state.next = next->get<std::uint64_t>();
  if (const auto dropped = json.find("dropped"); dropped != json.end() && dropped->is_number_unsigned())
    state.dropped = dropped->get<std::uint64_t>();
  return state;
}

Result<std::string> DevolClient::ask(const std::string& method, const std::string& path, std::string body) {
  net::ClientRequest request;
  request.method = method;
  request.url = url_ + path;
  if (!body.empty()) request.headers["content-type"] = "application/json";
  request.body = std::move(body);
  auto answer = http_->send(request);
  if (!answer) return tl::unexpected(answer.error().with_context("service at " + url_));
  if (answer->status != 200)
    return fail(ErrorCode::unavailable, fmt::format("service at {} answers {} {} with status {}", url_,
                                                    method, path, answer->status));
  return std::move(answer->body);
}

Result<ServiceSpec> DevolClient::spec() {
  TW_TRY(const auto text, ask("GET", "/devol/v1/spec", ""));
  return parse_spec(text);
}
Result<ServiceState> DevolClient::state(std::uint64_t since) {
  TW_TRY(const auto text, ask("GET", fmt::format("/devol/v1/state?since={}", since), ""));
  return parse_state(text);
}
Status DevolClient::configure(const std::string& parameter, double value) {
  TW_TRY(const auto unused, ask("PUT", "/devol/v1/config", Json{{parameter, value}}.dump()));
  (void)unused;
  return {};
}

std::unique_ptr<Actuator> make_devol_actuator(std::shared_ptr<DevolClient> client, std::string parameter) {
  return std::make_unique<DevolActuator>(std::move(client), std::move(parameter));
}

}  // namespace tidewatt::popol
