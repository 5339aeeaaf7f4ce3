// tidewatt token create|list|rotate|revoke: who may use the server.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "input.h"
#include "server_access.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/units/time.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kLongestGrace = "7d";

struct TokenOptions {
  ServerAccess access;
  std::string which;
  std::string role;
  std::string team;
  std::string expires_in;
  std::string grace;
  std::string secret_file;
  bool all = false;
  bool json = false;
};

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

/// "active", "revoked" or "expired", as of now.
std::string_view state_of(const Json& token, UtcTime now) {
  if (!text(token, "revoked_at").empty()) return "revoked";
  const auto expiry = parse_rfc3339(text(token, "expires_at"));
  return expiry && *expiry <= now ? "expired" : "active";
}

Result<Json> answer_of(const ServerAccess& access, const std::string& method, const std::string& path,
                       const Json& body) {
  TW_TRY(const auto reply, request(access, method, path, body.is_null() ? std::string{} : body.dump()));
  auto answer = Json::parse(reply.empty() ? "{}" : reply, nullptr, false);
  if (!answer.is_object())
    return fail(ErrorCode::invalid_input, access.url + " is no tidewatt server",
                "give its URL with --server");
  return answer;
}

Result<std::vector<Json>> tokens_of(const ServerAccess& access) {
  TW_TRY(const auto answer, answer_of(access, "GET", "/api/v1/tokens", nullptr));
  const auto list = answer.find("tokens");
  if (list == answer.end() || !list->is_array())
    return fail(ErrorCode::invalid_input, access.url + " is no tidewatt server",
                "give its URL with --server");
  return std::vector<Json>(list->begin(), list->end());
}

/// The id itself, or the id of the only active token of that name.
Result<std::string> id_of(const TokenOptions& options) {
  TW_TRY(const auto tokens, tokens_of(options.access));
  std::vector<std::string> named;
  for (const auto& token : tokens) {
    if (text(token, "id") == options.which) return options.which;
    if (text(token, "name") == options.which && state_of(token, os::SystemClock{}.utc_now()) == "active")
      named.push_back(text(token, "id"));
  }
  if (named.size() == 1) return named.front();
  if (named.empty())
    return fail(ErrorCode::not_found,
                fmt::format("no token has the id, and no active one the name, \"{}\"", options.which),
                "tidewatt token list shows them");
  std::string ids;
  for (const auto& id : named) ids += (ids.empty() ? "" : ", ") + id;
  return fail(ErrorCode::conflict,
              fmt::format("{} active tokens are named \"{}\"", named.size(), options.which),
              "give the id of one: " + ids);
}

/// Prints it, or keeps it where only this user can read it.
Status hand_over(const TokenOptions& options, Json& answer) {
  if (options.secret_file.empty()) return {};
  const auto files = os::make_file_system();
  if (auto kept = files->write_atomically(options.secret_file, text(answer, "token") + "\n"); !kept)
    return tl::unexpected(kept.error().with_context(fmt::format(
        "token {} was made, its secret could not be kept and is lost; revoke it", text(answer, "id"))));
  answer.erase("token");
  answer["secret_file"] = options.secret_file;
  return {};
}

void print_made(const TokenOptions& options, const Json& answer) {
  fmt::print("  id       {}\n  name     {}\n  role     {}{}\n  expires  {}\n", text(answer, "id"),
             text(answer, "name"), text(answer, "role"),
             text(answer, "team").empty() ? "" : ":" + text(answer, "team"),
             text(answer, "expires_at").empty() ? "never" : text(answer, "expires_at"));
  if (options.secret_file.empty()) {
    fmt::print("  token    {}\n  It is shown this once: keep it now.\n", text(answer, "token"));
  } else {
    fmt::print("  token    in {}\n", options.secret_file);
  }
}

int finish(const TokenOptions& options, Result<Json> made) {
  if (!made) return report("token", made.error());
  if (const auto kept = hand_over(options, *made); !kept) return report("token", kept.error());
  if (options.json) {
    fmt::print("{}\n", made->dump(-1, ' ', false, Json::error_handler_t::replace));
    return kOk;
  }
  print_made(options, *made);
  if (const auto until = parse_rfc3339(text(*made, "replaced_until")))
    fmt::print("  The old secret {}\n", *until <= os::SystemClock{}.utc_now()
                                            ? "is refused from now on."
                                            : "works until " + text(*made, "replaced_until") + ".");
  return kOk;
}

int create(const TokenOptions& options) {
  // Another token's secret may be in it, and nobody could tell it again.
  if (!options.secret_file.empty() && os::make_file_system()->exists(options.secret_file))
    return report("token", Error{ErrorCode::conflict, fmt::format("{} is there already", options.secret_file),
                                 "give another --secret-file, or use: tidewatt token rotate"});
  Json body{{"name", options.which}, {"role", options.role}};
  if (!options.team.empty()) body["team"] = options.team;
  if (!options.expires_in.empty())
    body["expires_at"] = format_rfc3339(os::SystemClock{}.utc_now() + *parse_duration(options.expires_in));
  return finish(options, answer_of(options.access, "POST", "/api/v1/tokens", body));
}

/// A token that rotates itself: the file it was read from gets the new secret, or the next command, and the
/// server at its next start, would come with one that is refused.
/// @return what to tell about it; empty = nothing
std::string renew_own_file(const TokenOptions& options, const std::string& file, const Json& answer) {
  if (!answer.value("own", false) || file == options.secret_file) return {};
  if (file.empty())
    return "TIDEWATT_TOKEN, or wherever you have it, still holds the old secret: put the new one there.";
  const auto kept = os::make_file_system()->write_atomically(file, text(answer, "token") + "\n");
  return kept ? file + " held the old secret: it has the new one now."
              : fmt::format("{} still holds the old secret ({}): put the new one there.", file,
                            kept.error().message);
}

int rotate(const TokenOptions& options) {
  const auto id = id_of(options);
  if (!id) return report("token", id.error());
  const auto grace = options.grace.empty() ? Milliseconds{0} : *parse_duration(options.grace);
  const auto own_file = token_file_in_use(options.access);
  const auto made =
      answer_of(options.access, "POST", fmt::format("/api/v1/tokens/{}/rotate", encode_component(*id)),
                Json{{"grace_seconds", grace.count() / 1000}});
  const auto told = made ? renew_own_file(options, own_file, *made) : std::string{};
  const int exit_code = finish(options, made);
  if (!told.empty()) fmt::print(stderr, "tidewatt token: {}\n", told);
  return exit_code;
}

int revoke(const TokenOptions& options) {
  const auto id = id_of(options);
  if (!id) return report("token", id.error());
  const auto done =
      answer_of(options.access, "DELETE", fmt::format("/api/v1/tokens/{}", encode_component(*id)), nullptr);
  if (!done) return report("token", done.error());
  if (options.json) {
    fmt::print("{}\n", Json{{"id", *id}, {"revoked", true}}.dump());
  } else {
    fmt::print("{} is revoked: it is refused at once here, and within 5 s by other servers of the ledger\n",
               *id);
  }
  return kOk;
}

int list(const TokenOptions& options) {
  const auto tokens = tokens_of(options.access);
  if (!tokens) return report("token", tokens.error());
  const auto now = os::SystemClock{}.utc_now();
  std::vector<std::array<std::string, 5>> rows{{"ID", "ROLE", "STATE", "EXPIRES", "NAME"}};
  Json shown = Json::array();
  for (const auto& token : *tokens) {
    const std::string state{state_of(token, now)};
    if (!options.all && state != "active") continue;
    shown.push_back(token);
    const auto team = text(token, "team");
    rows.push_back({text(token, "id"), text(token, "role") + (team.empty() ? "" : ":" + team), state,
                    text(token, "expires_at").empty() ? "never" : text(token, "expires_at"),
                    text(token, "name")});
  }
  if (options.json) {
    fmt::print("{}\n", Json{{"tokens", shown}}.dump(-1, ' ', false, Json::error_handler_t::replace));
    return kOk;
  }
  std::array<std::size_t, 5> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths.at(i) = std::max(widths.at(i), row.at(i).size());
  for (const auto& row : rows)  // the name stands last: its length disturbs nobody
    fmt::print("{:<{}}  {:<{}}  {:<{}}  {:<{}}  {}\n", row[0], widths[0], row[1], widths[1], row[2],
               widths[2], row[3], widths[3], row[4]);
  if (!options.all && shown.size() < tokens->size())
    fmt::print("{} revoked or expired not shown: --all\n", tokens->size() - shown.size());
  return kOk;
}

void check_duration(const char* flag, const std::string& text, std::string_view most) {
  if (text.empty() || text == "0") return;
  const auto length = parse_duration(text);
  if (!length) usage_error(flag, fmt::format("\"{}\" is no length of time: give one like 1h or 7d", text));
  if (!most.empty() && *length > *parse_duration(most))
    usage_error(flag, fmt::format("{} is longer than {}, which is the most", text, most));
}

CLI::App* add(CLI::App& group, const char* name, const char* help,
              const std::shared_ptr<TokenOptions>& options) {
  auto* command = group.add_subcommand(name, help);
  command->add_flag("--json", options->json, "Print JSON");
  options->access.add_options(*command);
  return command;
}

void add_secret_file(CLI::App& command, TokenOptions& options) {
  command
      .add_option("--secret-file", options.secret_file,
                  "Write the secret to this file (0600) and don't print it")
      ->type_name("FILE");
}

}  // namespace

void add_token_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("token", "Make, list, rotate and revoke access tokens");
  group->require_subcommand(1);
  group->footer("Example: tidewatt token create dashboards --role viewer");

  const auto made = std::make_shared<TokenOptions>();
  auto* creating = add(*group, "create", "Make a token; its secret is shown this once", made);
  creating->add_option("NAME", made->which, "Who will use it")->required();
  creating->add_option("--role", made->role, "What it may do")
      ->required()
      ->check(CLI::IsMember({"ops", "viewer", "tenant", "agent", "cluster"}));
  creating->add_option("--team", made->team, "The team whose tasks a tenant may see");
  creating->add_option("--expires-in", made->expires_in, "It ends after so long: 90d (default: never)");
  add_secret_file(*creating, *made);
  creating->footer(
      "Examples:\n  tidewatt token create dashboards --role viewer --expires-in 90d\n"
      "  tidewatt token create vision --role tenant --team vision\n"
      "  tidewatt token create rack-7 --role agent --secret-file ./rack-7.token");
  creating->callback([made, &exit_code] {
    if (made->which.empty()) usage_error("NAME", "is empty: say who will use it");
    if ((made->role == "tenant") != !made->team.empty())
      usage_error("--team", made->team.empty()
                                ? "is missing: a tenant sees one team's tasks"
                                : fmt::format("goes with --role tenant only, not with {}", made->role));
    check_duration("--expires-in", made->expires_in, {});
    exit_code = create(*made);
  });

  const auto listed = std::make_shared<TokenOptions>();
  auto* listing = add(*group, "list", "List tokens, without their secrets", listed);
  listing->add_flag("--all", listed->all, "Also those that are revoked or expired");
  listing->footer("Example: tidewatt token list --all");
  listing->callback([listed, &exit_code] { exit_code = list(*listed); });

  const auto rotated = std::make_shared<TokenOptions>();
  auto* rotating = add(*group, "rotate", "A new secret for the same name, role, team and expiry", rotated);
  rotating->add_option("TOKEN", rotated->which, "Its id, or its name where only one active token has it")
      ->required();
  rotating->add_option("--grace", rotated->grace, "How long the old secret still works: 0 to 7d (default 0)");
  add_secret_file(*rotating, *rotated);
  rotating->footer(
      "Examples:\n  tidewatt token rotate rack-7 --grace 24h --secret-file ./rack-7.token\n"
      "  tidewatt token rotate 3f2a9c41d07b8e65");
  rotating->callback([rotated, &exit_code] {
    check_duration("--grace", rotated->grace, kLongestGrace);
    if (rotated->grace == "0") rotated->grace.clear();
    exit_code = rotate(*rotated);
  });

  const auto revoked = std::make_shared<TokenOptions>();
  auto* revoking = add(*group, "revoke", "Refuse a token from now on", revoked);
  revoking->add_option("TOKEN", revoked->which, "Its id, or its name where only one active token has it")
      ->required();
  revoking->footer("Example: tidewatt token revoke rack-7");
  revoking->callback([revoked, &exit_code] { exit_code = revoke(*revoked); });
}

}  // namespace tidewatt::cli
