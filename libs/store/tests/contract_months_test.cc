// What every store must do with months that are closed.
#include <atomic>
#include <thread>

#include "image_text.h"

namespace tidewatt::store::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, ::testing::ValuesIn(all_kinds()), kind_name);

const UtcHour kInOctober = hour_at("2026-10-31T23:00:00Z");
const UtcTime kSealedAt = *parse_rfc3339("2026-11-09T00:00:00Z");
const auto kGpuNode = gpu_account(Scope::node, "n1");

Status book(Store& store, std::int64_t uj, UtcHour hour, const std::string& node = "n1") {
  const NodeKey key{"default", node};
  while (true) {
    TW_TRY(const auto cursor, store.cursor(key));
    const auto one = accrual(key, cursor.revision, beat_of(node, "job", uj, hour));
    TW_TRY(const auto outcome, store.accrue({&one, 1}));
    if (outcome.at(0) == AccrueOutcome::applied) return {};
  }
}

TEST_P(StoreContract, WhatComesForASealedHourIsAnAdjustmentAndTheRowStays) {
  ASSERT_TRUE(book(store_, 100, kInOctober));
  ASSERT_TRUE(store_.close_month(kOctober, kSealedAt));
  const auto before = *store_.hourly({Scope::node, {}, {}, {}}, kOctober.begin(), kOctober.end());
  ASSERT_TRUE(book(store_, 40, kInOctober));
  ASSERT_TRUE(book(store_, 2, kInOctober));
  ASSERT_TRUE(book(store_, 1'000, kHour));
  const auto rows = *store_.hourly({Scope::node, {}, {}, {}}, kOctober.begin(), kOctober.end());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].measures, before.at(0).measures);
  const auto sums = *store_.sums({Scope::node, {}, {}, {}}, kOctober.begin(), kOctober.end());
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums[0].totals.energy.to_string(), "163");
  EXPECT_EQ(sums[0].adjustments.energy.to_string(), "56");
  EXPECT_EQ(sums[0].adjustments.unattributed.to_string(), "14");
  EXPECT_EQ(sums[0].rows, 2);  // the hour's row, and that it was adjusted
  EXPECT_EQ(energy_of(store_, kGpuNode).to_string(), "1170");
  const auto november =
      *store_.sums({Scope::node, {}, {}, {}}, kOctober.end(), kHour + std::chrono::hours{1});
  EXPECT_EQ(november.at(0).totals.energy.to_string(), "1007");
  EXPECT_EQ(november.at(0).adjustments.energy.to_string(), "0");
}

TEST_P(StoreContract, AnAccountThatOnlyHasAdjustmentsInTheRangeIsFound) {
  ASSERT_TRUE(book(store_, 100, kHour));
  ASSERT_TRUE(store_.close_month(kOctober, kSealedAt));
  ASSERT_TRUE(book(store_, 40, hour_at("2026-08-03T10:00:00Z")));
  const auto august =
      *store_.sums({Scope::task, {}, {"job"}, {}}, hour_at("2026-08-01T00:00:00Z"), kOctober.end());
  ASSERT_EQ(august.size(), 1U);
  EXPECT_EQ(august[0].totals.energy.to_string(), "40");
  EXPECT_EQ(august[0].adjustments.energy.to_string(), "40");
  EXPECT_EQ(august[0].rows, 1);
  EXPECT_EQ(august[0].first_sample_at, parse_rfc3339("2026-08-03T10:00:00Z"));
  EXPECT_EQ(august[0].last_sample_at, kNoon + Milliseconds{20'000});
  EXPECT_TRUE(store_.hourly({}, hour_at("2026-08-01T00:00:00Z"), kOctober.end())->empty());
  EXPECT_TRUE(store_.sums({Scope::task, {}, {"other"}, {}}, hour_at("2026-08-01T00:00:00Z"), kOctober.end())
                  ->empty());
}

TEST_P(StoreContract, TheSameRowsGiveTheSameHashInEveryStore) {
  fill(store_);
  const auto seals = store_.seals();
  ASSERT_TRUE(seals);
  ASSERT_EQ(seals->size(), 1U);
  EXPECT_EQ(seals->at(0).rows, 18);
  EXPECT_EQ(seals->at(0).energy.to_string(), "438");
  // As Python's hashlib has it over docs/method/ledger.md's form.
  EXPECT_EQ(seals->at(0).hash, "1b45e789b829c829608d34994350d64ed9e483a0259110ffac18074c6778d294");
  EXPECT_EQ(seals->at(0).previous, "");
  EXPECT_EQ(seals->at(0).sealed_at, kSealedAt);
}

TEST_P(StoreContract, MonthsAreClosedOneAfterTheOtherAndOnce) {
  ASSERT_TRUE(book(store_, 100, kInOctober));
  ASSERT_TRUE(store_.close_month(kOctober, kSealedAt));
  ASSERT_TRUE(store_.close_month(kOctober, kNoon));
  ASSERT_TRUE(store_.close_month({kOctober.n - 5}, kNoon));
  ASSERT_EQ(store_.seals()->size(), 1U);
  EXPECT_EQ(store_.seals()->at(0).sealed_at, kSealedAt);
  EXPECT_EQ(store_.seals()->at(0).hash, "");
  const auto skipped = store_.close_month({kOctober.n + 2}, kNoon);
  ASSERT_FALSE(skipped);
  EXPECT_EQ(skipped.error().code, ErrorCode::conflict);
  EXPECT_NE(skipped.error().message.find("2026-12"), std::string::npos) << skipped.error().message;
}

TEST_P(StoreContract, ASealIsFinishedByOneWriter) {
  ASSERT_TRUE(book(store_, 100, kInOctober));
  EXPECT_FALSE(*store_.finish_seal({.month = kOctober, .hash = "early", .previous = {}}));
  ASSERT_TRUE(store_.close_month(kOctober, kSealedAt));
  auto seal = *compute_seal(store_, kOctober, "");
  EXPECT_TRUE(*store_.finish_seal(seal));
  const auto first = seal.hash;
  seal.hash = "another";
  EXPECT_FALSE(*store_.finish_seal(seal));
  EXPECT_EQ(store_.seals()->at(0).hash, first);
  EXPECT_EQ(store_.seals()->at(0).sealed_at, kSealedAt);
}

TEST_P(StoreContract, BookingThatRacesWithASealLosesAndDoublesNothing) {
  ASSERT_TRUE(book(store_, 1, kInOctober, "n0"));
  constexpr int kThreads = 4;
  constexpr int kBeats = 60;
  std::atomic<int> booked{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kBeats; ++i) {
        EXPECT_TRUE(book(store_, 1 + i, kInOctober, "n" + std::to_string(t)));
        ++booked;
      }
    });
  while (booked < kThreads * kBeats / 3) std::this_thread::yield();
  std::vector<std::thread> sealers;
  for (int i = 0; i < 2; ++i)
    sealers.emplace_back([&] { EXPECT_TRUE(seal_through(store_, kOctober, kSealedAt)); });
  for (auto& thread : sealers) thread.join();
  for (auto& thread : threads) thread.join();
  const auto expected = 1 + 7 + kThreads * (kBeats * (kBeats + 1) / 2 + 7 * kBeats);
  WideMicrojoules rows_and_late;
  WideMicrojoules late;
  const auto sums = store_.sums({Scope::node, {}, {}, {}}, kOctober.begin(), kOctober.end()).value();
  for (const auto& sum : sums) {
    rows_and_late += sum.totals.energy;
    late += sum.adjustments.energy;
  }
  EXPECT_EQ(rows_and_late.to_string(), std::to_string(expected));
  const auto seals = *store_.seals();
  ASSERT_EQ(seals.size(), 1U);
  EXPECT_EQ((seals[0].energy + late).to_string(), std::to_string(expected));
  const auto checked = verify(store_);
  ASSERT_TRUE(checked) << checked.error().to_string();
  EXPECT_TRUE(checked->ok()) << checked->mismatches.at(0);
}

TEST_P(StoreContract, AnImageIsTheWholeLedgerWhateverIsInTheTablesYet) {
  fill(store_);
  const auto memory = make_memory_store();
  fill(*memory);
  EXPECT_EQ(image_of(store_), image_of(*memory));
  auto parts = everything();
  parts.by_hour = true;
  EXPECT_EQ(image_of(store_, parts), image_of(*memory, parts));
  parts = {};
  parts.hourly = parts.adjustments = true;
  parts.filter = {Scope::device, "default", {"n2/0", "n1/1"}, "gpu"};
  parts.from = hour_at("2026-10-31T00:00:00Z");
  parts.to = hour_at("2026-11-01T01:00:00Z");
  EXPECT_EQ(image_of(store_, parts), image_of(*memory, parts));
  parts = {};
  parts.hourly = true;
  parts.after = {gpu_account(Scope::node, "n1"), kInOctober};
  EXPECT_EQ(image_of(store_, parts), image_of(*memory, parts));
  EXPECT_LT(image_of(store_, parts).size(), image_of(*memory, everything()).size());
}

TEST_P(StoreContract, AFilledLedgerVerifies) {
  fill(store_);
  const auto checked = verify(store_);
  ASSERT_TRUE(checked) << checked.error().to_string();
  EXPECT_TRUE(checked->ok()) << checked->mismatches.at(0);
  EXPECT_EQ(checked->seals, 1);
  EXPECT_EQ(checked->adjustments, 10);
  EXPECT_EQ(checked->node_energy.to_string(), "3684");
}

TEST_P(StoreContract, ASinkThatFailsEndsTheImage) {
  fill(store_);
  class Full final : public ImageSink {
   public:
    using ImageSink::add;
    Status add(const HourlyRow&) override {
      ++rows;
      return fail(ErrorCode::unavailable, "the disk is full");
    }
    int rows = 0;
  } full;
  const auto status = store_.read_image(everything(), full);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the disk is full");
  EXPECT_EQ(full.rows, 1);
}

}  // namespace
}  // namespace tidewatt::store::testing
