#include "server_sso.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tidewatt/net/client.h"
#include "tidewatt/oidc/sign_on.h"

namespace tidewatt::cli {
namespace {

using config::Kind;
using config::Setting;

constexpr std::string_view kTenant = "tenant:";
constexpr std::size_t kLargestAnswer = 1U << 20U;

/// "ops", "viewer" or "tenant:TEAM"; anything else is told.
std::optional<api::SsoRole> role_line(const std::string& value, const std::string& text,
                                      config::Settings& settings) {
  if (text.starts_with(kTenant) && text.size() > kTenant.size())
    return api::SsoRole{value, api::Role::tenant, text.substr(kTenant.size())};
  if (text == "ops") return api::SsoRole{value, api::Role::ops, {}};
  if (text == "viewer") return api::SsoRole{value, api::Role::viewer, {}};
  settings.add_problem(
      "oidc.roles",
      fmt::format("\"{}: {}\" names no role of people; known: ops, viewer, tenant:TEAM", value, text));
  return std::nullopt;
}

/// Where browsers reach this server: as set, else as it listens on this machine.
std::string public_url(config::Settings& settings, const ServerArguments& arguments) {
  std::string url = settings.text("oidc.public_url");
  while (url.ends_with('/')) url.pop_back();
  if (url.empty() && is_loopback(arguments.address) && arguments.port != 0) {
    const bool v6 = arguments.address.find(':') != std::string::npos;
    return fmt::format("{}://{}{}{}:{}", arguments.tls_certificate.empty() ? "http" : "https", v6 ? "[" : "",
                       arguments.address, v6 ? "]" : "", arguments.port);
  }
  if (url.empty()) {
    settings.add_problem("oidc.public_url",
                         "is missing: the issuer sends browsers back to it; give the URL that people type, "
                         "like https://tidewatt.example.org");
  } else if (auto problem = net::server_url_problem(url); !problem.empty()) {
    settings.add_problem("oidc.public_url", std::move(problem));
  }
  return url;
}

}  // namespace

std::vector<Setting> sso_settings() {
  return {
      Setting{
          .path = "oidc.issuer",
          .help =
              "OpenID Connect issuer for single sign-on, exactly as it writes itself; empty = tokens only.",
          .metavar = "URL"},
      Setting{.path = "oidc.client_id", .help = "This server's client id at the issuer."},
      Setting{.path = "oidc.client_secret",
              .kind = Kind::secret,
              .help = "The client's secret; none = a public client, which PKCE protects alone.",
              .env = "TIDEWATT_OIDC_CLIENT_SECRET"},
      Setting{
          .path = "oidc.public_url",
          .help = "Where browsers reach this server (default: the address it listens on, on this machine).",
          .metavar = "URL"},
      Setting{.path = "oidc.role_claim",
              .fallback = "groups",
              .help = "Claim of the ID token that says what somebody may do; dots lead into objects."},
      Setting{.path = "oidc.roles",
              .kind = Kind::map,
              .help = "Value of that claim -> ops, viewer or tenant:TEAM; the first that fits counts."},
      Setting{.path = "oidc.scopes",
              .fallback = "openid profile email",
              .help = "Scopes to ask for, parted by spaces; some issuers want one for groups."},
      Setting{.path = "oidc.ca_file",
              .help = "PEM file with a certificate to trust at the issuer besides the system's.",
              .metavar = "FILE"},
      Setting{.path = "oidc.timeout",
              .kind = Kind::duration,
              .fallback = "5s",
              .minimum = "500ms",
              .maximum = "30s",
              .help = "How long one answer of the issuer may take."},
  };
}

void take_sso(config::Settings& settings, ServerArguments& arguments, const FileSystem& files) {
  oidc::Options issuer;
  issuer.issuer = settings.text("oidc.issuer");
  if (issuer.issuer.empty()) {
    for (const char* other : {"oidc.client_id", "oidc.public_url", "oidc.roles", "oidc.ca_file"})
      if (settings.given(other)) settings.add_problem(other, "needs oidc.issuer: give it, or leave this out");
    return;
  }
  if (const auto problem = oidc::issuer_problem(issuer.issuer); !problem.empty())
    settings.add_problem("oidc.issuer", problem);
  issuer.client_id = settings.text("oidc.client_id");
  if (issuer.client_id.empty())
    settings.add_problem("oidc.client_id",
                         "is missing: give the client id that the issuer knows this server by");
  if (auto secret = settings.secret("oidc.client_secret", files)) {
    issuer.client_secret = std::move(*secret).value_or("");
  } else {
    settings.add_problem("oidc.client_secret", secret.error().to_string());
  }
  issuer.redirect_url = public_url(settings, arguments) + "/login/sso/callback";
  issuer.scopes = settings.text("oidc.scopes");
  if ((" " + issuer.scopes + " ").find(" openid ") == std::string::npos)
    settings.add_problem("oidc.scopes",
                         fmt::format("\"{}\" lacks openid: an issuer gives no ID token then", issuer.scopes));
  issuer.role_claim = settings.text("oidc.role_claim");
  issuer.most_exchanges = std::max<std::size_t>(1, arguments.workers / 2);
  api::SsoOptions sso;
  for (const auto& [value, text] : settings.map("oidc.roles"))
    if (auto line = role_line(value, text, settings)) sso.roles.push_back(*std::move(line));
  if (settings.map("oidc.roles").empty())
    settings.add_problem("oidc.roles",
                         "is missing: nobody could sign in; give lines like \"tidewatt-admins: ops\"");
  net::ClientOptions client;
  client.deadline = settings.duration("oidc.timeout");
  client.max_response_bytes = kLargestAnswer;
  client.ca_file = settings.text("oidc.ca_file");
  if (!client.ca_file.empty())
    if (const auto pem = files.read_text(client.ca_file); !pem)
      settings.add_problem("oidc.ca_file", pem.error().to_string());
  sso.issuer = std::move(issuer);
  sso.http = [client] { return net::make_http_client(client); };
  arguments.api.sso = std::move(sso);
}

}  // namespace tidewatt::cli
