// What only a shared PostgreSQL promises.
#include <thread>

#include "store_fixtures.h"

namespace tidewatt::store::testing {
namespace {

const auto kDevice = gpu_account(Scope::device, "n1/0");

class PostgresStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cluster_ == nullptr) GTEST_SKIP() << PostgresCluster::why_not();
    options_.url = cluster_->url();
    options_.schema = cluster_->fresh_schema();
    options_.timeout = Milliseconds{30'000};
  }
  std::unique_ptr<Store> open() { return open_postgres_or_abort(options_); }
  Error open_error(const PostgresOptions& options) {
    const auto store = open_postgres_store(options);
    EXPECT_FALSE(store) << "it must not open";
    return store ? Error{} : store.error();
  }
  [[nodiscard]] std::string table(const std::string& name) const { return options_.schema + "." + name; }

  PostgresCluster* cluster_ = PostgresCluster::get();
  PostgresOptions options_;
};

TEST_F(PostgresStoreTest, WhatOneServerBookedTheOtherSeesAtOnce) {
  const auto one = open();
  const auto other = open();
  for (std::uint64_t i = 0; i < 5; ++i) {
    auto& writer = i % 2 == 0 ? *one : *other;
    auto& reader = i % 2 == 0 ? *other : *one;
    // The writer's cursor is one behind: it loses once and reads again.
    if (i > 0) {
      EXPECT_EQ(put(writer, accrual(kNode, i - 1, {delta(kDevice, 1)})), AccrueOutcome::conflict);
    }
    EXPECT_EQ(writer.cursor(kNode)->revision, i);
    EXPECT_EQ(*writer.cursor(kNode)->cursor, i == 0 ? NodeCursor{} : cursor_at(static_cast<std::int64_t>(i)));
    EXPECT_EQ(put(writer, accrual(kNode, i, {delta(kDevice, 10)},
                                  {point(kNoon + static_cast<int>(i) * Milliseconds{1'000}, Milliwatts{7})})),
              AccrueOutcome::applied);
    EXPECT_EQ(energy_of(reader, kDevice),
              WideMicrojoules(Microjoules{static_cast<std::int64_t>(i + 1) * 10}));
    EXPECT_EQ(reader.curve(kNode, {kNoon, kNoon + std::chrono::hours{1}}, 100)->size(), i + 1);
    EXPECT_EQ(reader.sums({}, kHour, kHour + std::chrono::hours{1})->at(0).rows, 1);
  }
}

TEST_F(PostgresStoreTest, NotesOfOneServerReachTheOther) {
  NodeInfo info;
  info.key = kNode;
  info.zone = "DE";
  info.last_seen_at = kNoon;
  {
    const auto one = open();
    ASSERT_TRUE(note(*one, info));
  }
  const auto other = open();
  ASSERT_TRUE(*other->node(kNode));
  EXPECT_EQ((*other->node(kNode))->zone, "DE");
  EXPECT_EQ(other->nodes()->size(), 1U);
}

TEST_F(PostgresStoreTest, ASecondOpeningFindsEverything) {
  {
    const auto store = open();
    for (std::uint64_t i = 0; i < 5; ++i)
      ASSERT_EQ(put(*store, accrual(kNode, i, {delta(kDevice, 5)}, {point(kNoon, Milliwatts{7})})),
                AccrueOutcome::applied);
  }
  EXPECT_EQ(cluster_->sql("SELECT count(*) FROM " + table("writers")), "0")
      << "a closed server leaves no line behind";
  const auto store = open();
  EXPECT_EQ(energy_of(*store, kDevice), WideMicrojoules(Microjoules{25}));
  EXPECT_EQ(store->cursor(kNode)->revision, 5U);
  EXPECT_EQ(*store->cursor(kNode)->cursor, cursor_at(5));
  EXPECT_EQ(put(*store, accrual(kNode, 5, {delta(kDevice, 5)})), AccrueOutcome::applied);
}

TEST_F(PostgresStoreTest, TheJournalIsFoldedByWhoeverComesAndTheAnswersStayTheSame) {
  options_.fold_after = Milliseconds{0};
  const auto one = open();
  const auto other = open();
  for (std::uint64_t i = 0; i < 20; ++i)
    ASSERT_EQ(put(*one, accrual(kNode, i, {delta(kDevice, 5)},
                                {point(kNoon + static_cast<int>(i) * Milliseconds{1'000}, Milliwatts{7})})),
              AccrueOutcome::applied);
  for (int i = 0; i < 200 && cluster_->sql("SELECT count(*) FROM " + table("journal")) != "0"; ++i)
    std::this_thread::sleep_for(Milliseconds{50});
  EXPECT_EQ(cluster_->sql("SELECT count(*) FROM " + table("journal")), "0");
  EXPECT_EQ(cluster_->sql("SELECT energy_uj FROM " + table("energy_accounts")), "100");
  EXPECT_EQ(energy_of(*other, kDevice), WideMicrojoules(Microjoules{100}));
  EXPECT_EQ(*other->cursor(kNode)->cursor, cursor_at(20));
  EXPECT_EQ(other->curve(kNode, {kNoon, kNoon + std::chrono::hours{1}}, 100)->size(), 20U);
}

TEST_F(PostgresStoreTest, ManyServersOpenAnEmptyDatabaseAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> opened{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] { opened += open_postgres_store(options_).has_value() ? 1 : 0; });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(opened, 6);
}

TEST_F(PostgresStoreTest, ANewerSchemaIsRefusedWithAWayOut) {
  open().reset();
  cluster_->sql("UPDATE " + table("tidewatt_ledger") + " SET schema_version = 999");
  const auto error = open_error(options_);
  EXPECT_EQ(error.code, ErrorCode::corrupt);
  EXPECT_NE(error.message.find("999"), std::string::npos) << error.message;
  EXPECT_NE(error.hint.find("newer tidewatt"), std::string::npos) << error.hint;
}

TEST_F(PostgresStoreTest, AnotherProgramsSchemaIsLeftAlone) {
  cluster_->sql("CREATE SCHEMA " + options_.schema + " CREATE TABLE bookmarks(url text)");
  EXPECT_EQ(open_error(options_).code, ErrorCode::corrupt);
  EXPECT_EQ(cluster_->sql("SELECT count(*) FROM pg_tables WHERE schemaname = '" + options_.schema + "'"),
            "1");
}

TEST_F(PostgresStoreTest, APasswordIsInNoMessage) {
  auto options = options_;
  options.url = "postgresql://tidewatt:hunter2@127.0.0.1:1/db?connect_timeout=1";
  const auto refused = open_error(options);
  EXPECT_EQ(refused.code, ErrorCode::unavailable);
  EXPECT_EQ(refused.to_string().find("hunter2"), std::string::npos) << refused.to_string();
  EXPECT_NE(refused.message.find("127.0.0.1:1/db"), std::string::npos) << refused.message;
  options.url = "postgresql://tidewatt:hunter2@[oops";
  const auto garbled = open_error(options);
  EXPECT_EQ(garbled.code, ErrorCode::invalid_input);
  EXPECT_EQ(garbled.to_string().find("hunter2"), std::string::npos) << garbled.to_string();
}

TEST(PostgresUrl, IsShownWithoutItsPassword) {
  EXPECT_EQ(without_password("postgresql://u:secret@h:5432/db"), "postgresql://u:***@h:5432/db");
  EXPECT_EQ(without_password("postgres://u:a@b@h/db?sslmode=require"),
            "postgres://u:***@h/db?sslmode=require");
  EXPECT_EQ(without_password("postgresql://u@h/db?password=secret&x=1"),
            "postgresql://u@h/db?password=***&x=1");
  EXPECT_EQ(without_password("postgresql:///db?host=/run"), "postgresql:///db?host=/run");
  EXPECT_EQ(without_password("postgresql://h:5432/db"), "postgresql://h:5432/db");
  EXPECT_EQ(without_password("garbage with secret"), "***");
  EXPECT_TRUE(is_postgres_url("postgres://h/db"));
  EXPECT_FALSE(is_postgres_url("sqlite"));
}

TEST_F(PostgresStoreTest, AGarbledJournalRowIsSaidNotBooked) {
  for (const auto* bytes : {"", "ff", "01", "0100000001", "010105aabb"}) {
    if (std::string(bytes) == "01") continue;  // an empty row is whole
    options_.schema = cluster_->fresh_schema();
    const auto store = open();
    cluster_->sql("INSERT INTO " + table("journal") + "(bytes) VALUES (decode('" + bytes + "', 'hex'))");
    const auto accounts = store->accounts({});
    ASSERT_FALSE(accounts) << bytes;
    EXPECT_EQ(accounts.error().code, ErrorCode::corrupt) << bytes;
  }
}

}  // namespace
}  // namespace tidewatt::store::testing
