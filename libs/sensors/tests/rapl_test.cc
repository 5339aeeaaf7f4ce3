#include <gtest/gtest.h>

#include <utility>

#include "tidewatt/sensors/sources.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

constexpr const char* kRange = "262143328850\n";

class Rapl : public ::testing::Test {
 protected:
  void zone(const std::string& id, const std::string& name, std::uint64_t uj) {
    files.files["/sys/class/powercap/" + id + "/name"] = name + "\n";
    files.files["/sys/class/powercap/" + id + "/max_energy_range_uj"] = kRange;
    set(id, uj);
  }
  void set(const std::string& id, std::uint64_t uj) {
    files.files["/sys/class/powercap/" + id + "/energy_uj"] = std::to_string(uj) + "\n";
  }
  static const Reading* find(const std::vector<Reading>& readings, const std::string& domain, int index) {
    for (const auto& r : readings)
      if (r.domain == domain && r.index == index) return &r;
    return nullptr;
  }

  testing::FakeFileSystem files;
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
  std::unique_ptr<Source> source = make_rapl(files, clock);
};

TEST_F(Rapl, FirstLookHasNoPowerTheSecondHasEnergyOverTime) {
  zone("intel-rapl:0", "package-0", 5'000'000);
  const auto first = source->read();
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->at(0).power);
  EXPECT_EQ(first->at(0).reason, "counter_baseline");
  clock.advance(Milliseconds{2000});
  set("intel-rapl:0", 245'000'000);
  const auto second = source->read();
  EXPECT_DOUBLE_EQ(second->at(0).power->value(), 120);
  EXPECT_DOUBLE_EQ(second->at(0).energy_total->value(), 240);
  EXPECT_EQ(second->at(0).counter_epoch, first->at(0).counter_epoch);
}

TEST_F(Rapl, TheMmioMirrorOfAPackageIsDropped) {
  zone("intel-rapl-mmio:0", "package-0", 1);
  zone("intel-rapl:0", "package-0", 1);
  EXPECT_EQ(source->read()->size(), 1U);
}

TEST_F(Rapl, AnMmioZoneWithoutAnOriginalIsRead) {
  zone("intel-rapl-mmio:0", "package-0", 1);
  EXPECT_EQ(source->read()->size(), 1U);
}

TEST_F(Rapl, CoreAndUncoreAreInsideThePackageAndNotReported) {
  zone("intel-rapl:0", "package-0", 1);
  zone("intel-rapl:0:0", "core", 1);
  zone("intel-rapl:0:1", "uncore", 1);
  zone("intel-rapl:0:2", "dram", 1);
  zone("intel-rapl:1", "psys", 1);
  const auto readings = source->read();
  EXPECT_EQ(readings->size(), 3U);
  EXPECT_NE(find(*readings, "cpu_package", 0), nullptr);
  EXPECT_NE(find(*readings, "dram", 0), nullptr);
  EXPECT_NE(find(*readings, "psys", 0), nullptr);
}

TEST_F(Rapl, PackagesAreNumberedByNameNotByZone) {
  zone("intel-rapl:0", "package-1", 1);
  zone("intel-rapl:0:0", "dram", 1);
  zone("intel-rapl:1", "package-0", 1);
  zone("intel-rapl:a", "package-10", 1);
  const auto readings = source->read();
  EXPECT_NE(find(*readings, "cpu_package", 1), nullptr);
  EXPECT_NE(find(*readings, "cpu_package", 0), nullptr);
  EXPECT_NE(find(*readings, "cpu_package", 10), nullptr);
  EXPECT_NE(find(*readings, "dram", 1), nullptr) << "dram belongs to the package it is below";
}

TEST_F(Rapl, AnUnreadableZoneIsUnknownWithReasonAndHintAndTakesNoOtherAlong) {
  zone("intel-rapl:0", "package-0", 1'000'000);
  zone("intel-rapl:1", "package-1", 1'000'000);
  source->read();
  clock.advance(Milliseconds{1000});
  set("intel-rapl:0", 91'000'000);
  const std::string path = "/sys/class/powercap/intel-rapl:1/energy_uj";
  files.faults[path] = Error{ErrorCode::permission_denied, path + ": permission denied", ""};
  const auto readings = source->read();
  EXPECT_DOUBLE_EQ(find(*readings, "cpu_package", 0)->power->value(), 90);
  const auto* broken = find(*readings, "cpu_package", 1);
  EXPECT_FALSE(broken->power);
  EXPECT_EQ(broken->reason,
            path +
                ": permission denied (since Linux 5.10 only root may read it: run the agent as root or "
                "give it CAP_DAC_READ_SEARCH)");
}

TEST_F(Rapl, PermissionGrantedWhileRunningIsABaselineNotASpike) {
  zone("intel-rapl:0", "package-0", 200'000'000'000);
  const std::string path = "/sys/class/powercap/intel-rapl:0/energy_uj";
  files.faults[path] = Error{ErrorCode::permission_denied, path + ": permission denied", ""};
  source->read();
  files.faults.clear();
  clock.advance(Milliseconds{1000});
  EXPECT_FALSE(source->read()->at(0).power);
}

TEST_F(Rapl, AWrapIsUnwrappedByTheZonesRange) {
  zone("intel-rapl:0", "package-0", 262'143'000'000);
  source->read();
  clock.advance(Milliseconds{10'000});
  set("intel-rapl:0", 200'000'000);
  EXPECT_DOUBLE_EQ(source->read()->at(0).power->value(), 20.032885);
}

TEST_F(Rapl, AnUnmovedCounterIsLeftOutInsteadOfBeingZero) {
  zone("intel-rapl:0", "package-0", 1'000'000);
  source->read();
  clock.advance(Milliseconds{10});
  EXPECT_TRUE(source->read()->empty());
  clock.advance(Milliseconds{20});
  set("intel-rapl:0", 4'000'000);
  EXPECT_DOUBLE_EQ(source->read()->at(0).power->value(), 100);
}

TEST_F(Rapl, AnUnlimitedConstraintIsNoLimit) {
  zone("intel-rapl:0", "package-0", 1);
  files.files["/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw"] = "4090000000\n";
  EXPECT_FALSE(source->read()->at(0).power_limit);
}

TEST_F(Rapl, AnEmptyConstraintFileIsNoLimit) {
  zone("intel-rapl:0", "package-0", 1);
  files.files["/sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw"] = "";
  EXPECT_FALSE(source->read()->at(0).power_limit);
}

TEST_F(Rapl, AMachineWithoutRaplSaysSo) {
  const auto readings = source->read();
  ASSERT_FALSE(readings);
  EXPECT_EQ(readings.error().code, ErrorCode::not_found);
}

TEST_F(Rapl, DiesOfOnePackageAreDifferentDevices) {
  zone("intel-rapl:0", "package-1-die-0", 1);
  zone("intel-rapl:1", "package-1-die-1", 1);
  const auto readings = source->read();
  EXPECT_NE(find(*readings, "cpu_package", 16), nullptr);
  EXPECT_NE(find(*readings, "cpu_package", 17), nullptr);
}

TEST_F(Rapl, TwoDiesThatShowOneCounterAreOne) {
  zone("intel-rapl:0", "package-0-die-0", 5'000'000'000);
  zone("intel-rapl:1", "package-0-die-1", 5'000'000'000);
  EXPECT_EQ(source->read()->size(), 1U);
  clock.advance(Milliseconds{1000});
  set("intel-rapl:0", 5'100'000'000);
  set("intel-rapl:1", 5'100'000'020);  // read a moment later
  const auto readings = source->read();
  ASSERT_EQ(readings->size(), 1U);
  EXPECT_DOUBLE_EQ(readings->at(0).power->value(), 100);
}

TEST_F(Rapl, DiesThatBeganEqualButDriftApartAreTwoFromWhenThatIsCertain) {
  zone("intel-rapl:0", "package-0-die-0", 5'000'000'000);
  zone("intel-rapl:1", "package-0-die-1", 5'000'000'000);
  source->read();
  std::vector<Reading> last;
  for (std::uint64_t second = 1; second <= 7; ++second) {
    clock.advance(Milliseconds{1000});
    set("intel-rapl:0", 5'000'000'000 + second * 100'000'000);
    set("intel-rapl:1", 5'000'000'000 + second * 40'000'000);
    last = *source->read();
    EXPECT_DOUBLE_EQ(find(last, "cpu_package", 0)->power->value(), 100);
    if (second == 6) {
      // What it counted while it was taken for a mirror is no energy of its own.
      EXPECT_EQ(find(last, "cpu_package", 1)->reason, "counter_baseline");
      EXPECT_DOUBLE_EQ(find(last, "cpu_package", 1)->energy_total->value(), 0);
    }
  }
  ASSERT_EQ(last.size(), 2U);
  EXPECT_DOUBLE_EQ(find(last, "cpu_package", 1)->power->value(), 40);
  EXPECT_TRUE(source->notes().empty());
}

TEST_F(Rapl, AMirrorThatDiffersForAMomentNeverBecomesADevice) {
  zone("intel-rapl:0", "package-0", 5'000'000'000);
  zone("intel-rapl:1", "package-1", 5'000'000'000);
  source->read();
  for (std::uint64_t look = 1; look <= 240; ++look) {  // two hiccups, a minute apart
    clock.advance(Milliseconds{500});
    const auto raw = 5'000'000'000 + look * 80'000'000;
    set("intel-rapl:0", raw);
    set("intel-rapl:1", look == 40 || look == 160 ? raw + 12'000'000 : raw);
    const auto readings = source->read();
    ASSERT_EQ(readings->size(), 1U) << look;
    EXPECT_DOUBLE_EQ(readings->at(0).power->value(), 160);
  }
  ASSERT_EQ(source->notes().size(), 1U);
  EXPECT_EQ(source->notes()[0],
            "/sys/class/powercap/intel-rapl:1 (package-1) shows the counter of "
            "/sys/class/powercap/intel-rapl:0: left out, counted once");
}

TEST_F(Rapl, AMirrorThatPartsTwiceBooksNothingOfTheTimeBetween) {
  zone("intel-rapl:0", "package-0", 5'000'000'000);
  zone("intel-rapl:1", "package-1", 5'000'000'000);
  source->read();
  double booked = 0;
  std::string epoch;
  double before = 0;
  for (std::uint64_t second = 1; second <= 120; ++second) {
    clock.advance(Milliseconds{1000});
    const auto raw = 5'000'000'000 + second * 160'000'000;
    const bool apart = (second >= 20 && second < 28) || (second >= 80 && second < 88);
    set("intel-rapl:0", raw);
    set("intel-rapl:1", apart ? raw + 12'000'000 : raw);
    const auto readings = source->read();
    const auto* second_device = find(*readings, "cpu_package", 1);
    if (second_device == nullptr) continue;
    // As a server does: within one epoch a counter bridges every gap.
    if (second_device->counter_epoch == epoch) booked += second_device->energy_total->value() - before;
    epoch = second_device->counter_epoch;
    before = second_device->energy_total->value();
  }
  EXPECT_DOUBLE_EQ(booked, 2 * 2 * 160);  // it was apart for 8 s, of which 5 s and a baseline pass
}

TEST_F(Rapl, TwoCountersThatMeetByChanceStayTwo) {
  zone("intel-rapl:0", "package-0", 5'000'000'000);
  zone("intel-rapl:1", "package-1", 5'001'000'000);
  source->read();
  for (std::uint64_t second = 1; second <= 5; ++second) {
    clock.advance(Milliseconds{1000});
    set("intel-rapl:0", 5'000'000'000 + second * 101'000'000);
    set("intel-rapl:1", 5'001'000'000 + second * 100'000'000);  // equal after one second
    EXPECT_EQ(source->read()->size(), 2U) << second;
  }
}

TEST_F(Rapl, AValueAboveTheRangeIsRejectedAndTheNextIsABaseline) {
  zone("intel-rapl:0", "package-0", 1'000'000);
  source->read();
  clock.advance(Milliseconds{1000});
  files.files["/sys/class/powercap/intel-rapl:0/energy_uj"] = "18446744073709551615\n";
  const auto rejected = source->read();
  EXPECT_FALSE(rejected->at(0).power);
  EXPECT_FALSE(rejected->at(0).energy_total);
  clock.advance(Milliseconds{1000});
  set("intel-rapl:0", 201'000'000);
  EXPECT_EQ(source->read()->at(0).reason, "counter_baseline");
}

TEST_F(Rapl, WithoutAUsableRangeAWrapIsUnknownAndNeverNegative) {
  for (const auto* range : {"", "0\n", "lots\n"}) {
    files.files.clear();
    zone("intel-rapl:0", "package-0", 4'000'000'000);
    files.files["/sys/class/powercap/intel-rapl:0/max_energy_range_uj"] = range;
    source = make_rapl(files, clock);
    source->read();
    clock.advance(Milliseconds{1000});
    set("intel-rapl:0", 10'000);
    const auto readings = source->read();
    EXPECT_FALSE(readings->at(0).power) << range;
    EXPECT_TRUE(readings->at(0).reason.starts_with("counter_decreased")) << readings->at(0).reason;
    clock.advance(Milliseconds{1000});
    set("intel-rapl:0", 90'010'000);
    EXPECT_DOUBLE_EQ(source->read()->at(0).power->value(), 90) << range;
  }
}

TEST_F(Rapl, AZoneThatVanishesIsUnknownAndIsFoundWhereItComesBack) {
  zone("intel-rapl:0", "package-0", 9'000'000);
  source->read();
  clock.advance(Milliseconds{1000});
  const auto gone = std::exchange(files.files, {});
  files.files["/sys/class/powercap/intel-rapl/enabled"] = "1\n";
  EXPECT_FALSE(source->read()->at(0).power);
  EXPECT_FALSE(source->read());
  files.files = gone;
  EXPECT_EQ(source->read()->at(0).reason, "counter_baseline");
}

TEST_F(Rapl, AnEmptyCounterFileIsUnknown) {
  zone("intel-rapl:0", "package-0", 9'000'000);
  files.files["/sys/class/powercap/intel-rapl:0/energy_uj"] = "";
  EXPECT_EQ(source->read()->at(0).reason, "/sys/class/powercap/intel-rapl:0/energy_uj: is empty");
}

TEST_F(Rapl, ALowCapDoesNotMakeAHighDrawImplausible) {
  zone("intel-rapl:0", "package-0", 9'000'000);
  files.files["/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw"] = "50000000\n";
  source->read();
  clock.advance(Milliseconds{1000});
  set("intel-rapl:0", 289'000'000);
  const auto readings = source->read();
  EXPECT_DOUBLE_EQ(readings->at(0).power->value(), 280);
  EXPECT_DOUBLE_EQ(readings->at(0).power_limit->value(), 50);
}

TEST_F(Rapl, AHiccupOfANameKeepsTheZonesCounter) {
  zone("intel-rapl:0", "package-0", 9'000'000);
  source->read();
  const std::string name = "/sys/class/powercap/intel-rapl:0/name";
  files.faults[name] = Error{ErrorCode::io, name + ": I/O error", ""};
  clock.advance(Milliseconds{60'000});
  set("intel-rapl:0", 6'009'000'000);
  EXPECT_DOUBLE_EQ(source->read()->at(0).power->value(), 100);
}

TEST_F(Rapl, AZoneWithoutAReadableNameIsUnknownWithAReasonAndTakesNoOtherAlong) {
  zone("intel-rapl:0", "package-0", 1'000'000);
  zone("intel-rapl:0:0", "dram", 1'000'000);
  zone("intel-rapl:1", "package-1", 1'000'000);
  zone("intel-rapl:1:0", "dram", 2'000'000);
  const std::string name = "/sys/class/powercap/intel-rapl:1/name";
  files.faults[name] = Error{ErrorCode::io, name + ": I/O error", ""};
  source->read();
  clock.advance(Milliseconds{1000});
  set("intel-rapl:0", 41'000'000);
  set("intel-rapl:0:0", 41'000'000);
  set("intel-rapl:1", 77'000'000);
  set("intel-rapl:1:0", 41'500'000);
  const auto readings = source->read();
  ASSERT_EQ(readings->size(), 4U);
  EXPECT_DOUBLE_EQ(find(*readings, "cpu_package", 0)->power->value(), 40);
  EXPECT_DOUBLE_EQ(find(*readings, "dram", 0)->power->value(), 40);
  EXPECT_DOUBLE_EQ(find(*readings, "dram", 1)->power->value(), 39.5) << "its child is measured all the same";
  const auto* unnamed = find(*readings, "cpu_package", 1);
  ASSERT_NE(unnamed, nullptr);
  EXPECT_FALSE(unnamed->power);
  EXPECT_FALSE(unnamed->energy_total);
  EXPECT_EQ(unnamed->reason, "what this zone measures isn't known: " + name + ": I/O error");
}

TEST_F(Rapl, AnUnnamedZoneBelowAPackageIsMissedOnlyWhereItMayBeTheMemory) {
  zone("intel-rapl:0", "package-0", 1);
  zone("intel-rapl:0:0", "", 1);
  zone("intel-rapl:1", "package-1", 1);
  zone("intel-rapl:1:0", "", 1);
  zone("intel-rapl:1:1", "dram", 1);
  const auto readings = source->read();
  EXPECT_EQ(readings->size(), 4U);
  ASSERT_NE(find(*readings, "dram", 0), nullptr);
  EXPECT_EQ(find(*readings, "dram", 0)->reason,
            "what this zone measures isn't known: /sys/class/powercap/intel-rapl:0:0/name is empty");
  EXPECT_EQ(find(*readings, "dram", 1)->reason, "counter_baseline");
}

TEST_F(Rapl, AnUnnamedZoneKeepsItsPlaceWhenItsNameIsThere) {
  zone("intel-rapl:0", "package-0", 1);
  zone("intel-rapl:1", "", 1);
  ASSERT_NE(find(*source->read(), "cpu_package", 1), nullptr);
  zone("intel-rapl:1", "package-1", 7);
  clock.advance(Milliseconds{60'000});
  const auto readings = source->read();
  ASSERT_NE(find(*readings, "cpu_package", 1), nullptr);
  EXPECT_EQ(find(*readings, "cpu_package", 1)->reason, "counter_baseline");
}

TEST_F(Rapl, TwoZonesOfOneNameWithDifferentCountersAreTwoTheSecondUnknown) {
  zone("intel-rapl:0", "package-0", 1'000'000);
  zone("intel-rapl:1", "package-0", 5'000'000);
  source->read();
  clock.advance(Milliseconds{1000});
  set("intel-rapl:0", 41'000'000);
  set("intel-rapl:1", 35'000'000);
  const auto readings = source->read();
  ASSERT_EQ(readings->size(), 2U);
  EXPECT_DOUBLE_EQ(find(*readings, "cpu_package", 0)->power->value(), 40);
  EXPECT_FALSE(find(*readings, "cpu_package", 1)->power);
  EXPECT_EQ(find(*readings, "cpu_package", 1)->reason,
            "intel-rapl:0 and intel-rapl:1 are both named package-0, with different counters: which is which "
            "isn't known");
}

TEST_F(Rapl, TwoZonesOfOneNameThatShowOneCounterAreOne) {
  zone("intel-rapl:0", "package-0", 900'000);
  zone("intel-rapl:1", "package-0", 900'000);
  EXPECT_EQ(source->read()->size(), 1U);
  clock.advance(Milliseconds{1000});
  set("intel-rapl:0", 40'900'000);
  set("intel-rapl:1", 40'900'020);  // read a moment later
  const auto readings = source->read();
  ASSERT_EQ(readings->size(), 1U);
  EXPECT_DOUBLE_EQ(readings->at(0).power->value(), 40);
}

TEST_F(Rapl, AZoneThatVanishesBesideOthersIsMissedByNameUntilItIsBack) {
  zone("intel-rapl:0", "package-0", 1'000'000);
  zone("intel-rapl:1", "package-1", 1'000'000);
  source->read();
  const auto both = files.files;
  std::erase_if(files.files,
                [](const auto& file) { return file.first.find("rapl:1/") != std::string::npos; });
  for (std::uint64_t look = 2; look < 5; ++look) {
    clock.advance(Milliseconds{1000});
    set("intel-rapl:0", look * 1'000'000);
    const auto readings = source->read();
    EXPECT_DOUBLE_EQ(find(*readings, "cpu_package", 0)->power->value(), 1);
    ASSERT_NE(find(*readings, "cpu_package", 1), nullptr) << look;
    if (look > 2) {
      EXPECT_EQ(find(*readings, "cpu_package", 1)->reason,
                "the zone /sys/class/powercap/intel-rapl:1 (package-1) has vanished");
    }
  }
  files.files = both;
  clock.advance(Milliseconds{60'000});
  const auto readings = source->read();
  EXPECT_EQ(find(*readings, "cpu_package", 1)->reason, "counter_baseline");
}

}  // namespace
}  // namespace tidewatt::sensors
