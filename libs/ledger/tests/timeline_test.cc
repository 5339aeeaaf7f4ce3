#include <gtest/gtest.h>

#include "beats.h"

namespace tidewatt::ledger {
namespace {

using namespace testing;
using std::chrono::hours;
using std::chrono::seconds;

constexpr std::int64_t kJoule = 1'000'000;

TEST(Book, TimeInsideABootRunsByTheMonotonicClock) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100));
  auto jumped = BeatBuilder("n1", 2, 20).gpu(0, 100);
  jumped.beat.sampled_at = kStart + hours{1};
  books.take(jumped);
  EXPECT_EQ(books.node("n1").covered, seconds{20});
  EXPECT_EQ(books.node("n1").gap, seconds{0});
  EXPECT_EQ(books.notes.at(0), Note::clock_jump);
}

Receipt at(Milliseconds since_start, Milliseconds mono, std::string run = "r1") {
  return {kStart + since_start, mono, std::move(run)};
}

TEST(Book, FirstBeatOfABootAheadOfItsReceiptIsRejected) {
  Books books;
  EXPECT_EQ(books.take(BeatBuilder("n1", 1, 301).gpu(0, 100).beat, at(seconds{0}, seconds{0})),
            Verdict::rejected);
  EXPECT_EQ(books.take(BeatBuilder("n1", 1, 300).gpu(0, 100).beat, at(seconds{0}, seconds{0})),
            Verdict::accepted);
}

TEST(Book, MonotonicClockRunningAheadOfTheReceiptsIsRejectedAndItsSeqMayComeAgain) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100).beat, at(seconds{0}, seconds{0}));
  auto wild = BeatBuilder("n1", 2, 600).gpu(0, 100);
  EXPECT_EQ(books.take(wild.beat, at(seconds{20}, seconds{20})), Verdict::rejected);
  EXPECT_EQ(books.take(wild.beat, at(seconds{600}, seconds{600})), Verdict::accepted);
}

TEST(Book, ServerClockSetBackAnHourRejectsNobody) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100).beat, at(seconds{0}, seconds{0}));
  EXPECT_EQ(books.take(BeatBuilder("n1", 2, 20).gpu(0, 100).beat, at(seconds{20} - hours{1}, seconds{20})),
            Verdict::accepted);
  EXPECT_EQ(books.node("n1").covered, seconds{20});
}

TEST(Book, SpoolWithHolesIsTakenWhenItComesAllAtOnce) {
  Books books;
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(books.take(BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 600).gpu(0, 100).beat,
                         at(hours{2}, hours{2})),
              Verdict::accepted);
  EXPECT_EQ(books.node("n1").covered, seconds{300});
  EXPECT_EQ(books.node("n1").gap, seconds{5 * 540});
}

TEST(Book, ClockThatWasNeverSetIsNoTime) {
  Books books;
  auto beat = BeatBuilder("n1", 1, 0).gpu(0, 100);
  beat.beat.sampled_at = UtcTime{};
  EXPECT_EQ(books.take(beat), Verdict::rejected);
  EXPECT_EQ(books.take(beat.beat, at(seconds{0}, seconds{0})), Verdict::accepted);
  auto next = BeatBuilder("n1", 2, 20).gpu(0, 100);
  EXPECT_EQ(books.take(next.beat, at(seconds{20}, seconds{20})), Verdict::accepted);
  EXPECT_EQ(books.node("n1").covered, seconds{20});
}

TEST(Book, BootThatBeganWithAnUnsetClockIsMovedWhenTheClockIsSet) {
  Books books;
  const auto years = hours{24 * 365 * 3};
  const auto unset = [&](std::uint64_t seq, int s) {
    auto beat = BeatBuilder("n1", seq, s).gpu(0, 100, {}, {holder("t")});
    *beat.beat.sampled_at -= years;
    return beat.beat;
  };
  books.take(unset(1, 0), at(seconds{1}, seconds{1}));
  books.take(unset(2, 20), at(seconds{21}, seconds{21}));
  const auto set = BeatBuilder("n1", 3, 40).gpu(0, 100, {}, {holder("t")});
  books.take(set.beat, at(seconds{41}, seconds{41}));
  EXPECT_EQ(books.notes, std::vector{Note::clock_corrected});
  books.take(BeatBuilder("n1", 4, 60).gpu(0, 100, {}, {holder("t")}).beat, at(seconds{61}, seconds{61}));
  // Each interval keeps its length: neither a gap of years nor a lost second.
  EXPECT_EQ(books.node("n1").energy.n, 6'000 * kJoule);
  EXPECT_EQ(books.node("n1").covered, seconds{60});
  EXPECT_EQ(books.node("n1").gap, seconds{0});
  EXPECT_EQ(books.task("t").covered, seconds{60});
  // What came before the clock was set stays where it was booked; from then on the hours are right.
  const auto by_hour = books.by_hour(Scope::node, &Measures::energy);
  EXPECT_EQ(by_hour.at(hour_of(kStart)), 4'000 * kJoule);
}

TEST(Book, ABootBehindWhatIsBookedGoesOnAsSoonAsItsClockIsSet) {
  Books books;
  for (int i = 0; i <= 2; ++i)
    books.take(BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20).gpu(0, 100).beat,
               at(seconds{i * 20}, seconds{i * 20}));
  const auto boot2 = [&](std::uint64_t seq, int s, int behind) {
    auto beat = BeatBuilder("n1", seq, s).gpu(0, 100).beat;
    beat.boot_id = "b2";
    *beat.sampled_at -= seconds{behind};
    books.take(beat, at(seconds{s}, seconds{s}));
  };
  const auto before = books.node("n1").energy.n;
  boot2(1, 100, 3'600);
  boot2(2, 120, 3'600);
  EXPECT_EQ(books.node("n1").energy.n, before) << "older than what is booked";
  boot2(3, 140, 0);
  EXPECT_EQ(books.node("n1").energy.n - before, 6'000 * kJoule) << "60 s of the 100 s, as of any gap";
  boot2(4, 160, 0);
  EXPECT_EQ(books.node("n1").energy.n - before, 8'000 * kJoule);
}

TEST(Book, UnsetClockDoesNotSilenceANodeThatReportedBefore) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100).beat, at(seconds{0}, seconds{0}));
  const auto boot2 = [&](std::uint64_t seq, int s, Milliseconds behind) {
    auto beat = BeatBuilder("n1", seq, s).gpu(0, 100);
    beat.beat.boot_id = "b2";
    *beat.beat.sampled_at -= behind;
    return beat.beat;
  };
  books.take(boot2(1, 100, hours{24 * 365}), at(seconds{100}, seconds{100}));
  EXPECT_EQ(books.node("n1").energy.n, 0) << "older than the cursor";
  for (int i = 0; i < 3; ++i)
    books.take(boot2(static_cast<std::uint64_t>(i + 2), 120 + i * 20, hours{0}),
               at(seconds{120 + i * 20}, seconds{120 + i * 20}));
  // From the last sample of the boot before: one bridge of the longest gap, then two whole intervals.
  EXPECT_EQ(books.node("n1").energy.n, (6'000 + 4'000) * kJoule);
  EXPECT_EQ(books.node("n1").covered, seconds{100});
  EXPECT_EQ(books.node("n1").gap, seconds{60});
}

TEST(Book, ClockThatJumpsAheadOfTheServerMovesNothing) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100).beat, at(seconds{0}, seconds{0}));
  auto wild = BeatBuilder("n1", 2, 20).gpu(0, 100);
  *wild.beat.sampled_at += hours{48};
  books.take(wild.beat, at(seconds{20}, seconds{20}));
  EXPECT_EQ(books.notes, std::vector{Note::clock_jump});
  EXPECT_EQ(books.cursors.begin()->second.devices.at(0).at, kStart + seconds{20});
}

TEST(Timeline, OffsetIsToldOnlyByBeatsThatCameWithoutDelay) {
  using Offset = std::optional<Milliseconds>;
  NodeCursor cursor;
  // The beat sampled at `s` by a clock that is `ahead`, received at `r`.
  const auto offset = [&](std::uint64_t seq, int s, int r, int ahead = 0, std::string run = "r1") {
    auto beat = BeatBuilder("n1", seq, s).gpu(0, 100).beat;
    *beat.sampled_at += seconds{ahead};
    auto booking = book(cursor, beat, at(seconds{r}, seconds{r}, std::move(run)), {}, {});
    EXPECT_EQ(booking.verdict, Verdict::accepted);
    cursor = std::move(booking.next);
    return booking.clock_offset;
  };
  EXPECT_EQ(offset(1, 0, 3600), Offset{}) << "the first of a spool that waited an hour";
  EXPECT_EQ(offset(2, 20, 3600), Offset{}) << "it catches up";
  EXPECT_EQ(offset(3, 3600, 3600), Offset{}) << "the last of it, which nothing confirms yet";
  EXPECT_EQ(offset(4, 3620, 3620), Offset{seconds{0}}) << "at the pace it was sampled at";
  EXPECT_EQ(offset(5, 3640, 3760), Offset{seconds{0}}) << "late against a beat that wasn't: taken out";
  cursor = {};
  EXPECT_EQ(offset(1, 0, 0, 90), Offset{seconds{90}}) << "no beat comes before it is sampled";
  cursor = {};
  EXPECT_EQ(offset(1, 0, 0, -40), Offset{}) << "behind, or late";
  EXPECT_EQ(offset(2, 20, 20, -40), Offset{seconds{-40}});
}

}  // namespace
}  // namespace tidewatt::ledger
