// A task's energy over its spans: nothing twice, nothing lost, and what is not known stays so.
#include "tidewatt/traces/task_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tidewatt::traces {
namespace {

const UtcTime kBegin = parse_rfc3339("2026-03-01T10:00:00Z").value();
const UtcHour kHour = hour_of(kBegin);
constexpr std::chrono::hours kOne{1};

UtcTime at(double seconds) { return kBegin + Milliseconds{static_cast<std::int64_t>(seconds * 1000)}; }

Span span(std::uint64_t id, double begin, double end, const std::string& route, SpanId parent = 0) {
  Span made;
  made.trace[0] = 1;
  made.id = id;
  made.parent = parent;
  made.begin = SpanTime{at(begin)};
  made.end = SpanTime{at(end)};
  made.service = "shop";
  made.route = route;
  made.entry = parent == 0;
  return made;
}

EnergyPiece piece(double begin, double end, std::int64_t uj, const std::string& domain = "cpu_package") {
  return {domain, "n1/0", at(begin), {at(begin), at(end)}, Microjoules{uj}};
}

std::string energy(const DomainEnergy& of, const std::string& domain = "cpu_package") {
  const auto found = of.find(domain);
  return found == of.end() ? "unknown" : found->second.to_string();
}

class TaskBookTest : public ::testing::Test {
 protected:
  TaskBookTest() { book_.add(piece(-10, 0, 5)); }  // the first interval of its device is left out

  const EndpointSum* endpoint(const Report& report, const std::string& route) {
    const auto found = std::find_if(report.endpoints.begin(), report.endpoints.end(),
                                    [&](const auto& sum) { return sum.route == route; });
    return found == report.endpoints.end() ? nullptr : &*found;
  }
  /// All that was shared out or is about to be.
  static WideMicrojoules total(const Report& report) {
    WideMicrojoules sum;
    for (const auto& one : report.endpoints)
      for (const auto& [domain, amount] : one.energy) sum += amount;
    for (const auto& [domain, amount] : report.no_span) sum += amount;
    return sum;
  }
  void pass(double from, double to) {
    for (double s = from; s < to; s += 10) {
      book_.add(piece(s, s + 10, 0));
      book_.settle(at(s + 10));
    }
  }

  TaskBook book_{BookRules{}};
};

TEST_F(TaskBookTest, RequestsGetWhatTheirSpansAndThoseBelowThemUsed) {
  book_.add(span(1, 0, 6, "GET /a"), at(6));
  book_.add(span(2, 2, 5, "query", 1), at(6));
  book_.add(span(3, 5, 8, "GET /b"), at(8));
  book_.add(piece(0, 10, 1'000'000'000));
  const auto report = book_.report(kHour, kHour + kOne);
  ASSERT_EQ(report.endpoints.size(), 2U);
  EXPECT_EQ(energy(endpoint(report, "GET /a")->energy), "533333334");
  EXPECT_EQ(endpoint(report, "GET /a")->requests, 1);
  EXPECT_EQ(energy(endpoint(report, "GET /b")->energy), "266666666");
  EXPECT_EQ(energy(report.no_span), "200000000");
  EXPECT_EQ(energy(report.open), "1000000000");
}

TEST_F(TaskBookTest, WhatIsSharedOutIsTheSameAsWhileItWasOpen) {
  book_.add(span(1, 0, 6, "GET /a"), at(6));
  book_.add(piece(0, 10, 1'000));
  const auto open = book_.report(kHour, kHour + kOne);
  pass(10, 400);
  const auto settled = book_.report(kHour, kHour + kOne);
  EXPECT_EQ(energy(endpoint(settled, "GET /a")->energy), energy(endpoint(open, "GET /a")->energy));
  EXPECT_EQ(endpoint(settled, "GET /a")->requests, 1);
  EXPECT_EQ(endpoint(settled, "GET /a")->covered_time, std::chrono::seconds{6});
  EXPECT_EQ(energy(settled.no_span), "400");
  EXPECT_EQ(energy(settled.open), "0");
  EXPECT_EQ(book_.spans(), 0U);
}

TEST_F(TaskBookTest, LateSpansChangeOpenIntervalsAlone) {
  book_.add(piece(0, 10, 1'000));
  pass(10, 100);
  EXPECT_EQ(book_.add(span(1, 0, 10, "GET /late"), at(100)), Taken::accepted);
  EXPECT_EQ(energy(endpoint(book_.report(kHour, kHour + kOne), "GET /late")->energy), "1000");
  pass(100, 200);
  EXPECT_EQ(book_.add(span(2, 0, 10, "GET /later"), at(200)), Taken::accepted);
  auto report = book_.report(kHour, kHour + kOne);
  EXPECT_EQ(energy(endpoint(report, "GET /later")->energy), "unknown");
  EXPECT_EQ(endpoint(report, "GET /later")->covered_time.count(), 0);
  EXPECT_EQ(report.late_spans, 1);
  pass(200, 400);
  EXPECT_EQ(book_.add(span(3, 0, 10, "GET /latest"), at(400)), Taken::too_old);
  report = book_.report(kHour, kHour + kOne);
  EXPECT_EQ(report.refused, 1);
  EXPECT_EQ(energy(endpoint(report, "GET /late")->energy), "1000");
}

TEST_F(TaskBookTest, ASpanCountsOnce) {
  EXPECT_EQ(book_.add(span(1, 0, 5, "GET /a"), at(6)), Taken::accepted);
  EXPECT_EQ(book_.add(span(1, 0, 5, "GET /a"), at(6)), Taken::duplicate);
  EXPECT_EQ(book_.report(kHour, kHour + kOne).endpoints.at(0).requests, 1);
}

TEST_F(TaskBookTest, UnknownEnergyStaysUnknown) {
  book_.add(span(1, 0, 5, "GET /a"), at(6));
  book_.add(span(2, 8, 12, "GET /b"), at(12));
  book_.add(piece(10, 20, 1'000));  // nothing is known of 0..10
  const auto report = book_.report(kHour, kHour + kOne);
  EXPECT_EQ(energy(endpoint(report, "GET /a")->energy), "unknown");
  EXPECT_EQ(endpoint(report, "GET /b")->covered_time, std::chrono::seconds{2});
  EXPECT_EQ(energy(endpoint(report, "GET /b")->energy), "200");
}

TEST_F(TaskBookTest, ADevicesFirstIntervalIsLeftOut) {
  book_.add(span(1, -10, 10, "GET /a"), at(10));
  auto second = piece(0, 10, 70);
  second.device = "n2/0";
  book_.add(second);
  book_.add(piece(0, 10, 30));
  EXPECT_EQ(total(book_.report(kHour, kHour + kOne)).to_string(), "30");
}

TEST_F(TaskBookTest, DomainsAreKeptApart) {
  book_.add(piece(-10, 0, 5, "gpu"));
  book_.add(span(1, 0, 5, "GET /a"), at(10));
  book_.add(piece(0, 10, 30));
  book_.add(piece(0, 10, 1'001, "gpu"));
  const auto report = book_.report(kHour, kHour + kOne);
  EXPECT_EQ(energy(endpoint(report, "GET /a")->energy), "15");
  EXPECT_EQ(energy(endpoint(report, "GET /a")->energy, "gpu"), "501");
  EXPECT_EQ(energy(report.no_span, "gpu"), "500");
}

TEST_F(TaskBookTest, TooManyEndpointsBecomeOne) {
  BookRules rules;
  rules.endpoints = 3;
  TaskBook book{rules};
  for (std::uint64_t i = 1; i <= 100; ++i) book.add(span(i, 0, 1, "GET /" + std::to_string(i)), at(5));
  const auto report = book.report(kHour, kHour + kOne);
  EXPECT_EQ(report.endpoints.size(), 4U);
  EXPECT_EQ(endpoint(report, "(other)")->requests, 97);
}

TEST_F(TaskBookTest, WithoutRoomSpansAreRefusedAndSaidToBe) {
  BookRules rules;
  rules.spans = 2;
  TaskBook book{rules};
  EXPECT_EQ(book.add(span(1, 0, 1, "a"), at(5)), Taken::accepted);
  EXPECT_EQ(book.add(span(2, 0, 1, "a"), at(5)), Taken::accepted);
  EXPECT_EQ(book.add(span(3, 0, 1, "a"), at(5)), Taken::full);
  EXPECT_EQ(book.report(kHour, kHour + kOne).refused, 1);
  // Where no energy comes, they go after an hour and the wait for late ones, as requests of unknown energy.
  book.settle(at(3'900));
  EXPECT_EQ(book.spans(), 0U);
  EXPECT_EQ(book.report(kHour, kHour + kOne).endpoints.at(0).requests, 2);
}

TEST_F(TaskBookTest, SpansOfTheFutureAreRefused) {
  EXPECT_EQ(book_.add(span(1, 0, 1'000, "a"), at(10)), Taken::of_the_future);
}

TEST_F(TaskBookTest, ALongIntervalWaitsWithItsSpans) {
  // A counter that bridges 20 min is shared over the spans of all of it.
  book_.add(span(1, 0, 60, "GET /first"), at(60));
  book_.settle(at(1'100));
  book_.add(piece(0, 1'200, 1'200'000));
  book_.settle(at(1'200));
  EXPECT_EQ(energy(endpoint(book_.report(kHour, kHour + kOne), "GET /first")->energy), "60000");
  pass(1'200, 1'600);
  EXPECT_EQ(energy(endpoint(book_.report(kHour, kHour + kOne), "GET /first")->energy), "60000");
}

TEST_F(TaskBookTest, ATraceIsTheSumOfItsSpansHere) {
  book_.add(span(2, 2, 5, "query", 1), at(6));
  book_.add(span(1, 0, 6, "GET /a"), at(6));
  book_.add(piece(0, 10, 1'000));
  const auto traces = book_.traces(10);
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_EQ(traces[0].route, "GET /a");
  EXPECT_EQ(traces[0].spans, 2);
  EXPECT_EQ(energy(traces[0].energy), "600");
  EXPECT_TRUE(traces[0].open);
  pass(10, 400);
  EXPECT_EQ(energy(book_.traces(10).at(0).energy), "600");
  EXPECT_FALSE(book_.traces(10).at(0).open);
}

TEST_F(TaskBookTest, TheLatestTracesAreKept) {
  BookRules rules;
  rules.traces = 10;
  TaskBook book{rules};
  for (std::uint64_t i = 1; i <= 100; ++i) {
    auto one = span(i, static_cast<double>(i), static_cast<double>(i) + 1, "a");
    one.trace[1] = static_cast<std::uint8_t>(i);
    book.add(one, at(200));
  }
  const auto traces = book.traces(1'000);
  EXPECT_LE(traces.size(), 20U);
  EXPECT_EQ(traces.at(0).trace[1], 100);
}

TEST(TaskBookProperty, SpansAndNoSpanAreTheEnergyOfTheIntervalsExactly) {
  std::mt19937_64 rng{7};
  for (int round = 0; round < 60; ++round) {
    TaskBook book{BookRules{}};
    book.add(piece(-10, 0, 99));
    WideMicrojoules expected;
    std::uint64_t id = 0;
    std::vector<std::pair<SpanId, double>> open;
    for (double s = 0; s < 3'000; s += 10) {
      for (std::uint64_t n = rng() % 6; n > 0; --n) {
        const double begin = s - static_cast<double>(rng() % 300);
        const double end = std::min(s + 10, begin + static_cast<double>(rng() % 40'000) / 1'000.0);
        const SpanId parent = id > 0 && rng() % 2 == 0 ? 1 + rng() % id : 0;
        book.add(span(++id, begin, end, "r" + std::to_string(rng() % 5), parent), at(s + 10));
      }
      if (rng() % 10 == 0) continue;  // a gap
      const auto uj = static_cast<std::int64_t>(rng() % 10'000'000'019U);
      book.add(piece(s, s + 10, uj));
      expected += Microjoules{uj};
      book.settle(at(s + 10));
      if (rng() % 20 != 0) continue;
      WideMicrojoules sum;
      const auto report = book.report(kHour, kHour + kOne);
      for (const auto& one : report.endpoints)
        for (const auto& [domain, amount] : one.energy) sum += amount;
      for (const auto& [domain, amount] : report.no_span) sum += amount;
      ASSERT_EQ(sum.to_string(), expected.to_string()) << "round " << round << " second " << s;
    }
  }
}

}  // namespace
}  // namespace tidewatt::traces
