// Accounts and their hours: what the tables hold plus what is still in memory.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "../journal/late.h"
#include "../semantics.h"
#include "reader.h"

namespace tidewatt::store {
namespace {

using ledger::Account;
using ledger::AccountFilter;
using ledger::AccountKey;
using ledger::WideMeasures;

/// A filter as SQL over `accounts a` and as a test of keys in memory.
class Matcher {
 public:
  explicit Matcher(const AccountFilter& filter)
      : filter_(filter), ids_(filter.ids.begin(), filter.ids.end()) {
    rest_ = filter;
    rest_.ids.clear();
    for (const auto& id : filter.ids)
      json_ += fmt::format("{}\"{}\"", json_.empty() ? "[" : ",", escaped(id));
    if (!json_.empty()) json_ += "]";
  }
  [[nodiscard]] bool operator()(const AccountKey& key) const {
    return matches(rest_, key) && (ids_.empty() || ids_.contains(key.id));
  }
  /// Starts with the scope, so that the index on (scope, id, ...) serves.
  [[nodiscard]] std::string where() const {
    std::string sql = filter_.scope ? "a.scope = :scope" : "a.scope IN (0, 1, 2, 3)";
    if (!json_.empty()) sql += " AND a.id IN (SELECT value FROM json_each(:ids))";
    if (!filter_.cluster.empty()) sql += " AND a.cluster = :cluster";
    if (!filter_.domain.empty()) sql += " AND a.domain = :domain";
    return sql;
  }
  void bind(Statement& s) const {
    if (filter_.scope) s.bind(s.parameter(":scope"), static_cast<std::int64_t>(*filter_.scope));
    if (!json_.empty()) s.bind(s.parameter(":ids"), std::string_view(json_));
    if (!filter_.cluster.empty()) s.bind(s.parameter(":cluster"), std::string_view(filter_.cluster));
    if (!filter_.domain.empty()) s.bind(s.parameter(":domain"), std::string_view(filter_.domain));
  }

 private:
  static std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') out.push_back('\\');
      if (static_cast<unsigned char>(c) < 0x20)
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      else
        out.push_back(c);
    }
    return out;
  }

  const AccountFilter& filter_;
  AccountFilter rest_;
  std::unordered_set<std::string> ids_;
  std::string json_;
};

constexpr std::string_view kKeyColumns = "a.pk, a.cluster, a.scope, a.id, a.part, a.domain";
constexpr int kAfterKey = 6;

AccountKey key_of(const Statement& row) {
  return {std::string(row.text(1)), static_cast<ledger::Scope>(row.integer(2)), std::string(row.text(3)),
          std::string(row.text(4)), std::string(row.text(5))};
}

WideMeasures measures(const Statement& row, int at) {
  WideMeasures m;
  for (auto* energy : {&m.energy, &m.counter, &m.shared, &m.unattributed, &m.simulated, &m.spread})
    *energy = row.wide(at++);
  for (auto* duration : {&m.covered, &m.gap, &m.partial, &m.shared_time})
    *duration = Milliseconds{row.integer(at++)};
  m.samples = row.integer(at);
  return m;
}
constexpr int kMeasures = 11;

/// Accounts by number while tables and memory are brought together.
struct ByNumber {
  std::vector<Account> accounts;
  std::unordered_map<std::int64_t, std::size_t> places;

  void clear() {
    accounts.clear();
    places.clear();
  }
  void add(std::int64_t pk, Account account) {
    places.emplace(pk, accounts.size());
    accounts.push_back(std::move(account));
  }
  Account* find(std::int64_t pk) {
    const auto found = places.find(pk);
    return found == places.end() ? nullptr : &accounts[found->second];
  }
  std::vector<Account> sorted() && {
    std::sort(accounts.begin(), accounts.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    return std::move(accounts);
  }
};

/// An account's hours while tables and memory are brought together.
struct Hours {
  AccountKey key;
  std::vector<std::pair<UtcHour, WideMeasures>> rows;  ///< ascending

  template <class Amount>
  void add(UtcHour hour, const Amount& amount) {
    auto place = rows.end();
    while (place != rows.begin() && std::prev(place)->first >= hour) --place;
    if (place == rows.end() || place->first != hour) place = rows.insert(place, {hour, {}});
    place->second += amount;
  }
};

std::int64_t number(UtcHour hour) { return hour.time_since_epoch().count(); }

bool within(UtcHour hour, UtcHour from, UtcHour to) { return from <= hour && hour < to; }

Result<bool> has_row(Database& db, std::int64_t pk, UtcHour hour) {
  TW_TRY(auto select, db.prepare("SELECT 1 FROM energy_hourly WHERE account = ? AND hour = ?"));
  select.bind(1, pk).bind(2, number(hour));
  return select.step();
}

/// Adjustments of the range that are in the tables.
Result<LateByNumber> read_late(Database& db, const Matcher& matcher, UtcHour from, UtcHour to) {
  LateByNumber late;
  TW_TRY(auto select,
         db.prepare(fmt::format("SELECT {}, d.energy_uj, d.counter_uj, d.shared_uj, d.unattributed_uj, "
                                "d.simulated_uj, d.spread_uj, d.covered_ms, d.gap_ms, d.partial_ms, "
                                "d.shared_ms, d.samples, d.hour FROM energy_adjustments d JOIN accounts a ON "
                                "a.pk = d.account WHERE d.hour >= :from AND d.hour < :to AND {}",
                                kKeyColumns, matcher.where())));
  matcher.bind(select);
  select.bind(select.parameter(":from"), number(from)).bind(select.parameter(":to"), number(to));
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return late;
    auto& account = late[select.integer(0)];
    account.key = key_of(select);
    account.hours[UtcHour{std::chrono::hours{select.integer(kAfterKey + kMeasures)}}] +=
        measures(select, kAfterKey);
  }
}

/// The account's own first and last sample, as the tables have them.
Status read_times(Database& db, std::int64_t pk, Account& account) {
  TW_TRY(auto select, db.prepare("SELECT first_sample_ms, last_sample_ms FROM accounts WHERE pk = ?"));
  select.bind(1, pk);
  TW_TRY(const bool row, select.step());
  if (!row) return {};
  account.first_sample_at = select.time(0);
  account.last_sample_at = select.time(1);
  return {};
}

}  // namespace

Result<std::vector<Account>> Reader::accounts(const AccountFilter& filter) {
  const Matcher matcher(filter);
  TW_TRY(const auto lease, pool_.lease());
  auto& db = *lease;
  ByNumber found;
  const auto from_tables = [&]() -> Status {
    found.clear();
    const auto sql = fmt::format(
        "SELECT {}, a.energy_uj, a.counter_uj, a.shared_uj, a.unattributed_uj, a.simulated_uj, a.spread_uj, "
        "a.covered_ms, a.gap_ms, "
        "a.partial_ms, a.shared_ms, a.samples, a.first_sample_ms, a.last_sample_ms FROM accounts a WHERE {}",
        kKeyColumns, matcher.where());
    TW_TRY(auto select, db.prepare(sql));
    matcher.bind(select);
    while (true) {
      TW_TRY(const bool row, select.step());
      if (!row) return {};
      found.add(select.integer(0),
                {key_of(select), measures(select, kAfterKey), select.time(kAfterKey + kMeasures),
                 select.time(kAfterKey + kMeasures + 1), 0});
    }
  };
  const auto from_memory = [&]() -> Status {
    for (const auto& [pk, more] : state_.unfolded.accounts) {
      if (!matcher(*more.key)) continue;
      if (found.find(pk) == nullptr) found.add(pk, {*more.key, {}, {}, {}, 0});
      auto& account = *found.find(pk);
      account.totals += more.total();
      widen(account.first_sample_at, account.last_sample_at, more.first_sample_at, more.last_sample_at);
    }
    return {};
  };
  TW_TRY_STATUS(consistently(db, from_tables, from_memory));
  return std::move(found).sorted();
}

Result<std::vector<Account>> Reader::sums(const AccountFilter& filter, UtcHour from, UtcHour to) {
  const Matcher matcher(filter);
  TW_TRY(const auto lease, pool_.lease());
  auto& db = *lease;
  ByNumber found;
  LateByNumber late;
  const auto from_tables = [&]() -> Status {
    found.clear();
    TW_TRY(late, read_late(db, matcher, from, to));
    const auto sql = fmt::format(
        "SELECT {}, wide_sum(h.energy_uj), wide_sum(h.counter_uj), wide_sum(h.shared_uj), "
        "wide_sum(h.unattributed_uj), "
        "wide_sum(h.simulated_uj), wide_sum(h.spread_uj), sum(h.covered_ms), sum(h.gap_ms), "
        "sum(h.partial_ms), sum(h.shared_ms), "
        "sum(h.samples), a.first_sample_ms, a.last_sample_ms, count(*) FROM accounts a JOIN energy_hourly h "
        "ON h.account = a.pk "
        "WHERE {} AND h.hour >= :from AND h.hour < :to GROUP BY a.pk",
        kKeyColumns, matcher.where());
    TW_TRY(auto select, db.prepare(sql));
    matcher.bind(select);
    select.bind(select.parameter(":from"), number(from)).bind(select.parameter(":to"), number(to));
    while (true) {
      TW_TRY(const bool row, select.step());
      if (!row) return {};
      found.add(select.integer(0),
                {key_of(select), measures(select, kAfterKey), select.time(kAfterKey + kMeasures),
                 select.time(kAfterKey + kMeasures + 1), select.integer(kAfterKey + kMeasures + 2)});
    }
  };
  const auto from_memory = [&]() -> Status {
    for (const auto& [pk, more] : state_.unfolded.accounts) {
      if (!matcher(*more.key)) continue;
      const bool in_tables = found.find(pk) != nullptr;
      for (const auto& [hour, amount] : more.hours) {
        if (!within(hour, from, to) || hour >= state_.frozen) continue;
        late[pk].key = *more.key;
        late[pk].hours[hour] += amount;
      }
      const auto touches = [&](const auto& row) {
        return within(row.first, from, to) && row.first >= state_.frozen;
      };
      if (!in_tables) {
        if (std::none_of(more.hours.begin(), more.hours.end(), touches)) continue;
        Account account{*more.key, {}, {}, {}, 0};
        TW_TRY_STATUS(read_times(db, pk, account));
        found.add(pk, std::move(account));
      }
      auto& account = *found.find(pk);
      widen(account.first_sample_at, account.last_sample_at, more.first_sample_at, more.last_sample_at);
      std::set<UtcHour> seen;
      for (const auto& [hour, amount] : more.hours) {
        if (!within(hour, from, to) || hour < state_.frozen) continue;
        account.totals += amount;
        // An hour that the tables have too is one row, not two.
        bool counted = !seen.insert(hour).second;
        if (!counted && in_tables) {
          TW_TRY(counted, has_row(db, pk, hour));
        }
        if (!counted) ++account.rows;
      }
    }
    for (const auto& [pk, more] : late) {
      if (found.find(pk) == nullptr) {
        Account account{more.key, {}, {}, {}, 0};
        TW_TRY_STATUS(read_times(db, pk, account));
        if (const auto recent = state_.unfolded.accounts.find(pk); recent != state_.unfolded.accounts.end())
          widen(account.first_sample_at, account.last_sample_at, recent->second.first_sample_at,
                recent->second.last_sample_at);
        found.add(pk, std::move(account));
      }
      more.add_to(*found.find(pk));
    }
    return {};
  };
  TW_TRY_STATUS(consistently(db, from_tables, from_memory));
  return std::move(found).sorted();
}

Result<std::vector<ledger::HourlyRow>> Reader::hourly(const AccountFilter& filter, UtcHour from, UtcHour to) {
  const Matcher matcher(filter);
  TW_TRY(const auto lease, pool_.lease());
  auto& db = *lease;
  std::vector<Hours> found;
  std::unordered_map<std::int64_t, std::size_t> places;
  const auto from_tables = [&]() -> Status {
    found.clear();
    places.clear();
    const auto sql = fmt::format(
        "SELECT {}, h.energy_uj, h.counter_uj, h.shared_uj, h.unattributed_uj, h.simulated_uj, h.spread_uj, "
        "h.covered_ms, h.gap_ms, "
        "h.partial_ms, h.shared_ms, h.samples, h.hour FROM accounts a JOIN energy_hourly h ON h.account = "
        "a.pk "
        "WHERE {} AND h.hour >= :from AND h.hour < :to ORDER BY a.pk, h.hour",
        kKeyColumns, matcher.where());
    TW_TRY(auto select, db.prepare(sql));
    matcher.bind(select);
    select.bind(select.parameter(":from"), number(from)).bind(select.parameter(":to"), number(to));
    while (true) {
      TW_TRY(const bool row, select.step());
      if (!row) return {};
      const auto pk = select.integer(0);
      if (const auto [place, is_new] = places.try_emplace(pk, found.size()); is_new)
        found.push_back({key_of(select), {}});
      found.back().add(UtcHour{std::chrono::hours{select.integer(kAfterKey + kMeasures)}},
                       measures(select, kAfterKey));
    }
  };
  const auto from_memory = [&]() -> Status {
    for (const auto& [pk, more] : state_.unfolded.accounts) {
      if (!matcher(*more.key)) continue;
      for (const auto& [hour, amount] : more.hours) {
        if (!within(hour, from, to) || hour < state_.frozen) continue;
        const auto [place, is_new] = places.try_emplace(pk, found.size());
        if (is_new) found.push_back({*more.key, {}});
        found[place->second].add(hour, amount);
      }
    }
    return {};
  };
  TW_TRY_STATUS(consistently(db, from_tables, from_memory));
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  std::vector<ledger::HourlyRow> rows;
  for (const auto& [key, hours] : found)
    for (const auto& [hour, measures] : hours) rows.push_back({key, hour, measures});
  return rows;
}

}  // namespace tidewatt::store
