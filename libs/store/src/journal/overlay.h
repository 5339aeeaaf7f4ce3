// What the journal adds to the tables, by key: an image of the ledger is both, merged in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "../semantics.h"
#include "late.h"
#include "tidewatt/ledger/image.h"
#include "unfolded.h"

namespace tidewatt::store {

/// Rows from a table, in order, with extra ones of the same order in between; equal keys become one row.
template <class Row>
class Merge {
 public:
  using Less = std::function<bool(const Row&, const Row&)>;
  using Add = std::function<void(Row&, const Row&)>;
  /// @param extra in any order, each key once
  Merge(std::vector<Row> extra, Less less, Add add, ledger::ImageSink& sink)
      : extra_(std::move(extra)), less_(std::move(less)), add_(std::move(add)), sink_(sink) {
    std::sort(extra_.begin(), extra_.end(), less_);
  }
  Status take(Row&& row) {
    while (next_ < extra_.size() && less_(extra_[next_], row)) TW_TRY_STATUS(sink_.add(extra_[next_++]));
    if (next_ < extra_.size() && !less_(row, extra_[next_])) add_(row, extra_[next_++]);
    return sink_.add(row);
  }
  Status end() {
    while (next_ < extra_.size()) TW_TRY_STATUS(sink_.add(extra_[next_++]));
    return {};
  }

 private:
  std::vector<Row> extra_;
  Less less_;
  Add add_;
  ledger::ImageSink& sink_;
  std::size_t next_ = 0;
};

/// The journal of one instant, split as a fold would do it.
struct Overlay {
  std::vector<ledger::Account> accounts;
  std::vector<ledger::HourlyRow> hourly;
  std::vector<ledger::Adjustment> late;
};

/// @param unfolded  with every account's key
/// @param frozen    hours before are sealed
inline Overlay overlay_of(const Unfolded& unfolded, UtcHour frozen, const ledger::ImageParts& parts) {
  Overlay overlay;
  for (const auto& [pk, more] : unfolded.accounts) {
    if (!more.key) continue;
    if (parts.accounts)
      overlay.accounts.push_back({*more.key, more.total(), more.first_sample_at, more.last_sample_at});
    if (!matches(parts.filter, *more.key)) continue;
    std::map<UtcHour, ledger::WideMeasures> hours;
    for (const auto& [hour, amount] : more.hours)
      if (parts.from <= hour && hour < parts.to) hours[hour] += amount;
    for (const auto& [hour, amount] : hours) {
      if (hour < frozen) {
        if (parts.adjustments)
          overlay.late.push_back({*more.key, hour, amount, std::nullopt, std::string(ledger::kLateReason)});
      } else if (parts.hourly) {
        if (!parts.after || std::tie(parts.after->first, parts.after->second) < std::tie(*more.key, hour))
          overlay.hourly.push_back({*more.key, hour, amount});
      }
    }
  }
  std::sort(overlay.late.begin(), overlay.late.end(),
            [](const auto& a, const auto& b) { return std::tie(a.hour, a.key) < std::tie(b.hour, b.key); });
  return overlay;
}

inline Merge<ledger::Account> merge_accounts(Overlay& overlay, ledger::ImageSink& sink) {
  return {std::move(overlay.accounts), [](const auto& a, const auto& b) { return a.key < b.key; },
          [](auto& account, const auto& more) {
            account.totals += more.totals;
            widen(account.first_sample_at, account.last_sample_at, more.first_sample_at, more.last_sample_at);
          },
          sink};
}

inline Merge<ledger::HourlyRow> merge_hourly(Overlay& overlay, bool by_hour, ledger::ImageSink& sink) {
  return {std::move(overlay.hourly),
          [by_hour](const auto& a, const auto& b) {
            return by_hour ? std::tie(a.hour, a.key) < std::tie(b.hour, b.key)
                           : std::tie(a.key, a.hour) < std::tie(b.key, b.hour);
          },
          [](auto& row, const auto& more) { row.measures += more.measures; }, sink};
}

}  // namespace tidewatt::store
