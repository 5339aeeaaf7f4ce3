// Accounts and their hours: what the tables hold plus what is still in the journal.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "../journal/late.h"
#include "filter.h"
#include "months.h"
#include "reader.h"

namespace tidewatt::store::pg {
namespace {

using ledger::Account;
using ledger::AccountFilter;
using ledger::AccountKey;
using ledger::WideMeasures;

constexpr int kPgAfterKey = 6;
constexpr int kPgMeasures = 11;
constexpr auto kPgKeyColumns = "k.pk, k.cluster, k.scope, k.id, k.part, k.domain";

AccountKey key_at(const Rows& rows, int row) {
  return {std::string(rows.text(row, 1)), static_cast<ledger::Scope>(rows.integer(row, 2)),
          std::string(rows.text(row, 3)), std::string(rows.text(row, 4)), std::string(rows.text(row, 5))};
}

WideMeasures measures_at(const Rows& rows, int row) {
  WideMeasures m;
  int column = kPgAfterKey;
  for (auto* energy : {&m.energy, &m.counter, &m.shared, &m.unattributed, &m.simulated, &m.spread})
    *energy = rows.wide(row, column++);
  for (auto* duration : {&m.covered, &m.gap, &m.partial, &m.shared_time})
    *duration = Milliseconds{rows.integer(row, column++)};
  m.samples = rows.integer(row, column);
  return m;
}

std::int64_t hour_number(UtcHour hour) { return hour.time_since_epoch().count(); }
bool is_within(UtcHour hour, UtcHour from, UtcHour to) { return from <= hour && hour < to; }

/// An account's part that is in the journal only.
struct Recent {
  AccountKey key;
  UnfoldedAccount more;
};
using Recents = std::map<std::int64_t, Recent>;

/// Those that match and, where a range is given, have an hour in it.
Recents recents_of(const Unfolded& journal, const Matcher& matcher) {
  Recents recents;
  for (const auto& [pk, more] : journal.accounts)
    if (matcher(*more.key)) recents.emplace(pk, Recent{*more.key, more});
  return recents;
}

std::vector<Account> sorted(std::map<std::int64_t, Account>&& found) {
  std::vector<Account> accounts;
  accounts.reserve(found.size());
  for (auto& [pk, account] : found) accounts.push_back(std::move(account));
  std::sort(accounts.begin(), accounts.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return accounts;
}

/// Adjustments of the range that are in the tables.
Result<LateByNumber> read_late(Connection& db, const Matcher& matcher, UtcHour from, UtcHour to) {
  Params params;
  int last = 0;
  const auto where = matcher.where(params, last);
  params.add(hour_number(from)).add(hour_number(to));
  TW_TRY(const auto rows,
         db.query(fmt::format(
                      "SELECT {}, d.energy_uj, d.counter_uj, d.shared_uj, d.unattributed_uj, "
                      "d.simulated_uj, d.spread_uj, d.covered_ms, d.gap_ms, d.partial_ms, d.shared_ms, "
                      "d.samples, d.hour FROM energy_adjustments d JOIN account_keys k ON k.pk = d.account "
                      "WHERE d.hour >= ${} AND d.hour < ${} AND {}",
                      kPgKeyColumns, last + 1, last + 2, where),
                  params));
  LateByNumber late;
  for (int i = 0; i < rows.size(); ++i) {
    auto& account = late[rows.integer(i, 0)];
    account.key = key_at(rows, i);
    account.hours[UtcHour{std::chrono::hours{rows.integer(i, kPgAfterKey + kPgMeasures)}}] +=
        measures_at(rows, i);
  }
  return late;
}

}  // namespace

Result<std::vector<Account>> Reader::accounts(const AccountFilter& filter) {
  const Matcher matcher(filter);
  Recents recents;
  std::map<std::int64_t, Account> found;
  const auto from_journal = [&](const Unfolded& journal) -> Status {
    recents = recents_of(journal, matcher);
    return {};
  };
  const auto from_tables = [&](Connection& db) -> Status {
    found.clear();
    Params params;
    int last = 0;
    const auto where = matcher.where(params, last);
    TW_TRY(const auto rows,
           db.query(
               fmt::format("SELECT {}, t.energy_uj, t.counter_uj, t.shared_uj, t.unattributed_uj, "
                           "t.simulated_uj, t.spread_uj, t.covered_ms, t.gap_ms, t.partial_ms, t.shared_ms, "
                           "t.samples, t.first_sample_ms, t.last_sample_ms "
                           "FROM account_keys k JOIN account_totals t ON t.account = k.pk WHERE {}",
                           kPgKeyColumns, where),
               params));
    for (int i = 0; i < rows.size(); ++i)
      found.emplace(rows.integer(i, 0),
                    Account{key_at(rows, i), measures_at(rows, i), rows.time(i, kPgAfterKey + kPgMeasures),
                            rows.time(i, kPgAfterKey + kPgMeasures + 1), 0});
    return {};
  };
  TW_TRY_STATUS(consistently(from_journal, from_tables));
  for (auto& [pk, recent] : recents) {
    auto& account = found.try_emplace(pk, Account{recent.key, {}, {}, {}, 0}).first->second;
    account.totals += recent.more.total();
    widen(account.first_sample_at, account.last_sample_at, recent.more.first_sample_at,
          recent.more.last_sample_at);
  }
  return sorted(std::move(found));
}

Result<std::vector<Account>> Reader::sums(const AccountFilter& filter, UtcHour from, UtcHour to) {
  const Matcher matcher(filter);
  Recents recents;
  LateByNumber late;
  UtcHour frozen = kNothingFrozen;
  std::map<std::int64_t, Account> found;
  const auto from_journal = [&](const Unfolded& journal) -> Status {
    recents = recents_of(journal, matcher);
    return {};
  };
  const auto from_tables = [&](Connection& db) -> Status {
    found.clear();
    TW_TRY(frozen, frozen_until(db));
    TW_TRY(late, read_late(db, matcher, from, to));
    Params params;
    int last = 0;
    const auto where = matcher.where(params, last);
    params.add(hour_number(from)).add(hour_number(to));
    TW_TRY(
        const auto rows,
        db.query(
            fmt::format(
                "SELECT {}, s.*, t.first_sample_ms, t.last_sample_ms FROM account_keys k "
                "JOIN account_totals t ON t.account = k.pk "
                "JOIN LATERAL (SELECT sum(energy_uj), sum(counter_uj), sum(shared_uj), sum(unattributed_uj), "
                "sum(simulated_uj), sum(spread_uj), sum(covered_ms)::bigint, sum(gap_ms)::bigint, "
                "sum(partial_ms)::bigint, sum(shared_ms)::bigint, sum(samples)::bigint, count(*) AS n "
                "FROM energy_hourly h WHERE h.account = k.pk AND h.hour >= ${} AND h.hour < ${}) s ON s.n > "
                "0 "
                "WHERE {}",
                kPgKeyColumns, last + 1, last + 2, where),
            params));
    for (int i = 0; i < rows.size(); ++i)
      found.emplace(
          rows.integer(i, 0),
          Account{key_at(rows, i), measures_at(rows, i), rows.time(i, kPgAfterKey + kPgMeasures + 1),
                  rows.time(i, kPgAfterKey + kPgMeasures + 2), rows.integer(i, kPgAfterKey + kPgMeasures)});
    // What the journal adds: an hour that the tables have too is one row, not two.
    std::set<std::pair<std::int64_t, std::int64_t>> added;
    std::vector<std::int64_t> strangers;
    for (const auto& [pk, recent] : recents) {
      for (const auto& [hour, amount] : recent.more.hours) {
        if (!is_within(hour, from, to)) continue;
        if (hour >= frozen) {
          added.emplace(pk, hour_number(hour));
        } else {
          late[pk].key = recent.key;
          late[pk].hours[hour] += amount;
        }
      }
    }
    Array accounts(Array::Of::integers), hours(Array::Of::integers);
    for (const auto& [pk, hour] : added) {
      accounts.add(pk);
      hours.add(hour);
      if (!found.contains(pk) && (strangers.empty() || strangers.back() != pk)) strangers.push_back(pk);
    }
    for (const auto& [pk, account] : late)
      if (!found.contains(pk) && !std::binary_search(strangers.begin(), strangers.end(), pk))
        strangers.insert(std::upper_bound(strangers.begin(), strangers.end(), pk), pk);
    if (!added.empty()) {
      Params pairs;
      pairs.add(std::move(accounts)).add(std::move(hours));
      TW_TRY(const auto both,
             db.query("SELECT h.account, h.hour FROM unnest($1::bigint[], $2::bigint[]) w(a, h2) "
                      "JOIN energy_hourly h ON h.account = w.a AND h.hour = w.h2",
                      pairs));
      for (int i = 0; i < both.size(); ++i) added.erase({both.integer(i, 0), both.integer(i, 1)});
    }
    if (!strangers.empty()) {
      Array numbers(Array::Of::integers);
      for (const auto pk : strangers) {
        numbers.add(pk);
        const auto recent = recents.find(pk);
        found.emplace(pk,
                      Account{recent != recents.end() ? recent->second.key : late.at(pk).key, {}, {}, {}, 0});
      }
      Params wanted;
      wanted.add(std::move(numbers));
      TW_TRY(const auto times, db.query("SELECT account, first_sample_ms, last_sample_ms FROM account_totals "
                                        "WHERE account = ANY($1::bigint[])",
                                        wanted));
      for (int i = 0; i < times.size(); ++i) {
        auto& account = found.at(times.integer(i, 0));
        account.first_sample_at = times.time(i, 1);
        account.last_sample_at = times.time(i, 2);
      }
    }
    for (const auto& [pk, hour] : added) ++found.at(pk).rows;
    return {};
  };
  TW_TRY_STATUS(consistently(from_journal, from_tables));
  for (const auto& [pk, recent] : recents) {
    const auto place = found.find(pk);
    if (place == found.end()) continue;
    auto& account = place->second;
    widen(account.first_sample_at, account.last_sample_at, recent.more.first_sample_at,
          recent.more.last_sample_at);
    for (const auto& [hour, amount] : recent.more.hours)
      if (is_within(hour, from, to) && hour >= frozen) account.totals += amount;
  }
  for (const auto& [pk, more] : late) more.add_to(found.at(pk));
  return sorted(std::move(found));
}

Result<std::vector<ledger::HourlyRow>> Reader::hourly(const AccountFilter& filter, UtcHour from, UtcHour to) {
  const Matcher matcher(filter);
  Recents recents;
  UtcHour frozen = kNothingFrozen;
  std::map<AccountKey, std::map<UtcHour, WideMeasures>> found;
  const auto from_journal = [&](const Unfolded& journal) -> Status {
    recents = recents_of(journal, matcher);
    return {};
  };
  const auto from_tables = [&](Connection& db) -> Status {
    found.clear();
    TW_TRY(frozen, frozen_until(db));
    Params params;
    int last = 0;
    const auto where = matcher.where(params, last);
    params.add(hour_number(from)).add(hour_number(to));
    TW_TRY(const auto rows,
           db.query(
               fmt::format("SELECT {}, h.energy_uj, h.counter_uj, h.shared_uj, h.unattributed_uj, "
                           "h.simulated_uj, h.spread_uj, h.covered_ms, h.gap_ms, h.partial_ms, h.shared_ms, "
                           "h.samples, h.hour FROM account_keys k JOIN energy_hourly h ON h.account = k.pk "
                           "WHERE h.hour >= ${} AND h.hour < ${} AND {}",
                           kPgKeyColumns, last + 1, last + 2, where),
               params));
    for (int i = 0; i < rows.size(); ++i) {
      const UtcHour hour{std::chrono::hours{rows.integer(i, kPgAfterKey + kPgMeasures)}};
      found[key_at(rows, i)][hour] = measures_at(rows, i);
    }
    return {};
  };
  TW_TRY_STATUS(consistently(from_journal, from_tables));
  for (const auto& [pk, recent] : recents)
    for (const auto& [hour, amount] : recent.more.hours)
      if (is_within(hour, from, to) && hour >= frozen) found[recent.key][hour] += amount;
  std::vector<ledger::HourlyRow> rows;
  for (const auto& [key, hours] : found) {
    for (const auto& [hour, measures] : hours) rows.push_back({key, hour, measures});
  }
  return rows;
}

}  // namespace tidewatt::store::pg
