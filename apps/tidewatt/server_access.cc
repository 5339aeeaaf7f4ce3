#include "server_access.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "input.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

constexpr Milliseconds kDeadline{15'000};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

/// The server's words: the problem's detail, or the status alone.
Error as_error(const net::Response& answer, const std::string& url) {
  const auto body = nlohmann::json::parse(answer.body, nullptr, false);
  std::string detail = fmt::format("the server answered {}", answer.status);
  if (body.is_object() && body.contains("detail") && body["detail"].is_string())
    detail = body["detail"].get<std::string>();
  if (answer.status == 401)
    return {ErrorCode::permission_denied, detail, "give --token-file, or set TIDEWATT_TOKEN"};
  if (answer.status == 404) return {ErrorCode::not_found, detail, ""};
  return {ErrorCode::invalid_input, fmt::format("{}: {}", url, detail), ""};
}

}  // namespace

void ServerAccess::add_options(CLI::App& command) {
  command.add_option("--server", url, "URL of the server")->envname("TIDEWATT_SERVER")->capture_default_str();
  command.add_option("--token-file", token_file,
                     "File with a token (default: TIDEWATT_TOKEN, else the local server's own)");
  command.add_option("--ca-file", ca_file, "PEM file with a certificate to trust besides the system's");
}

std::string default_data_folder() {
  if (auto folder = environment("XDG_DATA_HOME"); !folder.empty()) return folder + "/tidewatt";
  if (auto home = environment("HOME"); !home.empty()) return home + "/.local/share/tidewatt";
  return "./tidewatt-data";
}

Result<std::string> find_token(const ServerAccess& access) {
  if (access.token_file.empty())
    if (auto token = environment("TIDEWATT_TOKEN"); !token.empty()) return token;
  const bool given = !access.token_file.empty();
  const auto text = read_all(given ? access.token_file : default_data_folder() + "/ops.token");
  if (!text) {
    if (!given) return std::string{};
    return tl::unexpected(text.error());
  }
  return std::string(trim(*text));
}

Result<net::Response> get_any(const ServerAccess& access, const std::string& path_and_query) {
  net::ClientOptions options;
  options.deadline = kDeadline;
  options.ca_file = access.ca_file;
  const auto client = net::make_http_client(options);
  net::ClientRequest request;
  auto base = access.url;
  while (base.ends_with('/')) base.pop_back();
  request.url = base + path_and_query;
  TW_TRY(const auto token, find_token(access));
  if (!token.empty()) request.headers["authorization"] = "Bearer " + token;
  auto answer = client->send(request);
  if (!answer) {
    auto error = answer.error().with_context(base);
    if (error.hint.empty()) error.hint = "is the server running? start one with: tidewatt server";
    return tl::unexpected(std::move(error));
  }
  return answer;
}

Result<std::string> get(const ServerAccess& access, const std::string& path_and_query) {
  TW_TRY(auto answer, get_any(access, path_and_query));
  if (answer.status != 200) return tl::unexpected(as_error(answer, access.url));
  return std::move(answer.body);
}

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
