// tidewatt quota and tidewatt market: teams' carbon budgets, admission, and trading them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
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

using MarketJson = nlohmann::ordered_json;

/// All options of both commands; each subcommand has its own.
struct MarketAsk {
  ServerAccess access;
  std::string team, to, month, task, reason, priority = "normal", key;
  double kg = 0, price = 0, money = 0, energy = 0;
  std::uint64_t id = 0;
  bool json = false, dry_run = false;
};
using SharedAsk = std::shared_ptr<MarketAsk>;

Result<MarketJson> market_answer(const MarketAsk& ask, const std::string& method, const std::string& path,
                                 const MarketJson& body = nullptr) {
  TW_TRY(const auto reply,
         request(ask.access, method, "/api/v1" + path, body.is_null() ? std::string{} : body.dump()));
  auto answer = MarketJson::parse(reply.empty() ? "{}" : reply, nullptr, false);
  if (!answer.is_object())
    return fail(ErrorCode::invalid_input, ask.access.url + " is no tidewatt server",
                "give its URL with --server");
  return answer;
}

/// Unknown is a dash.
std::string shown_amount(const MarketJson& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number() ? fmt::format("{:.6g}", found->get<double>()) : "—";
}
std::string shown_name(const MarketJson& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : "—";
}

using Table = std::vector<std::vector<std::string>>;

/// Numbers stand right, the first column left. A dash is one character of three bytes.
void print_table(const Table& rows) {
  const auto width = [](const std::string& cell) { return cell == "—" ? 1 : cell.size(); };
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], width(row[i]));
    }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - width(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (i == 0 ? row[i] + blanks : blanks + row[i]);
    }
    fmt::print("{}\n", line);
  }
}

using Shown = std::function<int(const MarketJson&)>;

int finish_market(const char* command, const MarketAsk& ask, const Result<MarketJson>& answer,
                  const Shown& show) {
  if (!answer) return report(command, answer.error());
  if (!ask.json) return show(*answer);
  fmt::print("{}\n", answer->dump(-1, ' ', false, MarketJson::error_handler_t::replace));
  return kOk;
}

/// One that no other request has, unless the caller gave one.
std::string key_of(const MarketAsk& ask) {
  if (!ask.key.empty()) return ask.key;
  os::SecureRng rng;
  return fmt::format("cli/{:016x}{:016x}", rng.next(), rng.next());
}

MarketJson body_of(const MarketAsk& ask) {
  MarketJson body{{"key", key_of(ask)}};
  if (!ask.team.empty()) body["team"] = ask.team;
  if (!ask.month.empty()) body["month"] = ask.month;
  return body;
}

int show_quotas(const MarketJson& answer) {
  Table rows{{"TEAM", "BUDGET", "USED", "RESERVED", "OFFERED", "LEFT", "OVERDRAFT", "USED+RES", "PROJECTED"}};
  for (const auto& quota : answer.at("quotas")) {
    const auto part = quota.find("utilization");
    rows.push_back({shown_name(quota, "team"), shown_amount(quota, "budget_kg"),
                    shown_amount(quota, "used_kg"), shown_amount(quota, "reserved_kg"),
                    shown_amount(quota, "offered_kg"), shown_amount(quota, "remaining_kg"),
                    shown_amount(quota, "overdraft_kg"),
                    part->is_number() ? fmt::format("{:.1f}%", part->get<double>() * 100) : "—",
                    shown_amount(quota, "projected_kg")});
  }
  if (rows.size() == 1) {
    fmt::print("No team has a budget for {}. Give one: tidewatt quota set TEAM --kg 1000\n",
               shown_name(answer, "month"));
    return kOk;
  }
  fmt::print("{}, kg CO2e\n", shown_name(answer, "month"));
  print_table(rows);
  if (!answer.value("carbon_known", true))
    fmt::print(
        "No emission factor is configured and there is no hourly signal: nobody is held to a budget.\n");
  return kOk;
}

int show_quota(const MarketJson& quota) {
  return show_quotas(MarketJson{{"month", quota.at("month")}, {"quotas", MarketJson::array({quota})}});
}

int show_admission(const MarketJson& answer) {
  const bool allowed = answer.value("allowed", false);
  fmt::print("{}: {}{}\n", allowed ? "allowed" : "refused", shown_name(answer, "reason"),
             answer.value("dry_run", false) ? " (dry run: nothing was reserved)" : "");
  fmt::print("  estimate   {} g\n  remaining  {} kg\n", shown_amount(answer, "estimate_g"),
             shown_amount(answer, "remaining_kg"));
  if (!answer.at("reservation_id").is_null())
    fmt::print("  reserved   as {}, given back if it didn't start by {}\n",
               answer.at("reservation_id").dump(), shown_name(answer, "expires_at"));
  if (!answer.at("advice").is_null()) fmt::print("  {}\n", shown_name(answer, "advice"));
  return allowed ? kOk : kFailed;
}

int show_trades(const MarketJson& answer) {
  Table rows{{"AT", "MONTH", "KG", "PRICE", "COST", "SELLER", "BUYER"}};
  for (const auto& trade : answer.at("trades"))
    rows.push_back({shown_name(trade, "at"), shown_name(trade, "month"), shown_amount(trade, "amount_kg"),
                    shown_amount(trade, "price_per_kg"), shown_amount(trade, "cost"),
                    shown_name(trade, "seller"), shown_name(trade, "buyer")});
  if (rows.size() == 1)
    fmt::print("No trades.\n");
  else
    print_table(rows);
  return kOk;
}

int show_order(const MarketJson& answer) {
  const auto& order = answer.at("order");
  fmt::print("order {}: {} of {} kg left at {} a kg{}\n", order.at("id").dump(),
             shown_amount(order, "left_kg"), shown_amount(order, "amount_kg"),
             shown_amount(order, "price_per_kg"),
             answer.value("repeated", false) ? " (was there already)" : "");
  return answer.at("trades").empty() ? kOk : show_trades(answer);
}

int show_book(const MarketAsk& ask) {
  const auto month = ask.month.empty() ? "" : "?month=" + encode_component(ask.month);
  auto answer = market_answer(ask, "GET", "/market/offers" + month);
  if (answer) {
    const auto bids = market_answer(ask, "GET", "/market/bids" + month);
    if (!bids) return report("market", bids.error());
    (*answer)["bids"] = bids->at("bids");
  }
  return finish_market("market", ask, answer, [](const MarketJson& book) {
    Table rows{{"SIDE", "ORDER", "KG", "PRICE", "TEAM"}};
    for (const auto* side : {"offers", "bids"})
      for (const auto& order : book.at(side))
        rows.push_back({shown_name(order, "side"), order.at("id").dump(), shown_amount(order, "left_kg"),
                        shown_amount(order, "price_per_kg"), shown_name(order, "team")});
    if (rows.size() == 1)
      fmt::print("No open orders for {}.\n", shown_name(book, "month"));
    else
      print_table(rows);
    return kOk;
  });
}

struct Added {
  CLI::App* command;
  SharedAsk ask;
};

Added add_to(CLI::App& group, const char* name, const char* help, const char* example) {
  const auto ask = std::make_shared<MarketAsk>();
  auto* command = group.add_subcommand(name, help);
  command->add_flag("--json", ask->json, "Print JSON");
  ask->access.add_options(*command);
  command->footer(std::string{"Example: "} + example);
  return {command, ask};
}

void month_option(const Added& added) {
  added.command->add_option("--month", added.ask->month, "Like 2026-11 (default: this month)");
}
void key_option(const Added& added) {
  added.command->add_option("--key", added.ask->key,
                            "The same key again is done once (default: a new one each time)");
}
void kg_option(const Added& added, const char* help) {
  added.command->add_option("--kg", added.ask->kg, help)->required();
}

void add_budgets(CLI::App& group, int& exit_code) {
  const auto shown = add_to(group, "show", "Budgets, what was used of them and what is left",
                            "tidewatt quota show --month 2026-11");
  month_option(shown);
  shown.command->add_option("--team", shown.ask->team, "One team");
  shown.command->callback([ask = shown.ask, &exit_code] {
    auto path = "/quotas?team=" + encode_component(ask->team);
    if (!ask->month.empty()) path += "&month=" + encode_component(ask->month);
    exit_code = finish_market("quota", *ask, market_answer(*ask, "GET", path), show_quotas);
  });

  const auto set = add_to(group, "set", "A team's budget of a month, before it begins or as its first",
                          "tidewatt quota set vision --kg 1000 --month 2026-12");
  set.command->add_option("TEAM", set.ask->team, "Whose")->required();
  kg_option(set, "Kilograms of CO2e");
  month_option(set), key_option(set);
  set.command->callback([ask = set.ask, &exit_code] {
    auto body = body_of(*ask);
    body["budget_kg"] = ask->kg;
    exit_code = finish_market("quota", *ask, market_answer(*ask, "POST", "/quotas", body), show_quota);
  });

  const auto changed = add_to(group, "adjust", "Correct a budget that stands, with a reason",
                              "tidewatt quota adjust vision --kg -50 --reason 'moved to infra'");
  changed.command->add_option("TEAM", changed.ask->team, "Whose")->required();
  kg_option(changed, "Kilograms more, or less with a minus");
  changed.command->add_option("--reason", changed.ask->reason, "Stands in the history")->required();
  month_option(changed), key_option(changed);
  changed.command->callback([ask = changed.ask, &exit_code] {
    auto body = body_of(*ask);
    body["change_kg"] = ask->kg;
    body["reason"] = ask->reason;
    exit_code =
        finish_market("quota", *ask, market_answer(*ask, "POST", "/quotas/adjustments", body), show_quota);
  });

  const auto given = add_to(group, "transfer", "Give budget to another team",
                            "tidewatt quota transfer vision speech --kg 20");
  given.command->add_option("FROM", given.ask->team, "Who gives")->required();
  given.command->add_option("TO", given.ask->to, "Who gets it")->required();
  kg_option(given, "Kilograms of CO2e");
  month_option(given), key_option(given);
  given.command->callback([ask = given.ask, &exit_code] {
    auto body = body_of(*ask);
    body["to"] = ask->to;
    body["amount_kg"] = ask->kg;
    exit_code =
        finish_market("quota", *ask, market_answer(*ask, "POST", "/quotas/transfers", body), show_quota);
  });
}

void add_admission(CLI::App& group, int& exit_code) {
  const auto asked = add_to(group, "admit", "Ask whether a task may start, and reserve its estimate",
                            "tidewatt quota admit --team vision --task train-7 --kg 12 --dry-run");
  asked.command->add_option("--team", asked.ask->team, "Whose (a tenant's own)");
  asked.command->add_option("--task", asked.ask->task, "Its id");
  auto* kg = asked.command->add_option("--kg", asked.ask->kg, "Estimate in kilograms of CO2e");
  auto* kwh = asked.command->add_option("--kwh", asked.ask->energy, "Estimate as energy")->excludes(kg);
  asked.command->add_option("--priority", asked.ask->priority, "critical, high, normal or low")
      ->capture_default_str()
      ->check(CLI::IsMember({"critical", "high", "normal", "low"}));
  asked.command->add_flag("--dry-run", asked.ask->dry_run, "Ask only: nothing is reserved");
  key_option(asked);
  asked.command->callback([ask = asked.ask, kg, kwh, &exit_code] {
    if (ask->task.empty() && ask->key.empty() && !ask->dry_run)
      usage_error("--task", "is missing: name the task, give --key, or ask with --dry-run");
    MarketJson body{{"priority", ask->priority}, {"dry_run", ask->dry_run}};
    if (!ask->team.empty()) body["team"] = ask->team;
    if (!ask->task.empty()) body["task_id"] = ask->task;
    if (!ask->key.empty()) body["key"] = ask->key;
    if (kg->count() > 0) body["estimate_kg"] = ask->kg;
    if (kwh->count() > 0) body["energy_kwh"] = ask->energy;
    const auto answer = market_answer(*ask, "POST", "/admission", body);
    exit_code = finish_market("quota", *ask, answer, show_admission);
    if (ask->json && answer && !answer->value("allowed", false)) exit_code = kFailed;
  });

  const auto released =
      add_to(group, "release", "Give back what an admission reserved", "tidewatt quota release 42");
  released.command->add_option("RESERVATION", released.ask->id, "Its number")->required();
  released.command->callback([ask = released.ask, &exit_code] {
    const auto done = market_answer(*ask, "DELETE", fmt::format("/admission/{}", ask->id));
    exit_code = finish_market("quota", *ask, done, [ask](const MarketJson&) {
      fmt::print("reservation {} is given back\n", ask->id);
      return kOk;
    });
  });
}

void add_order(CLI::App& group, const char* name, const char* help, const char* path, int& exit_code) {
  const auto posted = add_to(group, name, help,
                             name[0] == 'o' ? "tidewatt market offer --team vision --kg 30 --price 0.12"
                                            : "tidewatt market bid --team speech --kg 20 --price 0.15");
  posted.command->add_option("--team", posted.ask->team, "Whose (a tenant's own)");
  kg_option(posted, "Kilograms of CO2e");
  posted.command->add_option("--price", posted.ask->price, "A kilogram; the least taken or the most given")
      ->required();
  month_option(posted), key_option(posted);
  posted.command->callback([ask = posted.ask, path, &exit_code] {
    auto body = body_of(*ask);
    body["amount_kg"] = ask->kg;
    body["price_per_kg"] = ask->price;
    exit_code = finish_market("market", *ask, market_answer(*ask, "POST", path, body), show_order);
  });
}

}  // namespace

void add_quota_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("quota", "Teams' carbon budgets, and whether a task may start");
  group->require_subcommand(1);
  group->footer("Example: tidewatt quota show");
  add_budgets(*group, exit_code);
  add_admission(*group, exit_code);
}

void add_market_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("market", "Trade carbon budgets between teams");
  group->require_subcommand(1);
  group->footer("Example: tidewatt market offer --team vision --kg 30 --price 0.12");
  const auto book = add_to(*group, "book", "Open offers and bids", "tidewatt market book");
  month_option(book);
  book.command->callback([ask = book.ask, &exit_code] { exit_code = show_book(*ask); });
  add_order(*group, "offer", "Offer budget for sale; it is locked until sold or cancelled", "/market/offers",
            exit_code);
  add_order(*group, "bid", "Bid for budget; the money is locked until spent or cancelled", "/market/bids",
            exit_code);

  const auto cancelled = add_to(*group, "cancel", "Take back an open order", "tidewatt market cancel 17");
  cancelled.command->add_option("ORDER", cancelled.ask->id, "Its number")->required();
  cancelled.command->callback([ask = cancelled.ask, &exit_code] {
    const auto done = market_answer(*ask, "DELETE", fmt::format("/market/orders/{}", ask->id));
    exit_code = finish_market("market", *ask, done, [ask](const MarketJson&) {
      fmt::print("order {} is cancelled\n", ask->id);
      return kOk;
    });
  });

  const auto trades = add_to(*group, "trades", "The latest trades", "tidewatt market trades --month 2026-11");
  month_option(trades);
  trades.command->callback([ask = trades.ask, &exit_code] {
    const auto path = "/market/trades" + (ask->month.empty() ? "" : "?month=" + encode_component(ask->month));
    exit_code = finish_market("market", *ask, market_answer(*ask, "GET", path), show_trades);
  });

  const auto paid = add_to(*group, "pay-in", "Give a team money for bids, or take it back with a minus",
                           "tidewatt market pay-in speech --amount 500");
  paid.command->add_option("TEAM", paid.ask->team, "Whose")->required();
  paid.command->add_option("--amount", paid.ask->money, "In the market's currency")->required();
  key_option(paid);
  paid.command->callback([ask = paid.ask, &exit_code] {
    auto body = body_of(*ask);
    body["amount"] = ask->money;
    exit_code = finish_market("market", *ask, market_answer(*ask, "POST", "/market/money", body),
                              [](const MarketJson& wallet) {
                                fmt::print("{}: {} {} free, {} locked by bids\n", shown_name(wallet, "team"),
                                           shown_amount(wallet, "cash"), shown_name(wallet, "currency"),
                                           shown_amount(wallet, "locked"));
                                return kOk;
                              });
  });
}

}  // namespace tidewatt::cli
