#include "server_access.h"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "command.h"
#include "input.h"
#include "server_settings.h"
#include "tidewatt/net/client.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

constexpr Milliseconds kDeadline{15'000};
constexpr std::string_view kServiceDataFolder = "/var/lib/tidewatt";  // as tidewatt-server.service
constexpr Milliseconds kLongDeadline{600'000};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

/// Where a server, a demo of this user and the installed service keep the operator's token unless told
/// otherwise.
std::vector<std::string> default_token_files() {
  return {default_data_folder() + "/ops.token", default_data_folder() + "/demo/ops.token",
          std::string{kServiceDataFolder} + "/ops.token"};
}

/// Those files, where `access` asks this machine: another one is never shown this one's token unasked.
std::vector<std::string> own_token_files(const ServerAccess& access) {
  auto host = access.url.substr(access.url.find("//") + 2);
  host = host.substr(0, host.find_first_of("/?#"));
  host = host.starts_with('[') ? host.substr(1, host.find(']') - 1) : host.substr(0, host.find(':'));
  if (host != "localhost" && !is_loopback(host)) return {};
  return default_token_files();
}

std::string token_hint(const ServerAccess& access) {
  if (!access.token_file.empty()) return fmt::format("tried the token of {}", access.token_file);
  if (!environment("TIDEWATT_TOKEN").empty()) return "tried the token in TIDEWATT_TOKEN";
  const auto files = own_token_files(access);
  if (files.empty()) return "give --token-file, or set TIDEWATT_TOKEN";
  return fmt::format("tried {}; give --token-file, or set TIDEWATT_TOKEN", fmt::join(files, ", "));
}

/// The tokens to try, in order; none is also a way to ask.
Result<std::vector<std::string>> tokens_of(const ServerAccess& access) {
  if (access.anonymous) return std::vector<std::string>{std::string{}};
  if (!access.token_file.empty()) {
    const auto text = read_all(access.token_file);
    if (!text)
      return tl::unexpected(Error{text.error().code, "--token-file: " + text.error().message,
                                  "the server names its token files when it starts"});
    if (trim(*text).empty())
      return fail(ErrorCode::invalid_input, fmt::format("--token-file: {} is empty", access.token_file));
    return std::vector<std::string>{std::string(trim(*text))};
  }
  if (auto token = environment("TIDEWATT_TOKEN"); !token.empty()) return std::vector<std::string>{token};
  std::vector<std::string> tokens;
  for (const auto& file : own_token_files(access))
    if (const auto text = read_all(file)) tokens.emplace_back(trim(*text));
  if (tokens.empty()) tokens.emplace_back();
  return tokens;
}

/// Whether that port speaks TLS, or plain HTTP, in spite of the URL: the other way answers.
bool answers_as(std::string_view scheme, const std::string& base) {
  net::ClientOptions options;
  options.deadline = Milliseconds{3'000};
  options.insecure = true;  // nothing is sent but the question whether it is there
  net::ClientRequest request;
  request.url = std::string{scheme} + base.substr(base.find("://") + 3) + "/healthz";
  return net::make_http_client(options)->send(request).has_value();
}

/// "GET http://host:1/path: can't connect" says the URL well enough, but the path isn't the reader's.
Error unreachable(const Error& error, const net::ClientRequest& asked, const std::string& base) {
  const auto request = fmt::format("{} {}: ", asked.method, asked.url.substr(0, asked.url.find('?')));
  Error told = error;
  if (told.message.starts_with(request)) told.message.erase(0, request.size());
  told = told.with_context(base);
  const bool tls = base.starts_with("https://");
  const bool refused = error.message.find("can't connect") != std::string::npos ||
                       error.message.find("look up the host") != std::string::npos;
  if (!refused && error.code != ErrorCode::timed_out && answers_as(tls ? "http://" : "https://", base)) {
    told.hint = fmt::format("this port speaks {}: give {}{}", tls ? "plain HTTP" : "TLS",
                            tls ? "http://" : "https://", base.substr(base.find("://") + 3));
  } else if (error.message.find("TLS handshake failed") != std::string::npos) {
    told.hint =
        error.message.find("certificate") != std::string::npos ||
                error.message.find("mismatch") != std::string::npos
            ? "give --ca-file with the PEM of the authority that signed the server's certificate, and "
              "the name that the certificate is for"
            : error.hint;
  } else if (error.code == ErrorCode::unavailable) {
    told.hint = "is the server running? start one with: tidewatt server";
  }
  return told;
}

/// The server's words: the problem's detail, or the status alone.
Error as_error(const net::Response& answer, const ServerAccess& access) {
  const auto body = nlohmann::json::parse(answer.body, nullptr, false);
  std::string detail = fmt::format("the server answered {}", answer.status);
  if (body.is_object() && body.contains("detail") && body["detail"].is_string())
    detail = body["detail"].get<std::string>();
  if (answer.status == 401) return {ErrorCode::permission_denied, detail, token_hint(access)};
  if (answer.status == 403 && detail.find("role agent") != std::string::npos)
    return {ErrorCode::permission_denied, "this is an agent's token: it posts beats and may read nothing",
            "give an operator's or viewer's with --token-file"};
  if (answer.status == 404) {
    // The server's hint is for programs: it names its own paths.
    if (const auto hint = detail.rfind(" (");
        hint != std::string::npos && detail.find("/api/", hint) != std::string::npos)
      detail.resize(hint);
    return {ErrorCode::not_found, detail,
            "the pages list what there is; --cluster names a cluster other than default"};
  }
  return {ErrorCode::invalid_input, fmt::format("{}: {}", access.url, detail), ""};
}

}  // namespace

void ServerAccess::add_options(CLI::App& command) {
  command.add_option("--server", url, "URL of the server")
      ->envname("TIDEWATT_SERVER")
      ->capture_default_str()
      ->check(url_problem);
  command.add_option("--token-file", token_file,
                     "File with a token (default: TIDEWATT_TOKEN, else a local server's or demo's own)");
  command.add_option("--ca-file", ca_file, "PEM file with a certificate to trust besides the system's");
}

std::string default_data_folder() {
  if (auto folder = environment("XDG_DATA_HOME"); !folder.empty()) return folder + "/tidewatt";
  if (auto home = environment("HOME"); !home.empty()) return home + "/.local/share/tidewatt";
  return "./tidewatt-data";
}

Status token_is_readable(const ServerAccess& access) {
  const auto tokens = tokens_of(access);
  if (!tokens) return tl::unexpected(tokens.error());
  return {};
}

namespace {

/// @param request without its URL's host, which `access` knows
Result<net::Response> send(const ServerAccess& access, net::ClientRequest request) {
  net::ClientOptions options;
  // Sealing and verifying read all hourly rows.
  options.deadline = request.url.starts_with("/api/v1/ledger/") ? kLongDeadline : kDeadline;
  options.ca_file = access.ca_file;
  const auto client = net::make_http_client(options);
  auto base = access.url;
  while (base.ends_with('/')) base.pop_back();
  request.url.insert(0, base);
  TW_TRY(const auto tokens, tokens_of(access));
  for (std::size_t i = 0;; ++i) {
    if (!tokens[i].empty()) request.headers["authorization"] = "Bearer " + tokens[i];
    auto answer = client->send(request);
    if (!answer) return tl::unexpected(unreachable(answer.error(), request, base));
    if (answer->status != 401 || i + 1 == tokens.size()) return answer;
  }
}

}  // namespace

std::string token_file_in_use(const ServerAccess& access) {
  if (access.anonymous) return {};
  if (!access.token_file.empty()) return access.token_file;
  if (!environment("TIDEWATT_TOKEN").empty()) return {};
  for (const auto& file : own_token_files(access)) {
    if (!read_all(file)) continue;
    auto with_it = access;
    with_it.token_file = file;
    net::ClientRequest request;
    request.url = "/api/v1/session";
    if (const auto answer = send(with_it, std::move(request)); answer && answer->status != 401) return file;
  }
  return {};
}

Result<net::Response> get_any(const ServerAccess& access, const std::string& path_and_query) {
  net::ClientRequest request;
  request.url = path_and_query;
  return send(access, std::move(request));
}

Result<net::Response> get_answer(const ServerAccess& access, const std::string& path_and_query) {
  TW_TRY(auto answer, get_any(access, path_and_query));
  if (answer.status != 200) return tl::unexpected(as_error(answer, access));
  return answer;
}

Result<std::string> get(const ServerAccess& access, const std::string& path_and_query) {
  TW_TRY(auto answer, get_any(access, path_and_query));
  if (answer.status != 200) return tl::unexpected(as_error(answer, access));
  return std::move(answer.body);
}

Result<std::string> request(const ServerAccess& access, const std::string& method,
                            const std::string& path_and_query, const std::string& body) {
  net::ClientRequest asked;
  asked.method = method;
  asked.url = path_and_query;
  asked.body = body;
  if (!body.empty()) asked.headers["content-type"] = "application/json";
  TW_TRY(auto answer, send(access, std::move(asked)));
  if (answer.status / 100 != 2) return tl::unexpected(as_error(answer, access));
  return std::move(answer.body);
}

std::string url_problem(const std::string& url) { return net::server_url_problem(url); }

std::string encode_component(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

}  // namespace tidewatt::cli
