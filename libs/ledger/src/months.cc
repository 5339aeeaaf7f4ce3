#include "tidewatt/ledger/months.h"

#include <algorithm>

namespace tidewatt::ledger {
namespace {

class Hashing final : public ImageSink {
 public:
  Hashing(Month month, const std::string& previous) : hasher_(month, previous) {}
  using ImageSink::add;
  Status add(const HourlyRow& row) override {
    hasher_.add(row);
    return {};
  }
  Seal finish() { return hasher_.finish(); }

 private:
  SealHasher hasher_;
};

/// The first month in which anything was booked; nullopt = nothing yet.
Result<std::optional<Month>> first_month(Store& store) {
  TW_TRY(const auto nodes, store.accounts({Scope::node, {}, {}, {}}));
  std::optional<UtcTime> first;
  for (const auto& account : nodes)
    if (account.first_sample_at && (!first || *account.first_sample_at < *first))
      first = account.first_sample_at;
  if (!first) return std::optional<Month>{};
  return std::optional{month_of(hour_of(*first))};
}

/// Seals from the first open month through `last`; also where a hash is missing.
Result<std::vector<Seal>> seal_all(Store& store, const std::vector<Seal>& seals, Month first, Month last,
                                   UtcTime now) {
  std::vector<Seal> made;
  std::string previous;
  const auto finish = [&](Month month, UtcTime sealed_at) -> Status {
    TW_TRY(auto seal, compute_seal(store, month, previous));
    seal.sealed_at = sealed_at;
    TW_TRY(const bool mine, store.finish_seal(seal));
    previous = seal.hash;
    if (mine) made.push_back(std::move(seal));
    return {};
  };
  for (const auto& seal : seals) {
    if (seal.hash.empty()) {
      TW_TRY_STATUS(finish(seal.month, seal.sealed_at));
    } else {
      previous = seal.hash;
    }
  }
  for (auto month = first; month <= last; month = month.next()) {
    TW_TRY_STATUS(store.close_month(month, now));
    TW_TRY_STATUS(finish(month, now));
  }
  return made;
}

}  // namespace

Result<Seal> compute_seal(ImageSource& source, Month month, const std::string& previous) {
  Hashing hashing(month, previous);
  ImageParts parts;
  parts.hourly = true;
  parts.from = month.begin();
  parts.to = month.end();
  TW_TRY_STATUS(source.read_image(parts, hashing));
  return hashing.finish();
}

Result<std::vector<Seal>> seal_through(Store& store, Month last, UtcTime now) {
  if (start_of(last.end()) > now)
    return fail(ErrorCode::invalid_input, to_string(last) + " isn't over yet", "name a month that is");
  TW_TRY(auto seals, store.seals());
  std::optional<Month> first;
  if (!seals.empty()) {
    first = seals.back().month.next();
  } else {
    TW_TRY(first, first_month(store));
    if (!first || *first > last)
      return fail(ErrorCode::invalid_input, "nothing was booked in " + to_string(last) + " or before it",
                  "name a month that holds energy");
  }
  return seal_all(store, std::move(seals), *first, last, now);
}

Result<std::vector<Seal>> seal_due(Store& store, UtcTime now) {
  const auto last = Month{month_of(hour_of(now - kSealAfter)).n - 1};
  TW_TRY(auto seals, store.seals());
  auto first = last.next();
  if (!seals.empty()) {
    first = seals.back().month.next();
  } else {
    TW_TRY(const auto booked, first_month(store));
    if (booked) first = *booked;
  }
  return seal_all(store, std::move(seals), first, last, now);
}

}  // namespace tidewatt::ledger
