// A ledger's image from vectors: accounts with hours that a test may bend.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tidewatt/ledger/image.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::ledger {

class ImageOf final : public ImageSource {
 public:
  std::vector<Seal> seals;
  std::vector<Account> accounts;
  std::vector<Adjustment> adjustments;
  std::vector<HourlyRow> rows;
  std::vector<TaskInfo> tasks;
  std::optional<std::vector<TeamHour>> teams;  ///< nullopt = none are kept

  [[nodiscard]] bool keeps_team_hours() const override { return teams.has_value(); }
  Status read_image(const ImageParts& parts, ImageSink& sink) override {
    if (parts.registry)
      for (const auto& task : tasks) TW_TRY_STATUS(sink.add(task));
    TW_TRY_STATUS(read_rows(parts, sink));
    if (parts.team_hours && teams)
      for (const auto& hour : *teams) TW_TRY_STATUS(sink.add(hour));
    return {};
  }

 private:
  Status read_rows(const ImageParts& parts, ImageSink& sink) {
    const auto inside = [&](UtcHour hour) { return hour >= parts.from && hour < parts.to; };
    if (parts.seals)
      for (const auto& seal : seals) TW_TRY_STATUS(sink.add(seal));
    if (parts.accounts)
      for (const auto& account : accounts) TW_TRY_STATUS(sink.add(account));
    if (parts.adjustments)
      for (const auto& late : adjustments)
        if (inside(late.hour)) TW_TRY_STATUS(sink.add(late));
    if (!parts.hourly) return {};
    auto sorted = rows;
    std::ranges::sort(sorted, [&](const HourlyRow& a, const HourlyRow& b) {
      return parts.by_hour ? std::tie(a.hour, a.key) < std::tie(b.hour, b.key)
                           : std::tie(a.key, a.hour) < std::tie(b.key, b.hour);
    });
    for (const auto& row : sorted)
      if (inside(row.hour)) TW_TRY_STATUS(sink.add(row));
    return {};
  }

 public:
  /// Books `energy` of one hour: a row, and the account's total.
  void book(Scope scope, const std::string& id, UtcHour hour, WideMeasures measures,
            const std::string& part = {}, const std::string& domain = "gpu") {
    const AccountKey key{"default", scope, id, part, domain};
    rows.push_back({key, hour, measures});
    total(key) += measures;
  }
  WideMeasures& total(const AccountKey& key) {
    const auto found = std::ranges::find(accounts, key, &Account::key);
    if (found != accounts.end()) return found->totals;
    accounts.emplace_back().key = key;
    return accounts.back().totals;
  }
};

}  // namespace tidewatt::ledger
