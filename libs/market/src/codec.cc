#include "tidewatt/market/codec.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tidewatt::market {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t ms_of(UtcTime at) { return at.time_since_epoch().count(); }

Json to_json(const Posting& p) {
  return Json::array({to_string(p.account.kind), p.account.team,
                      is_money(p.account.kind) ? "" : to_string(p.account.period), p.amount});
}
Json to_json(const Reservation& r) {
  return {{"id", r.id},
          {"team", r.team},
          {"task", r.task},
          {"month", to_string(r.period)},
          {"estimate_ug", r.estimate.n},
          {"left_ug", r.left.n},
          {"made_ms", ms_of(r.made_at)},
          {"expires_ms", ms_of(r.expires_at)},
          {"started", r.started},
          {"ended", r.ended}};
}
Json to_json(const Order& o) {
  return {{"id", o.id},
          {"team", o.team},
          {"side", to_string(o.side)},
          {"month", to_string(o.period)},
          {"price_micro_per_kg", o.price.n},
          {"amount_ug", o.amount.n},
          {"left_ug", o.left.n},
          {"posted_ms", ms_of(o.posted_at)}};
}
Json to_json(const Trade& t) {
  return {{"offer", t.offer},
          {"bid", t.bid},
          {"seller", t.seller},
          {"buyer", t.buyer},
          {"month", to_string(t.period)},
          {"amount_ug", t.amount.n},
          {"price_micro_per_kg", t.price.n},
          {"cost_micro", t.cost.n}};
}

/// Reads one value after the other; the first that isn't as it must be makes the whole unreadable.
class Fields {
 public:
  bool ok = true;

  const Json& at(const Json& object, const char* name) {
    static const Json kNothing;
    const auto found = object.is_object() ? object.find(name) : object.end();
    if (object.is_object() && found != object.end()) return *found;
    ok = false;
    return kNothing;
  }
  std::string text(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    ok = false;
    return {};
  }
  std::int64_t integer(const Json& value) {
    const bool fits =
        value.is_number_integer() && (!value.is_number_unsigned() ||
                                      value.get<std::uint64_t>() <= static_cast<std::uint64_t>(kFullest) * 2);
    if (fits) return value.get<std::int64_t>();
    ok = false;
    return 0;
  }
  bool boolean(const Json& value) {
    if (value.is_boolean()) return value.get<bool>();
    ok = false;
    return false;
  }
  std::uint64_t id(const Json& value) {
    const auto n = integer(value);
    ok = ok && n >= 0;
    return static_cast<std::uint64_t>(n);
  }
  Micrograms amount(const Json& value) {
    const auto n = integer(value);
    ok = ok && n >= 0;
    return {n};
  }
  UtcTime time(const Json& value) { return UtcTime{Milliseconds{integer(value)}}; }
  Period month(const Json& value) {
    const auto period = parse_period(text(value));
    ok = ok && period.has_value();
    return period.value_or(Period{});
  }
  template <class Enum>
  Enum one_of(const Json& value, int count) {
    const auto name = text(value);
    for (int i = 0; i < count; ++i)
      if (to_string(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
    ok = false;
    return Enum{};
  }
  /// The elements of an array, one by one.
  template <class Take>
  void each(const Json& array, const Take& take) {
    if (!array.is_array()) ok = false;
    if (ok)
      for (const auto& element : array) take(element);
  }
};

Posting posting_from(Fields& f, const Json& row) {
  if (!row.is_array() || row.size() != 4) {
    f.ok = false;
    return {};
  }
  Posting posting;
  posting.account.kind = f.one_of<AccountKind>(row[0], kAccountKinds);
  posting.account.team = f.text(row[1]);
  if (!is_money(posting.account.kind)) posting.account.period = f.month(row[2]);
  posting.amount = f.integer(row[3]);
  return posting;
}
Reservation reservation_from(Fields& f, const Json& o) {
  return {f.id(f.at(o, "id")),        f.text(f.at(o, "team")),          f.text(f.at(o, "task")),
          f.month(f.at(o, "month")),  f.amount(f.at(o, "estimate_ug")), f.amount(f.at(o, "left_ug")),
          f.time(f.at(o, "made_ms")), f.time(f.at(o, "expires_ms")),    f.boolean(f.at(o, "started")),
          f.boolean(f.at(o, "ended"))};
}
Order order_from(Fields& f, const Json& o) {
  return {f.id(f.at(o, "id")),
          f.text(f.at(o, "team")),
          f.one_of<Side>(f.at(o, "side"), 2),
          f.month(f.at(o, "month")),
          {f.amount(f.at(o, "price_micro_per_kg")).n},
          f.amount(f.at(o, "amount_ug")),
          f.amount(f.at(o, "left_ug")),
          f.time(f.at(o, "posted_ms"))};
}
Trade trade_from(Fields& f, const Json& o) {
  return {f.id(f.at(o, "offer")),
          f.id(f.at(o, "bid")),
          f.text(f.at(o, "seller")),
          f.text(f.at(o, "buyer")),
          f.month(f.at(o, "month")),
          f.amount(f.at(o, "amount_ug")),
          {f.amount(f.at(o, "price_micro_per_kg")).n},
          {f.amount(f.at(o, "cost_micro")).n}};
}

template <class Rows>
Json rows_json(const Rows& rows) {
  auto array = Json::array();
  for (const auto& row : rows) array.push_back(to_json(row));
  return array;
}

}  // namespace

std::string encode(const Record& record) {
  Json out{{"kind", to_string(record.kind)}, {"actor", record.actor}, {"request", record.request}};
  if (!record.note.empty()) out["note"] = record.note;
  out["postings"] = rows_json(record.postings);
  if (!record.reservations.empty()) out["reservations"] = rows_json(record.reservations);
  if (!record.orders.empty()) out["orders"] = rows_json(record.orders);
  if (!record.trades.empty()) out["trades"] = rows_json(record.trades);
  if (record.closed) out["closed"] = to_string(*record.closed);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Record> decode(std::string_view text) {
  const auto parsed = Json::parse(text, nullptr, false);
  Fields f;
  Record record;
  record.kind = f.one_of<RecordKind>(f.at(parsed, "kind"), static_cast<int>(RecordKind::close) + 1);
  record.actor = f.text(f.at(parsed, "actor"));
  record.request = f.text(f.at(parsed, "request"));
  if (f.ok && parsed.contains("note")) record.note = f.text(parsed["note"]);
  f.each(f.at(parsed, "postings"), [&](const Json& row) { record.postings.push_back(posting_from(f, row)); });
  if (f.ok && parsed.contains("reservations"))
    f.each(parsed["reservations"],
           [&](const Json& row) { record.reservations.push_back(reservation_from(f, row)); });
  if (f.ok && parsed.contains("orders"))
    f.each(parsed["orders"], [&](const Json& row) { record.orders.push_back(order_from(f, row)); });
  if (f.ok && parsed.contains("trades"))
    f.each(parsed["trades"], [&](const Json& row) { record.trades.push_back(trade_from(f, row)); });
  if (f.ok && parsed.contains("closed")) record.closed = f.month(parsed["closed"]);
  if (!f.ok)
    return fail(ErrorCode::corrupt, "a record of the market's journal can't be read",
                "restore the latest backup");
  return record;
}

}  // namespace tidewatt::market
