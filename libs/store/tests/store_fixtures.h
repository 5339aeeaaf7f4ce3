// Stores to test and small things to put in them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "postgres_cluster.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/store/memory.h"
#include "tidewatt/store/sqlite.h"

namespace tidewatt::store::testing {

using namespace tidewatt::ledger;

/// A folder of its own, gone with all in it at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tidewatt-store-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name = "ledger.db") const {
    return (path_ / name).string();
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::unique_ptr<Store> open_or_abort(const SqliteOptions& options) {
  auto store = open_sqlite_store(options);
  if (!store) {
    ADD_FAILURE() << store.error().to_string();
    std::abort();
  }
  return std::move(*store);
}

inline const NodeKey kNode{"default", "n1"};
inline const UtcTime kNoon = *parse_rfc3339("2026-11-29T12:00:00Z");
inline const UtcHour kHour = hour_of(kNoon);

inline AccountKey gpu_account(Scope scope, std::string id, std::string part = {}) {
  return {"default", scope, std::move(id), std::move(part), "gpu"};
}

inline AccountDelta delta(AccountKey key, std::int64_t microjoules, UtcHour hour = kHour) {
  AccountDelta d{std::move(key), {}, {}, {}};
  auto& row = d.at(hour);
  row.energy = Microjoules{microjoules};
  row.counter = Microjoules{microjoules};
  row.covered = Milliseconds{20'000};
  row.samples = 1;
  return d;
}

inline NodeCursor cursor_at(std::int64_t ms) {
  NodeCursor cursor;
  cursor.devices.push_back({"gpu",
                            0,
                            "GPU-5c21a1b0-0f4e-4e0c-9d1e-0c4b5a6f7d8e",
                            "agent-1",
                            UtcTime{Milliseconds{ms}},
                            UtcTime{Milliseconds{ms}},
                            Microjoules{ms * 7},
                            "boot",
                            "epoch",
                            false,
                            {},
                            Milliwatts{700'000},
                            {"job-1"}});
  return cursor;
}

inline Accrual accrual(const NodeKey& node, std::uint64_t expected, std::vector<AccountDelta> deltas,
                       std::vector<CurvePoint> curve = {}) {
  return {node, expected,
          std::make_shared<const NodeCursor>(cursor_at(static_cast<std::int64_t>(expected) + 1)),
          std::move(deltas), std::move(curve)};
}

inline Status note(Store& store, const NodeInfo& info) {
  const auto shared = std::make_shared<const NodeInfo>(info);
  return store.note_seen({&shared, 1});
}

inline CurvePoint point(UtcTime at, std::optional<Milliwatts> power) {
  CurvePoint p{at, 0.25, {}};
  p.devices.push_back({"gpu",
                       0,
                       power,
                       power,
                       power,
                       Milliwatts{700'000},
                       Quality::measured,
                       {"job-1"},
                       Health{61.5, 4, 0, 0}});
  return p;
}

/// Where no URL is given, in the program's own cluster; nullptr where PostgreSQL isn't installed.
inline std::unique_ptr<Store> open_postgres_or_abort(PostgresOptions options = {}) {
  if (options.url.empty()) {
    auto* cluster = PostgresCluster::get();
    if (cluster == nullptr) return nullptr;
    options.url = cluster->url();
    if (options.schema == PostgresOptions{}.schema) options.schema = cluster->fresh_schema();
  }
  // Tests share their machine: a busy one isn't a broken one.
  if (options.timeout == PostgresOptions{}.timeout) options.timeout = Milliseconds{30'000};
  auto store = open_postgres_store(options);
  if (!store) {
    ADD_FAILURE() << store.error().to_string();
    std::abort();
  }
  return std::move(*store);
}

/// Applies one accrual and says what came of it.
inline AccrueOutcome put(Store& store, const Accrual& a) {
  const auto outcomes = store.accrue({&a, 1});
  EXPECT_TRUE(outcomes) << (outcomes ? "" : outcomes.error().to_string());
  return outcomes ? outcomes->at(0) : AccrueOutcome::conflict;
}

inline WideMicrojoules energy_of(Store& store, const AccountKey& key) {
  AccountFilter filter{key.scope, key.cluster, {key.id}, key.domain};
  const auto accounts = store.accounts(filter);
  EXPECT_TRUE(accounts) << (accounts ? "" : accounts.error().to_string());
  WideMicrojoules sum;
  if (accounts)
    for (const auto& account : *accounts)
      if (account.key == key) sum += account.totals.energy;
  return sum;
}

/// A store under test, and how to close and open it again where that means something.
struct Kind {
  std::string name;
  std::function<std::unique_ptr<Store>(const TempFolder&)> open;  ///< nullptr = it can't be had here
};
inline void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

inline std::vector<Kind> all_kinds() {
  return {
      {"memory", [](const TempFolder&) { return make_memory_store(); }},
      {"sqlite", [](const TempFolder& folder) { return open_or_abort({.path = folder.file()}); }},
      // Every commit is folded into the tables at once: the same answers must come from there.
      {"sqlite_eager",
       [](const TempFolder& folder) {
         return open_or_abort({.path = folder.file(), .checkpoint_bytes = 1});
       }},
      {"postgres", [](const TempFolder&) { return open_postgres_or_abort(); }},
      // Folded as soon as it is there: answers come from the journal, the tables and both.
      {"postgres_eager", [](const TempFolder&) { return open_postgres_or_abort({.fold_bytes = 1}); }},
  };
}

class StoreContract : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!owned_) GTEST_SKIP() << PostgresCluster::why_not();
  }
  TempFolder folder_;
  std::unique_ptr<Store> owned_ = GetParam().open(folder_);
  std::unique_ptr<Store> stand_in_ = owned_ ? nullptr : make_memory_store();
  Store& store_ = owned_ ? *owned_ : *stand_in_;
};

inline std::string kind_name(const ::testing::TestParamInfo<Kind>& info) { return info.param.name; }

}  // namespace tidewatt::store::testing
