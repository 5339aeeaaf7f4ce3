#include "tidewatt/ledger/open_gap.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tidewatt::ledger {
namespace {

/// Brings two lists of rows together; rows that are the same by `before` become one.
template <class Row, class Before, class Unite>
void merge_into(std::vector<Row>& rows, std::vector<Row> more, const Before& before, const Unite& unite) {
  if (more.empty()) return;
  std::sort(more.begin(), more.end(), before);
  std::vector<Row> merged;
  merged.reserve(rows.size() + more.size());
  const auto take = [&](Row& row) {
    if (merged.empty() || before(merged.back(), row))
      merged.push_back(std::move(row));
    else
      unite(merged.back(), row);
  };
  auto a = rows.begin();
  auto b = more.begin();
  while (a != rows.end() || b != more.end())
    take(b == more.end() || (a != rows.end() && !before(*b, *a)) ? *a++ : *b++);
  rows = std::move(merged);
}

}  // namespace

std::optional<UtcRange> open_gap(UtcTime last_sample_at, std::optional<UtcTime> ended_at, UtcRange window,
                                 const OpenGapRule& rule) {
  if (rule.now - last_sample_at > kRetireAfter) return std::nullopt;
  const auto until = std::min(rule.now, ended_at.value_or(rule.now));
  if (until - last_sample_at <= rule.patience) return std::nullopt;
  const UtcRange gap{std::max(last_sample_at, window.begin), std::min(until, window.end)};
  return gap.begin < gap.end ? std::optional{gap} : std::nullopt;
}

void add_open_gaps(std::vector<Account>& accounts, const std::vector<OpenGap>& gaps) {
  std::vector<Account> more;
  for (const auto& gap : gaps) {
    Account& account = more.emplace_back();
    account.key = gap.key;
    account.totals.gap = account.open_gap = gap.range.length();
    account.last_sample_at = gap.last_sample_at;
  }
  merge_into(
      accounts, std::move(more), [](const Account& a, const Account& b) { return a.key < b.key; },
      [](Account& account, const Account& gap) {
        account.totals += gap.totals;
        account.open_gap += gap.open_gap;
      });
}

void add_open_gaps(std::vector<HourlyRow>& rows, const std::vector<OpenGap>& gaps) {
  std::vector<HourlyRow> more;
  for (const auto& gap : gaps) {
    for (auto at = gap.range.begin; at < gap.range.end;) {
      HourlyRow& row = more.emplace_back();
      row.key = gap.key;
      row.hour = hour_of(at);
      const auto end = std::min(gap.range.end, start_of(row.hour + std::chrono::hours{1}));
      row.measures.gap = end - at;
      at = end;
    }
  }
  merge_into(
      rows, std::move(more),
      [](const HourlyRow& a, const HourlyRow& b) {
        return a.key < b.key || (a.key == b.key && a.hour < b.hour);
      },
      [](HourlyRow& row, const HourlyRow& gap) { row.measures += gap.measures; });
}

}  // namespace tidewatt::ledger
