#include "tidewatt/ledger/seal.h"

#include <gtest/gtest.h>

#include <functional>

namespace tidewatt::ledger {
namespace {

UtcHour hour_at(const char* text) { return hour_of(*parse_rfc3339(text)); }

/// Two rows of an hour: a device's, and its node's with more energy than 64 bits hold.
std::vector<HourlyRow> two_rows() {
  const auto hour = hour_at("2026-11-29T08:00:00Z");
  HourlyRow device{{"default", Scope::device, "n/0", "", "gpu"}, hour, {}};
  device.measures.energy = WideMicrojoules::from_raw(7);
  device.measures.covered = std::chrono::hours{1};
  device.measures.samples = 180;
  HourlyRow node{{"default", Scope::node, "n", "", "gpu"}, hour, {}};
  node.measures.energy = WideMicrojoules::from_raw(WideMicrojoules::Int{1} << 70);
  node.measures.counter = WideMicrojoules::from_raw(1);
  node.measures.unattributed = WideMicrojoules::from_raw(7);
  node.measures.covered = std::chrono::hours{1};
  node.measures.gap = Milliseconds{1};
  node.measures.partial = Milliseconds{2};
  node.measures.shared_time = Milliseconds{3};
  node.measures.samples = 180;
  return {device, node};
}

Seal seal_of(const std::vector<HourlyRow>& rows, const std::string& previous = "abc",
             Month month = *parse_month("2026-11")) {
  SealHasher hasher(month, previous);
  for (const auto& row : rows) hasher.add(row);
  return hasher.finish();
}

TEST(Month, BeginsAndEndsInUtc) {
  const auto december = *parse_month("2026-12");
  EXPECT_EQ(to_string(december), "2026-12");
  EXPECT_EQ(december.begin(), hour_at("2026-12-01T00:00:00Z"));
  EXPECT_EQ(december.end(), hour_at("2027-01-01T00:00:00Z"));
  EXPECT_EQ(to_string(december.next()), "2027-01");
  const auto leap = *parse_month("2028-02");
  EXPECT_EQ(leap.end() - leap.begin(), std::chrono::hours{29 * 24});
  EXPECT_EQ(month_of(hour_at("2026-12-31T23:00:00Z")), december);
  EXPECT_EQ(to_string(month_of(hour_at("1970-01-01T00:00:00Z"))), "1970-01");
}

TEST(Month, IsReadInOneFormOnly) {
  for (const auto* bad :
       {"", "2026", "2026-13", "2026-00", "2026-1", "26-01", "2026/01", "2026-01-01", "２026-1"})
    EXPECT_FALSE(parse_month(bad)) << bad;
}

TEST(Seal, IsTheSha256OfItsCanonicalRows) {
  // The same bytes, hashed by another program from docs/method/ledger.md.
  const auto seal = seal_of(two_rows());
  EXPECT_EQ(seal.hash, "a4fac0a0f54548421fb3afbde75794679af37affd4e706459fe0da31fc5593a9");
  EXPECT_EQ(seal.rows, 2);
  EXPECT_EQ(seal.energy.to_string(), "1180591620717411303424") << "of nodes only";
  EXPECT_EQ(seal.previous, "abc");
}

TEST(Seal, ChangesWithEveryMeasureKeyHourAndTheSealBefore) {
  const auto sound = seal_of(two_rows()).hash;
  const std::vector<std::function<void(HourlyRow&)>> changes{
      [](HourlyRow& r) { r.key.cluster = "other"; },
      [](HourlyRow& r) { r.key.scope = Scope::task; },
      [](HourlyRow& r) { r.key.id += "0"; },
      [](HourlyRow& r) { r.key.part = "n/0"; },
      [](HourlyRow& r) { r.key.domain = "dram"; },
      [](HourlyRow& r) { r.hour += std::chrono::hours{1}; },
      [](HourlyRow& r) { r.measures.energy += WideMicrojoules::from_raw(1); },
      [](HourlyRow& r) { r.measures.counter += WideMicrojoules::from_raw(1); },
      [](HourlyRow& r) { r.measures.shared += WideMicrojoules::from_raw(1); },
      [](HourlyRow& r) { r.measures.unattributed += WideMicrojoules::from_raw(1); },
      [](HourlyRow& r) { r.measures.simulated += WideMicrojoules::from_raw(1); },
      [](HourlyRow& r) { r.measures.spread += WideMicrojoules::from_raw(1); },
      [](HourlyRow& r) { r.measures.covered += Milliseconds{1}; },
      [](HourlyRow& r) { r.measures.gap += Milliseconds{1}; },
      [](HourlyRow& r) { r.measures.partial += Milliseconds{1}; },
      [](HourlyRow& r) { r.measures.shared_time += Milliseconds{1}; },
      [](HourlyRow& r) { ++r.measures.samples; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    auto rows = two_rows();
    changes[i](rows[0]);
    EXPECT_NE(seal_of(rows).hash, sound) << "change " << i;
  }
  EXPECT_NE(seal_of(two_rows(), "abd").hash, sound);
  EXPECT_NE(seal_of(two_rows(), "abc", *parse_month("2026-10")).hash, sound);
  EXPECT_NE(seal_of({two_rows()[0]}).hash, sound);
}

TEST(Seal, SeparatorsInsideATextCannotMoveItsEnd) {
  auto one = two_rows();
  one[0].key.id = "a\tb";
  auto other = two_rows();
  other[0].key.id = "a";
  other[0].key.part = "b";
  EXPECT_NE(seal_of(one).hash, seal_of(other).hash);
  std::string line;
  one[0].key.id = "a\t\n\\b";
  append_canonical(one[0], line);
  EXPECT_EQ(line.substr(0, line.find("\tgpu")), "default\tdevice\ta\\t\\n\\\\b\t");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

}  // namespace
}  // namespace tidewatt::ledger
