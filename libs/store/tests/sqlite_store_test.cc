// What only a store on disk promises: it is there after a restart, it is ours alone, and damage is said, not
// crashed on.
#include <sqlite3.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "store_fixtures.h"

namespace tidewatt::store::testing {
namespace {

const auto kDevice = gpu_account(Scope::device, "n1/0");

/// Runs statements behind the store's back.
void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK)
      << (error != nullptr ? error : "");
  sqlite3_free(error);
  sqlite3_close(db);
}

Error open_error(const std::string& path) {
  const auto store = open_sqlite_store({.path = path});
  EXPECT_FALSE(store);
  return store ? Error{} : store.error();
}

TEST(SqliteStore, EverythingIsThereAfterReopening) {
  const TempFolder folder;
  NodeInfo info;
  info.key = kNode;
  info.last_seen_at = kNoon;
  info.devices.resize(2);
  info.devices[1].health = Health{61.5, std::nullopt, 3, std::nullopt};
  info.devices[1].energy_total = Joules{1e9 / 3};
  info.stale = StaleBeats{kNoon, Milliseconds{3'600'000}};
  {
    const auto store = open_or_abort({.path = folder.file()});
    for (std::uint64_t i = 0; i < 5; ++i) {
      const auto at = kNoon + static_cast<int>(i) * Milliseconds{20'000};
      ASSERT_EQ(put(*store, accrual(kNode, i, {delta(kDevice, 5)}, {point(at, Milliwatts{7})})),
                AccrueOutcome::applied);
    }
    ASSERT_TRUE(note(*store, info));
    ASSERT_TRUE(store->put_task({"default", "job-1", "", "", "", kNoon, std::nullopt}));
  }
  const auto store = open_or_abort({.path = folder.file()});
  EXPECT_EQ(energy_of(*store, kDevice), WideMicrojoules(Microjoules{25}));
  EXPECT_EQ(store->cursor(kNode)->revision, 5U);
  EXPECT_EQ(*store->cursor(kNode)->cursor, cursor_at(5));
  const auto curve = store->curve(kNode, {kNoon, kNoon + std::chrono::hours{1}}, 100);
  ASSERT_EQ(curve->size(), 5U);
  EXPECT_EQ(curve->at(0).devices.at(0).holders, TaskSet{"job-1"});
  const auto node = store->node(kNode);
  ASSERT_TRUE(*node);
  EXPECT_EQ((*node)->first_seen_at, kNoon);
  EXPECT_EQ((*node)->stale, info.stale);
  EXPECT_EQ((*node)->devices.at(1).energy_total, info.devices[1].energy_total);
  EXPECT_EQ((*node)->devices.at(1).health->ecc_errors, 3);
  EXPECT_EQ((*node)->devices.at(1).health->xid_errors, std::nullopt);
  EXPECT_EQ(store->tasks()->size(), 1U);
  // Booking goes on where it stood.
  EXPECT_EQ(put(*store, accrual(kNode, 5, {delta(kDevice, 5)})), AccrueOutcome::applied);
}

TEST(SqliteStore, FilesAreForTheOwnerOnly) {
  const TempFolder folder;
  const auto store = open_or_abort({.path = folder.file()});
  ASSERT_EQ(put(*store, accrual(kNode, 0, {})), AccrueOutcome::applied);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    struct stat found{};
    ASSERT_EQ(::stat(entry.path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U) << entry.path();
  }
}

TEST(SqliteStore, ASecondOpenerIsToldWhoHasIt) {
  const TempFolder folder;
  auto store = open_or_abort({.path = folder.file()});
  const auto error = open_error(folder.file());
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_NE(error.message.find("process " + std::to_string(::getpid())), std::string::npos) << error.message;
  store.reset();
  EXPECT_TRUE(open_sqlite_store({.path = folder.file()}));
}

TEST(SqliteStore, AnotherNameOfTheSameFileIsNoWayIn) {
  const TempFolder folder;
  const TempFolder elsewhere;
  const auto store = open_or_abort({.path = folder.file()});
  std::filesystem::create_symlink(folder.file(), elsewhere.file("symbolic.db"));
  EXPECT_EQ(open_error(elsewhere.file("symbolic.db")).code, ErrorCode::conflict);
  std::filesystem::create_directory_symlink(folder.path(), elsewhere.path() / "folder");
  EXPECT_EQ(open_error(elsewhere.file("folder/ledger.db")).code, ErrorCode::conflict);
  std::filesystem::create_hard_link(folder.file(), elsewhere.file("hard.db"));
  const auto error = open_error(elsewhere.file("hard.db"));
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_NE(error.message.find("hard link"), std::string::npos) << error.message;
}

TEST(SqliteStore, ASymbolicLinkLeadsToTheLedger) {
  const TempFolder folder;
  ASSERT_EQ(put(*open_or_abort({.path = folder.file()}), accrual(kNode, 0, {delta(kDevice, 5)})),
            AccrueOutcome::applied);
  const TempFolder elsewhere;
  std::filesystem::create_symlink(folder.file(), elsewhere.file());
  const auto store = open_or_abort({.path = elsewhere.file()});
  EXPECT_EQ(energy_of(*store, kDevice), WideMicrojoules(Microjoules{5}));
}

TEST(SqliteStore, AFolderThatIsMissingIsNamed) {
  const auto error = open_error("/nonexistent/tidewatt/ledger.db");
  EXPECT_EQ(error.code, ErrorCode::permission_denied);
  EXPECT_NE(error.message.find("/nonexistent/tidewatt"), std::string::npos);
}

TEST(SqliteStore, GarbageIsNotADatabase) {
  const TempFolder folder;
  std::ofstream(folder.file()) << std::string(10'000, 'g');
  const auto error = open_error(folder.file());
  EXPECT_EQ(error.code, ErrorCode::corrupt);
  EXPECT_NE(error.message.find(folder.file()), std::string::npos) << error.message;
}

TEST(SqliteStore, AnotherProgramsDatabaseIsLeftAlone) {
  const TempFolder folder;
  run_sql(folder.file(), "CREATE TABLE bookmarks(url TEXT)");
  EXPECT_EQ(open_error(folder.file()).code, ErrorCode::corrupt);
  run_sql(folder.file(), "INSERT INTO bookmarks VALUES('still here')");
}

TEST(SqliteStore, ANewerSchemaIsRefusedWithAWayOut) {
  const TempFolder folder;
  open_or_abort({.path = folder.file()}).reset();
  run_sql(folder.file(), "UPDATE meta SET value = '999' WHERE key = 'schema_version'");
  const auto error = open_error(folder.file());
  EXPECT_EQ(error.code, ErrorCode::corrupt);
  EXPECT_NE(error.message.find("999"), std::string::npos) << error.message;
  EXPECT_NE(error.hint.find("newer tidewatt"), std::string::npos) << error.hint;
}

TEST(SqliteStore, AGarbledJournalRowIsSaidNotBooked) {
  for (const auto* bytes : {"x''", "x'ff'", "x'01'", "x'0100000001020304'", "x'01ffffffffffffffffff01'"}) {
    const TempFolder folder;
    open_or_abort({.path = folder.file()}).reset();
    run_sql(folder.file(), std::string("INSERT INTO journal(bytes) VALUES(") + bytes + ")");
    EXPECT_EQ(open_error(folder.file()).code, ErrorCode::corrupt) << bytes;
  }
}

TEST(SqliteStore, ATornWriteAheadLogLosesOnlyItsTail) {
  const TempFolder folder;
  const auto store = open_or_abort({.path = folder.file()});
  constexpr int kCommits = 20;
  for (std::uint64_t i = 0; i < kCommits; ++i)
    ASSERT_EQ(put(*store, accrual(kNode, i, {delta(kDevice, 5)})), AccrueOutcome::applied);
  const auto whole = std::filesystem::file_size(folder.file() + "-wal");
  std::uint64_t longest = 0;
  for (std::uintmax_t size = 0; size <= whole; size += whole / 37 + 1) {
    const TempFolder copy;
    std::filesystem::copy_file(folder.file(), copy.file());
    std::filesystem::copy_file(folder.file() + "-wal", copy.file() + "-wal");
    std::filesystem::resize_file(copy.file() + "-wal", size);
    const auto torn = open_sqlite_store({.path = copy.file()});
    if (!torn) continue;  // an error is an answer; a crash isn't
    const auto revision = (*torn)->cursor(kNode)->revision;
    EXPECT_EQ(energy_of(**torn, kDevice),
              WideMicrojoules(Microjoules{static_cast<std::int64_t>(revision) * 5}));
    EXPECT_GE(revision, longest);
    longest = revision;
  }
  EXPECT_GT(longest, 10U);
}

TEST(SqliteStore, AFullQueuePushesBackAndLosesNothing) {
  const TempFolder folder;
  const auto store = open_or_abort({.path = folder.file(), .queue_limit = 1});
  std::atomic<int> pushed_back{0};
  std::atomic<std::int64_t> booked{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const NodeKey node{"default", "n" + std::to_string(t)};
      std::uint64_t revision = 0;
      for (int i = 0; i < 2'000 && (pushed_back == 0 || i < 20); ++i) {
        const auto a = accrual(node, revision, {delta(kDevice, 1)});
        const auto outcomes = store->accrue({&a, 1});
        if (outcomes) {
          ++revision;
          ++booked;
        } else {
          EXPECT_EQ(outcomes.error().code, ErrorCode::unavailable);
          ++pushed_back;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GT(pushed_back, 0);
  EXPECT_EQ(energy_of(*store, kDevice), WideMicrojoules(Microjoules{booked}));
}

}  // namespace
}  // namespace tidewatt::store::testing
