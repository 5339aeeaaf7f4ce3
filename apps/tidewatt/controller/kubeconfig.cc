// A kubeconfig, as far as a controller needs it. yaml-cpp reports by exception: it is wrapped here.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "kube_api.h"
#include "tidewatt/k8s/base64.h"

namespace tidewatt::cli {
namespace {

std::string text_of(const YAML::Node& node, const char* key) {
  return node.IsMap() && node[key] && node[key].IsScalar() ? node[key].as<std::string>() : std::string{};
}

/// clusters, users and contexts are lists of {name, <what>: {...}}.
YAML::Node named(const YAML::Node& root, const char* list, const char* what, const std::string& name) {
  if (root[list] && root[list].IsSequence())
    for (const auto& entry : root[list])
      if (text_of(entry, "name") == name && entry[what]) return entry[what];
  return YAML::Node{};
}

/// As kubectl: paths are relative to the file.
std::string beside(const std::string& file, const std::string& path) {
  if (path.empty() || path.starts_with('/')) return path;
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? path : file.substr(0, slash + 1) + path;
}

Status take_user(const YAML::Node& user, const std::string& path, KubeAccess& access) {
  if (!access.token_file.empty()) return {};
  access.token = text_of(user, "token");
  access.token_file = beside(path, text_of(user, "tokenFile"));
  if (!access.token.empty() || !access.token_file.empty() || !user.IsMap() || user.size() == 0) return {};
  return fail(ErrorCode::invalid_input,
              fmt::format("{}: the user of its context signs in without a token", path),
              "client certificates and exec plug-ins aren't read: give --api-token-file");
}

Status apply(const YAML::Node& root, const std::string& path, KubeAccess& access) {
  const auto current = text_of(root, "current-context");
  const auto context = root.IsMap() ? named(root, "contexts", "context", current) : YAML::Node{};
  const auto cluster =
      context.IsMap() ? named(root, "clusters", "cluster", text_of(context, "cluster")) : context;
  if (!cluster.IsMap() || text_of(cluster, "server").empty())
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: its current context names no cluster with a server", path),
                "kubectl config use-context NAME sets one");
  if (access.url.empty()) access.url = text_of(cluster, "server");
  if (const auto problem = net::server_url_problem(access.url); !problem.empty())
    return fail(ErrorCode::invalid_input, fmt::format("{}: {}", path, problem));
  if (access.ca_file.empty()) {
    access.ca_file = beside(path, text_of(cluster, "certificate-authority"));
    if (const auto data = text_of(cluster, "certificate-authority-data"); !data.empty()) {
      const auto pem = k8s::from_base64(data);
      if (!pem)
        return fail(ErrorCode::invalid_input,
                    fmt::format("{}: certificate-authority-data is no base64", path));
      access.ca_pem = *pem;
    }
  }
  if (const auto space = text_of(context, "namespace");
      !space.empty() && access.name_space == KubeAccess{}.name_space)
    access.name_space = space;
  return take_user(named(root, "users", "user", text_of(context, "user")), path, access);
}

}  // namespace

Status apply_kubeconfig(std::string_view text, const std::string& path, KubeAccess& access) {
  try {
    return apply(YAML::Load(std::string{text}), path, access);
  } catch (const YAML::Exception& error) {
    // Not what() whole: it may quote the token's line.
    return fail(ErrorCode::invalid_input,
                fmt::format("{}:{}: {}", path, error.mark.line + 1, "this is no YAML of a kubeconfig"));
  }
}

}  // namespace tidewatt::cli
