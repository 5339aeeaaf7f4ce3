// The market in which teams trade their budgets: /api/v1/market/...
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "market_view.h"
#include "tidewatt/units/text.h"

namespace tidewatt::api {
namespace {

using market::Order;
using market::Side;

constexpr std::size_t kMostOrdersShown = 1'000;
constexpr std::size_t kMostRecords = 1'000;

/// Whose it is is told to the team itself and to those who see all teams.
Json whose(const Call& call, const std::string& team) {
  return !call.is_tenant() || team == call.principal.team ? Json(team) : Json(nullptr);
}

Json order_json(const Call& call, const Order& order) {
  return Json{{"id", order.id},
              {"side", to_string(order.side)},
              {"team", whose(call, order.team)},
              {"mine", call.is_tenant() && order.team == call.principal.team},
              {"month", to_string(order.period)},
              {"amount_kg", market::kg_of(order.amount)},
              {"left_kg", market::kg_of(order.left)},
              {"price_per_kg", money_json(order.price.n)},
              {"posted_at", time(order.posted_at)}};
}

Json trade_json(const Call& call, const market::PastTrade& past) {
  const auto& trade = past.trade;
  return Json{{"record", past.record},
              {"at", time(past.at)},
              {"month", to_string(trade.period)},
              {"amount_kg", market::kg_of(trade.amount)},
              {"price_per_kg", money_json(trade.price.n)},
              {"cost", money_json(trade.cost.n)},
              {"seller", whose(call, trade.seller)},
              {"buyer", whose(call, trade.buyer)}};
}

net::Response list_side(Core& core, const Call& call, Side side) {
  API_TRY(const auto period, month_of_call(core, call));
  API_TRY(auto answer, core.market->read([&](const market::Book& book) {
    Json rows = Json::array();
    std::size_t total = 0;
    book.each(period, side, [&](const Order& order) {
      if (++total <= kMostOrdersShown) rows.push_back(order_json(call, order));
      return true;
    });
    return Json{{"month", to_string(period)},
                {"matching", core.options.market.daily_call ? "daily_call" : "continuous"},
                {"currency", core.options.market.currency},
                {"total", total},
                {side == Side::offer ? "offers" : "bids", std::move(rows)}};
  }));
  return json_answer(200, answer);
}

/// Money as a whole number of millionths. nullopt = not given.
Result<std::optional<market::MicroMoney>> money_of(const Body& body, std::string_view key, double most) {
  TW_TRY(const auto units, body.signed_amount(key, most));
  if (!units) return std::nullopt;
  return std::optional(market::MicroMoney{
      static_cast<std::int64_t>(std::nearbyint(*units * static_cast<double>(market::kMicroAUnit)))});
}

net::Response post_order(Core& core, const Call& call, Side side) {
  API_TRY(const auto body, Body::parse(call.request, {"team", "month", "amount_kg", "price_per_kg", "key"}));
  API_TRY(const auto team, own_team(call, body));
  API_TRY(const auto period, month_of_body(core, body));
  API_TRY(const auto key, body.name("key"));
  API_TRY(const auto kg, body.amount("amount_kg", market::kg_of(market::kMostCarbon)));
  API_TRY(const auto price,
          money_of(body, "price_per_kg", static_cast<double>(market::kHighestPrice.n / market::kMicroAUnit)));
  const market::PlaceOrder order{team,
                                 side,
                                 period,
                                 market::micrograms_of_kg(kg.value_or(0)).value_or(market::Micrograms{}),
                                 price.value_or(market::MicroMoney{}),
                                 !core.options.market.daily_call};
  API_TRY(const auto request, request_of(call, key, order));
  API_TRY(const auto done, core.market->run(request, core.clock.utc_now()));
  tell_audit(core, call, done);
  const auto& record = done.record;
  Json answer{{"repeated", done.repeated}};
  for (const auto& changed : record.orders)
    if (changed.id == record.seq) answer["order"] = order_json(call, changed);
  answer["trades"] = Json::array();
  for (const auto& trade : record.trades)
    answer["trades"].push_back(trade_json(call, {trade, record.at, record.seq}));
  return json_answer(done.repeated ? 200 : 201, answer);
}

}  // namespace

net::Response list_offers(Core& core, const Call& call) { return list_side(core, call, Side::offer); }
net::Response list_bids(Core& core, const Call& call) { return list_side(core, call, Side::bid); }
net::Response post_offer(Core& core, const Call& call) { return post_order(core, call, Side::offer); }
net::Response post_bid(Core& core, const Call& call) { return post_order(core, call, Side::bid); }

net::Response list_trades(Core& core, const Call& call) {
  const auto month = call.parameter("month");
  API_TRY(const auto period, month_of_call(core, call));
  API_TRY(auto rows, core.market->read([&](const market::Book& book) {
    Json list = Json::array();
    const auto& trades = book.trades();
    for (auto past = trades.rbegin(); past != trades.rend(); ++past)
      if (month.empty() || past->trade.period == period) list.push_back(trade_json(call, *past));
    return list;
  }));
  return json_answer(200, Json{{"currency", core.options.market.currency}, {"trades", std::move(rows)}});
}

net::Response delete_order(Core& core, const Call& call) {
  API_TRY(const auto id, id_of_path(call));
  const market::Request request{
      fmt::format("{}/cancel/{}", call.is_tenant() ? "team/" + call.principal.team : "ops", id),
      call.principal.name, market::CancelOrder{id, call.is_tenant() ? call.principal.team : ""}};
  API_TRY(const auto done, core.market->run(request, core.clock.utc_now()));
  tell_audit(core, call, done);
  return empty_answer(204);
}

net::Response post_money(Core& core, const Call& call) {
  API_TRY(const auto body, Body::parse(call.request, {"team", "amount", "key"}));
  API_TRY(const auto team, body.name("team"));
  API_TRY(const auto key, body.name("key"));
  API_TRY(const auto amount,
          money_of(body, "amount", static_cast<double>(market::kMostMoney.n / market::kMicroAUnit)));
  API_TRY(const auto request,
          request_of(call, key, market::PayIn{team, amount.value_or(market::MicroMoney{})}));
  API_TRY(const auto done, core.market->run(request, core.clock.utc_now()));
  tell_audit(core, call, done);
  API_TRY(const auto wallet, core.market->read([&](const market::Book& book) { return book.wallet(team); }));
  return json_answer(done.repeated ? 200 : 201, Json{{"team", team},
                                                     {"cash", money_json(wallet.cash)},
                                                     {"locked", money_json(wallet.locked)},
                                                     {"currency", core.options.market.currency}});
}

net::Response list_market_history(Core& core, const Call& call) {
  const auto after = parse_int64(call.parameter("after", "0"));
  const auto limit = parse_uint64(call.parameter("limit", "200"));
  if (!after || *after < 0 || !limit || *limit < 1 || *limit > kMostRecords)
    return problem_answer("invalid_request",
                          fmt::format("after is a record's number, limit 1 to {}", kMostRecords));
  API_TRY(const auto entries, core.store.market_entries(*after, *limit));
  Json rows = Json::array();
  for (const auto& entry : entries) {
    Json row{{"record", entry.seq}, {"at", time(entry.at)}, {"key", entry.key}};
    if (const auto body = Json::parse(entry.body, nullptr, false); body.is_object()) row.update(body);
    rows.push_back(std::move(row));
  }
  const auto next = entries.size() == *limit ? Json(entries.back().seq) : Json(nullptr);
  return json_answer(200, Json{{"records", std::move(rows)}, {"next_after", next}});
}

}  // namespace tidewatt::api
