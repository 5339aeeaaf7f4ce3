// A backup holds the whole ledger, fits any store, and is refused when a bit of it is wrong.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "image_text.h"
#include "tidewatt/store/backup.h"

namespace tidewatt::store::testing {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}
auto from(const std::string& path) {
  return [path](ImageSink& sink) -> Status {
    TW_TRY([[maybe_unused]] const auto summary, read_backup(path, sink));
    return {};
  };
}
const UtcTime kClock = *parse_rfc3339("2026-11-20T10:00:00Z");

TEST(Backup, FitsEitherStoreAndComesBackTheSame) {
  const TempFolder folder;
  const auto first = open_or_abort({.path = folder.file("first.db"), .now = [] { return kClock; }});
  fill(*first);
  const auto expected = image_of(*first);
  const auto written = write_backup(*first, folder.file("one"));
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_EQ(written->node_energy.to_string(), "3684");
  EXPECT_EQ(written->adjustments, 10);
  EXPECT_EQ(written->seals, 1);
  struct stat found{};
  ASSERT_EQ(::stat(folder.file("one").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);

  auto* cluster = PostgresCluster::get();
  std::string source = folder.file("one");
  if (cluster != nullptr) {
    PostgresOptions options{
        .url = cluster->url(), .schema = cluster->fresh_schema(), .timeout = Milliseconds{30'000}};
    const auto restored = restore_postgres(options, from(source));
    ASSERT_TRUE(restored) << restored.error().to_string();
    auto image = open_postgres_image(options);
    ASSERT_TRUE(image) << image.error().to_string();
    EXPECT_EQ(image_of(**image), expected);
    source = folder.file("two");
    ASSERT_TRUE(write_backup(**image, source));
    // A server goes on where the other stood.
    const auto store = open_postgres_or_abort(options);
    EXPECT_EQ(store->cursor(kNode)->revision, 6U);
    EXPECT_EQ(put(*store, accrual(kNode, 6, beat_of("n1", "fresh", 5, hour_at("2026-10-31T23:00:00Z")))),
              AccrueOutcome::applied);
    EXPECT_EQ(put(*store, accrual({"default", "n9"}, 0, beat_of("n9", "fresh", 5, kHour))),
              AccrueOutcome::applied);
    const auto checked = verify(*store);
    ASSERT_TRUE(checked) << checked.error().to_string();
    EXPECT_TRUE(checked->ok()) << checked->mismatches.at(0);
  }
  const auto restored = restore_sqlite({.path = folder.file("second.db")}, from(source));
  ASSERT_TRUE(restored) << restored.error().to_string();
  auto image = open_sqlite_image(folder.file("second.db"));
  ASSERT_TRUE(image) << image.error().to_string();
  EXPECT_EQ(image_of(**image), expected);
  const auto store = open_or_abort({.path = folder.file("second.db")});
  EXPECT_EQ(put(*store, accrual(kNode, 6, beat_of("n1", "fresh", 5, hour_at("2026-10-31T23:00:00Z")))),
            AccrueOutcome::applied);
  EXPECT_EQ(put(*store, accrual({"default", "n9"}, 0, beat_of("n9", "fresh", 5, kHour))),
            AccrueOutcome::applied);
  const auto checked = verify(*store);
  ASSERT_TRUE(checked) << checked.error().to_string();
  EXPECT_TRUE(checked->ok()) << checked->mismatches.at(0);
  EXPECT_EQ(checked->adjustments, 15);
}

TEST(Backup, AnImageOfALiveFileHoldsWhatIsOnlyInItsJournal) {
  const TempFolder folder;
  const auto store = open_or_abort({.path = folder.file()});
  fill(*store);
  const auto image = open_sqlite_image(folder.file());
  ASSERT_TRUE(image) << image.error().to_string();
  auto parts = everything();
  parts.nodes = false;  // when a node was last heard of is in the server's memory
  EXPECT_EQ(image_of(**image, parts), image_of(*store, parts));
  EXPECT_EQ(put(*store, accrual(kNode, 6, beat_of("n1", "after", 5, kHour))), AccrueOutcome::applied);
}

TEST(Backup, TheUnwrittenTailOrAnyChangedByteIsRefused) {
  const TempFolder folder;
  const auto memory = make_memory_store();
  fill(*memory);
  ASSERT_TRUE(write_backup(*memory, folder.file("good")));
  const auto good = bytes_of(folder.file("good"));
  ASSERT_GT(good.size(), 300U);
  const auto refused = [&](const std::string& bytes) {
    write_bytes(folder.file("bad"), bytes);
    ImageSink nothing;
    const auto read = read_backup(folder.file("bad"), nothing);
    return !read && read.error().code == ErrorCode::corrupt;
  };
  for (std::size_t size = 0; size < good.size(); size += 7)
    EXPECT_TRUE(refused(good.substr(0, size))) << size;
  EXPECT_TRUE(refused(good.substr(0, good.size() - 1)));
  EXPECT_TRUE(refused(good + "x"));
  EXPECT_TRUE(refused(good + good));
  for (std::size_t at = 0; at < good.size(); ++at) {
    auto bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    EXPECT_TRUE(refused(bad)) << at;
  }
}

TEST(Backup, ADamagedOneLeavesNoDatabaseBehind) {
  const TempFolder folder;
  const auto memory = make_memory_store();
  fill(*memory);
  ASSERT_TRUE(write_backup(*memory, folder.file("good")));
  const auto good = bytes_of(folder.file("good"));
  write_bytes(folder.file("bad"), good.substr(0, good.size() - 40));
  const auto restored = restore_sqlite({.path = folder.file("new.db")}, from(folder.file("bad")));
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::corrupt);
  EXPECT_FALSE(std::filesystem::exists(folder.file("new.db")));
  if (auto* cluster = PostgresCluster::get(); cluster != nullptr) {
    PostgresOptions options{.url = cluster->url(), .schema = cluster->fresh_schema()};
    ASSERT_FALSE(restore_postgres(options, from(folder.file("bad"))));
    EXPECT_TRUE(restore_postgres(options, from(folder.file("good"))));
  }
}

TEST(Backup, WhatAKilledBackupLeftIsBegunAnew) {
  const TempFolder folder;
  const auto store = open_or_abort({.path = folder.file()});
  fill(*store);
  ASSERT_TRUE(write_backup(*store, folder.file("one")));
  write_bytes(folder.file("two.part"),
              bytes_of(folder.file("one")).substr(0, 100) + std::string(1'000'000, 'x'));
  const auto written = write_backup(*store, folder.file("two"));
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_FALSE(std::filesystem::exists(folder.file("two.part")));
  EXPECT_TRUE(restore_sqlite({.path = folder.file("copy.db")}, from(folder.file("two"))));
}

TEST(Backup, AFileOfSomebodyElseOrARunningBackupIsLeftAlone) {
  const TempFolder folder;
  const auto store = open_or_abort({.path = folder.file()});
  write_bytes(folder.file("one.part"), "my notes");
  const auto notes = write_backup(*store, folder.file("one"));
  ASSERT_FALSE(notes);
  EXPECT_EQ(notes.error().code, ErrorCode::conflict);
  EXPECT_EQ(bytes_of(folder.file("one.part")), "my notes");
  write_bytes(folder.file("two.part"), "");
  const int fd = ::open(folder.file("two.part").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  const auto running = write_backup(*store, folder.file("two"));
  ::close(fd);
  ASSERT_FALSE(running);
  EXPECT_EQ(running.error().code, ErrorCode::conflict);
}

TEST(Backup, ARestoreHasAnotherNameUntilItIsWhole) {
  const TempFolder folder;
  const auto store = open_or_abort({.path = folder.file()});
  fill(*store);
  ASSERT_TRUE(write_backup(*store, folder.file("one")));
  // What a restore that was killed left.
  write_bytes(folder.file("copy.db.part"), "half");
  write_bytes(folder.file("copy.db.part-wal"), "a log");
  const auto restored = restore_sqlite({.path = folder.file("copy.db")}, [&](ImageSink& sink) -> Status {
    EXPECT_FALSE(std::filesystem::exists(folder.file("copy.db")));
    EXPECT_TRUE(std::filesystem::exists(folder.file("copy.db.part")));
    return from(folder.file("one"))(sink);
  });
  ASSERT_TRUE(restored) << restored.error().to_string();
  EXPECT_EQ(image_of(*open_or_abort({.path = folder.file("copy.db")})), image_of(*store));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
}

TEST(Backup, WhatRootRestoresBelongsToTheFoldersOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TempFolder folder;
  const auto store = open_or_abort({.path = folder.file()});
  ASSERT_TRUE(write_backup(*store, folder.file("one")));
  std::filesystem::create_directory(folder.path() / "service");
  ASSERT_EQ(::chown((folder.path() / "service").c_str(), 1234, 4321), 0);
  ASSERT_TRUE(restore_sqlite({.path = folder.file("service/ledger.db")}, from(folder.file("one"))));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "service")) {
    struct stat found{};
    ASSERT_EQ(::stat(entry.path().c_str(), &found), 0);
    EXPECT_EQ(found.st_uid, 1234U) << entry.path();
    EXPECT_EQ(found.st_gid, 4321U) << entry.path();
  }
}

TEST(Backup, NothingIsEverOverwritten) {
  const TempFolder folder;
  const auto memory = make_memory_store();
  fill(*memory);
  ASSERT_TRUE(write_backup(*memory, folder.file("one")));
  const auto before = bytes_of(folder.file("one"));
  const auto again = write_backup(*memory, folder.file("one"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::conflict);
  EXPECT_EQ(bytes_of(folder.file("one")), before);
  open_or_abort({.path = folder.file("used.db")}).reset();
  const auto onto = restore_sqlite({.path = folder.file("used.db")}, from(folder.file("one")));
  ASSERT_FALSE(onto);
  EXPECT_EQ(onto.error().code, ErrorCode::conflict);
  if (auto* cluster = PostgresCluster::get(); cluster != nullptr) {
    PostgresOptions options{.url = cluster->url(), .schema = cluster->fresh_schema()};
    ASSERT_TRUE(restore_postgres(options, from(folder.file("one"))));
    const auto second = restore_postgres(options, from(folder.file("one")));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::conflict);
  }
}

TEST(Backup, ADiskThatFillsUpLeavesNoFileUnderTheName) {
  class Failing final : public ImageSource {
   public:
    Status read_image(const ImageParts&, ImageSink&) override {
      return fail(ErrorCode::unavailable, "the disk is full");
    }
  } failing;
  const TempFolder folder;
  ASSERT_FALSE(write_backup(failing, folder.file("one")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("one")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("one.part")));
}

}  // namespace
}  // namespace tidewatt::store::testing
