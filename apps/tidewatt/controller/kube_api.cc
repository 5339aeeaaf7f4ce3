#include "kube_api.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <utility>

#include "../input.h"
#include "../server_access.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

constexpr std::string_view kAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount/";
constexpr std::size_t kLargestToken = 64U << 10U;
constexpr std::size_t kLargestKubeconfig = 4U << 20U;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

std::string account_file(std::string_view name) { return std::string{kAccountFolder} + std::string{name}; }

}  // namespace

void KubeAccess::add_options(CLI::App& command) {
  command
      .add_option("--api-server", url,
                  "URL of the cluster's API server (default: the kubeconfig's, else the pod's own)")
      ->check(url_problem);
  command
      .add_option("--api-token-file", token_file, "File with the token for it; read anew for each request")
      ->type_name("FILE");
  command.add_option("--api-ca-file", ca_file, "PEM of the authority that signed its certificate")
      ->type_name("FILE");
  command.add_option("--kubeconfig", kubeconfig, "Kubeconfig with a token (default: KUBECONFIG)")
      ->type_name("FILE");
  command.add_option("--namespace", name_space, "Where the Lease lies (default: the pod's own)");
}

Status KubeAccess::complete() {
  if (kubeconfig.empty() && url.empty()) kubeconfig = environment("KUBECONFIG");
  if (!kubeconfig.empty()) {
    TW_TRY(const auto text, read_all(kubeconfig, kLargestKubeconfig));
    return apply_kubeconfig(text, kubeconfig, *this);
  }
  if (!url.empty()) return {};
  const auto host = environment("KUBERNETES_SERVICE_HOST");
  if (host.empty())
    return fail(ErrorCode::invalid_input, "no API server is named, and this is no pod",
                "give --kubeconfig FILE or --api-server URL");
  const auto port = environment("KUBERNETES_SERVICE_PORT");
  url = fmt::format("https://{}:{}", host.find(':') == std::string::npos ? host : "[" + host + "]",
                    port.empty() ? "443" : port);
  if (token_file.empty()) token_file = account_file("token");
  if (ca_file.empty()) ca_file = account_file("ca.crt");
  if (name_space == KubeAccess{}.name_space)
    if (const auto own = read_all(account_file("namespace"), kLargestToken)) name_space = trim(*own);
  return {};
}

KubeApi::KubeApi(KubeAccess access, Milliseconds deadline, std::size_t most_bytes)
    : access_(std::move(access)) {
  while (access_.url.ends_with('/')) access_.url.pop_back();
  net::ClientOptions options;
  options.deadline = deadline;
  options.max_response_bytes = most_bytes;
  options.ca_file = access_.ca_file;
  options.ca_pem = access_.ca_pem;
  client_ = net::make_http_client(options);
}

Result<net::ClientRequest> KubeApi::made(const std::string& method, const std::string& path) const {
  net::ClientRequest request;
  request.method = method;
  request.url = access_.url + path;
  request.headers["accept"] = "application/json";
  std::string token = access_.token;
  if (!access_.token_file.empty()) {
    TW_TRY(const auto text, read_all(access_.token_file, kLargestToken));
    token = trim(text);
  }
  if (!token.empty()) request.headers["authorization"] = "Bearer " + token;
  return request;
}

Result<net::Response> KubeApi::ask(const std::string& method, const std::string& path, std::string body,
                                   std::string content_type) {
  TW_TRY(auto request, made(method, path));
  request.body = std::move(body);
  if (!request.body.empty()) request.headers["content-type"] = std::move(content_type);
  return client_->send(request);
}

Result<net::Response> KubeApi::watch(const std::string& path, const net::Streaming& streaming) {
  TW_TRY(const auto request, made("GET", path));
  return client_->stream(request, streaming);
}

}  // namespace tidewatt::cli
