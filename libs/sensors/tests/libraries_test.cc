#include "tidewatt/sensors/libraries.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "fake_cards.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

/// What differs between the vendors' interfaces.
struct Vendor {
  const char* name;  ///< of make_library
  const char* fake;
  const char* vendor;
  const char* pci_vendor;
  double units_per_watt;
  unsigned long long blank;  ///< the interface's "no value"
  int not_supported;
  bool counts_energy_only = false;  ///< there is no call for power
};

void PrintTo(const Vendor& vendor, std::ostream* out) { *out << vendor.name << " with " << vendor.fake; }

const std::vector<Vendor>& vendors() {
  static const std::vector<Vendor> kAll{
      {"rocm-smi-lib", FAKE_ROCM_SMI, "amd", "0x1002", 1e6, ~0ULL, 2},
      {"hygon-smi-lib", FAKE_ROCM_SMI, "hygon", "0x1d94", 1e6, ~0ULL, 2},
      {"amdsmi", FAKE_AMD_SMI_24, "amd", "0x1002", 1, 0xFFFF, 2},
      {"amdsmi", FAKE_AMD_SMI_26, "amd", "0x1002", 1, 0xFFFFFFFF, 2},
      {"level-zero", FAKE_LEVEL_ZERO, "intel", "0x8086", 1e6, ~0ULL, 0x78000003, true},
      {"cndev", FAKE_CNDEV, "cambricon", "0xcabc", 1, 0xFFFFFFFF, 10},
      {"mxsml", FAKE_MXSML, "metax", "0x9999", 1e3, 0xFFFFFFFF, 3},
      {"efml", FAKE_EFML, "enflame", "0x1e36", 1, 0xFFFFFFFF, 3},
      {"mtml", FAKE_MTML, "mthreads", "0x1ed5", 1e3, 0xFFFFFFFF, 4},
      {"dcmi", FAKE_DCMI, "huawei", "0x19e5", 10, 0x7FFFFFFF, -8255},
      {"hlml", FAKE_HLML, "habana", "0x1da3", 1e3, 0xFFFFFFFF, 3},
      {"xpuml", FAKE_XPUML, "kunlunxin", "0x1d22", 1e3, 0xFFFFFFFF, 3},
  };
  return kAll;
}

const Vendor& vendor_named(std::string_view name) {
  return *std::find_if(vendors().begin(), vendors().end(), [&](const Vendor& v) { return v.name == name; });
}

/// A vendor's fake, loaded, with two cards.
class Rig {
 public:
  explicit Rig(const Vendor& vendor)
      : vendor_(vendor), handle_(::dlopen(vendor.fake, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      ADD_FAILURE() << ::dlerror();
      return;
    }
    fake = static_cast<FakeVendor*>(::dlsym(handle_, "fake_vendor"));
    *fake = {};
    fake->count = 2;
    fake->cards[0].bus = 0x3b;
    fake->cards[1].bus = 0x5e;
    for (unsigned i = 0; i < 2; ++i) {
      fake->cards[i].limit = static_cast<unsigned long long>(700 * limit_units());
      fake->cards[i].energy = 1'000'000;
      fake->cards[i].clock = 1'000'000;
    }
    draws(0, 300);
    draws(1, 200);
    open(vendor.fake);
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig() {
    source.reset();
    if (handle_ != nullptr) ::dlclose(handle_);
  }

  void open(const std::string& library) {
    source = make_library(vendor_.name, files, clock, {.library = library});
  }
  void draws(unsigned index, double watts) {
    watts_[index] = watts;
    fake->cards[index].power = static_cast<unsigned long long>(watts * vendor_.units_per_watt);
  }
  /// A second passes, with the counters.
  void pass() {
    clock->advance(std::chrono::seconds{1});
    for (unsigned i = 0; i < 2; ++i) {
      fake->cards[i].energy += static_cast<unsigned long long>(watts_[i] * 1e6);
      fake->cards[i].clock += 1'000'000;
    }
  }
  std::vector<Reading> read() {
    auto readings = source->read();
    EXPECT_TRUE(readings) << readings.error().to_string();
    return readings ? *std::move(readings) : std::vector<Reading>{};
  }
  /// The second look, for what has a counter only begins with a baseline.
  std::vector<Reading> look() {
    if (vendor_.counts_energy_only) read();
    pass();
    return read();
  }
  void on_bus(const std::string& bus_id, const std::string& status) {
    const auto folder = "/sys/bus/pci/devices/" + bus_id;
    files->files[folder + "/vendor"] = std::string{vendor_.pci_vendor} + "\n";
    files->files[folder + "/class"] = "0x120000\n";
    files->files[folder + "/power/runtime_status"] = status + "\n";
  }

  FakeVendor* fake = nullptr;
  std::shared_ptr<testing::FakeFileSystem> files = std::make_shared<testing::FakeFileSystem>();
  std::shared_ptr<testing::ManualClock> clock =
      std::make_shared<testing::ManualClock>(UtcTime{Milliseconds{1'700'000'000'000}});
  std::unique_ptr<Source> source;

 private:
  [[nodiscard]] double limit_units() const {
    return vendor_.counts_energy_only ? 1e3 : vendor_.units_per_watt;
  }

  const Vendor& vendor_;
  void* handle_;
  double watts_[4] = {};
};

class Libraries : public ::testing::TestWithParam<Vendor> {
 protected:
  Rig rig{GetParam()};
};

TEST_P(Libraries, EachCardHasItsPowerInTheVendorsUnitAndAnIdentity) {
  const auto r = rig.look();
  ASSERT_EQ(r.size(), 2U);
  EXPECT_NEAR(r[0].power.value_or(Watts{}).value(), 300, 1e-3) << r[0].reason;
  EXPECT_NEAR(r[1].power.value_or(Watts{}).value(), 200, 1e-3) << r[1].reason;
  EXPECT_FALSE(r[0].uuid.empty());
  EXPECT_NE(r[0].uuid, r[1].uuid);
  EXPECT_EQ(r[0].vendor, GetParam().vendor);
  EXPECT_EQ(r[0].source, GetParam().name);
  EXPECT_EQ(r[0].domain, kDomainGpu);
  if (r[0].power_limit) {
    EXPECT_NEAR(r[0].power_limit->value(), 700, 1e-3);
  }
  if (r[0].util) {
    EXPECT_DOUBLE_EQ(*r[0].util, 0.42);
  }
  if (r[0].health) {
    EXPECT_DOUBLE_EQ(*r[0].health->temperature_c, 51);
  }
}

TEST_P(Libraries, ACardThatTellsNoPowerIsUnknownAndTakesNoOtherAlong) {
  rig.look();
  rig.fake->cards[0].power_code = GetParam().not_supported;
  rig.pass();
  const auto r = rig.read();
  ASSERT_EQ(r.size(), 2U);
  EXPECT_FALSE(r[0].power);
  EXPECT_FALSE(r[0].reason.empty());
  EXPECT_NEAR(r[1].power.value_or(Watts{}).value(), 200, 1e-3);
}

TEST_P(Libraries, TheVendorsNoValueIsUnknown) {
  rig.look();
  rig.pass();
  rig.fake->cards[0].power = GetParam().blank;
  rig.fake->cards[0].energy = ~0ULL;
  const auto r = rig.read();
  EXPECT_FALSE(r[0].power);
  EXPECT_FALSE(r[0].reason.empty());
  EXPECT_FALSE(r[0].energy_total);
}

TEST_P(Libraries, ASuspendedCardIsNotMeasured) {
  rig.on_bus("0000:3b:00.0", "suspended");
  rig.on_bus("0000:5e:00.0", "active");
  const auto r = rig.look();
  EXPECT_EQ(rig.fake->cards[0].touched, 0);
  EXPECT_EQ(r[0].reason, "suspended: not woken to be measured");
  EXPECT_TRUE(r[1].power);
  rig.on_bus("0000:3b:00.0", "active");
  EXPECT_TRUE(rig.look()[0].power);
}

TEST_P(Libraries, WithEveryCardAsleepTheLibraryIsNotEvenStarted) {
  rig.on_bus("0000:3b:00.0", "suspended");
  EXPECT_FALSE(rig.read()[0].power);
  EXPECT_EQ(rig.fake->inits, 0);
}

TEST_P(Libraries, AMissingOrForeignLibraryIsSaid) {
  rig.open("/nowhere/lib.so");
  EXPECT_EQ(rig.source->read().error().code, ErrorCode::not_found);
  rig.open("libm.so.6");
  const auto foreign = rig.source->read();
  EXPECT_EQ(foreign.error().code, ErrorCode::invalid_input);
  EXPECT_NE(foreign.error().message.find("libm.so.6 has no "), std::string::npos) << foreign.error().message;
}

TEST_P(Libraries, AMissingDriverIsRetriedAfterAPauseOnly) {
  rig.fake->init_code = 9;
  EXPECT_EQ(rig.source->read().error().code, ErrorCode::unavailable);
  EXPECT_EQ(rig.source->read().error().code, ErrorCode::unavailable);
  EXPECT_EQ(rig.fake->inits, 1);
  rig.fake->init_code = 0;
  rig.clock->advance(Milliseconds{10'000});
  EXPECT_EQ(rig.read().size(), 2U);
}

TEST_P(Libraries, CardsAreCountedAnewNowAndThen) {
  rig.fake->count = 1;
  EXPECT_EQ(rig.look().size(), 1U);
  rig.fake->count = 2;
  EXPECT_EQ(rig.look().size(), 1U);
  rig.clock->advance(Milliseconds{300'000});
  EXPECT_EQ(rig.look().size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(All, Libraries, ::testing::ValuesIn(vendors()),
                         [](const auto& param) { return "vendor" + std::to_string(param.index); });

TEST(RocmSmi, TheCounterIsInUnitsOfItsResolution) {
  Rig rig{vendor_named("rocm-smi-lib")};
  rig.fake->cards[0].energy = 1'000'000;
  const auto before = rig.read()[0];
  EXPECT_NEAR(before.energy_total->value(), 15.3, 1e-4);
  rig.fake->cards[0].energy = 10;
  EXPECT_NE(rig.read()[0].counter_epoch, before.counter_epoch);
}

TEST(RocmSmi, AFrozenCounterOfACardThatDrawsPowerIsDistrusted) {
  Rig rig{vendor_named("rocm-smi-lib")};
  EXPECT_TRUE(rig.read()[0].energy_total);
  rig.clock->advance(Milliseconds{5'000});
  const auto r = rig.read();
  EXPECT_FALSE(r[0].energy_total);
  EXPECT_TRUE(r[0].power);
}

TEST(AmdSmi, AnOlderCardHasAnAverageOnly) {
  for (const auto& vendor : vendors()) {
    if (std::string_view{vendor.name} != "amdsmi") continue;
    Rig rig{vendor};
    rig.fake->cards[0].special = 1;
    EXPECT_EQ(rig.read()[0].power, Watts{300}) << vendor.fake;
  }
}

TEST(AmdSmi, ALimitInMicrowattsThoughDocumentedAsWattsIsUnderstood) {
  Rig rig{vendor_named("amdsmi")};
  rig.fake->cards[0].limit = 1'000'000'000;
  EXPECT_EQ(rig.read()[0].power_limit, Watts{1000});
}

TEST(LevelZero, TheFirstLookIsABaselineAndTheCounterIsKept) {
  Rig rig{vendor_named("level-zero")};
  const auto first = rig.read();
  EXPECT_FALSE(first[0].power);
  EXPECT_EQ(first[0].reason, "counter_baseline");
  EXPECT_EQ(first[0].energy_total, Joules{1});
  rig.pass();
  const auto second = rig.read();
  EXPECT_EQ(second[0].energy_total, Joules{301});
  EXPECT_EQ(second[0].counter_epoch, first[0].counter_epoch);
}

TEST(LevelZero, PowerIsOverTheCountersOwnClock) {
  Rig rig{vendor_named("level-zero")};
  rig.read();
  rig.clock->advance(Milliseconds{1'000});
  rig.fake->cards[0].energy += 600'000'000;  // our look was late by a second
  rig.fake->cards[0].clock += 2'000'000;
  EXPECT_EQ(rig.read()[0].power, Watts{300});
}

TEST(LevelZero, ACounterWithoutNewsIsLeftOutAndAFrozenOneIsUnknown) {
  Rig rig{vendor_named("level-zero")};
  rig.look();
  for (int look = 0; look < 4; ++look) EXPECT_TRUE(rig.read().empty());
  const auto frozen = rig.read();
  ASSERT_EQ(frozen.size(), 2U);
  EXPECT_FALSE(frozen[0].power);
  EXPECT_EQ(frozen[0].reason.substr(0, 14), "counter_frozen");
  EXPECT_TRUE(rig.look()[0].power);
}

TEST(LevelZero, ACounterThatFallsBackIsABaselineInANewEpoch) {
  Rig rig{vendor_named("level-zero")};
  const auto before = rig.look()[0];
  rig.fake->cards[0].energy = 5;
  rig.fake->cards[0].clock = 5;
  const auto after = rig.read()[0];
  EXPECT_FALSE(after.power);
  EXPECT_EQ(after.reason, "counter_baseline");
  EXPECT_NE(after.counter_epoch, before.counter_epoch);
}

TEST(LevelZero, TilesArePartsAndAnIntegratedGpuIsOfTheCpu) {
  Rig rig{vendor_named("level-zero")};
  rig.fake->cards[0].special = 2;
  rig.fake->cards[1].special = 3;
  const auto r = rig.look();
  EXPECT_EQ(r[0].power, Watts{300}) << "the device's own domain, not its tile's";
  EXPECT_FALSE(r[1].power);
  Rig other{vendor_named("level-zero")};
  other.fake->cards[0].special = 1;
  const auto integrated = other.look();
  EXPECT_FALSE(integrated[0].power);
  EXPECT_FALSE(integrated[0].energy_total);
}

TEST(MxSml, AVirtualFunctionHasNoPowerOfItsOwn) {
  Rig rig{vendor_named("mxsml")};
  rig.fake->cards[0].special = 1;
  const auto r = rig.read();
  EXPECT_FALSE(r[0].power);
  EXPECT_EQ(r[1].power, Watts{200});
}

TEST(Dcmi, TheSecondDieHasNoValueAndTheMicrocontrollerIsNoDevice) {
  Rig rig{vendor_named("dcmi")};
  rig.fake->cards[0].special = 1;
  const auto r = rig.read();
  ASSERT_EQ(r.size(), 3U);
  EXPECT_EQ(r[0].power, Watts{300});
  EXPECT_FALSE(r[1].power);
  EXPECT_EQ(r[1].reason, "no value of its own: counted on the card's first die");
  EXPECT_EQ(r[2].power, Watts{200});
}

TEST(Hlml, ItsCounterIsInMillijoules) {
  Rig rig{vendor_named("hlml")};
  EXPECT_EQ(rig.read()[0].energy_total, Joules{1000});
}

TEST(Mtml, ACardsHandleIsMadeOnce) {
  Rig rig{vendor_named("mtml")};
  for (int look = 0; look < 10; ++look) rig.read();
  EXPECT_EQ(rig.fake->cards[0].special, 1);
}

TEST(Xpuml, TwoDevicesOfOneBoardAreItsPowerOnce) {
  Rig rig{vendor_named("xpuml")};
  rig.fake->cards[0].special = rig.fake->cards[1].special = 77;
  const auto r = rig.read();
  EXPECT_EQ(r[0].power, Watts{300});
  EXPECT_FALSE(r[1].power);
  EXPECT_NE(r[1].reason.find("on one board with gpu 0"), std::string::npos);
  EXPECT_NE(r[0].uuid, r[1].uuid);
}

TEST(LibraryNames, EachCanBeMadeAndIsLookedForByItsBus) {
  const auto files = std::make_shared<testing::FakeFileSystem>();
  const auto clock = std::make_shared<testing::ManualClock>(UtcTime{});
  for (const auto& name : library_names()) {
    const auto source = make_library(name, files, clock);
    ASSERT_TRUE(source) << name;
    EXPECT_EQ(source->name(), name);
    EXPECT_FALSE(has_cards_for(name, *files)) << name;
  }
  EXPECT_FALSE(make_library("libfoo", files, clock));
  files->files["/sys/bus/pci/devices/0000:03:00.0/vendor"] = "0x1da3\n";
  files->files["/sys/bus/pci/devices/0000:03:00.0/class"] = "0x120000\n";
  EXPECT_TRUE(has_cards_for("hlml", *files));
  EXPECT_FALSE(has_cards_for("nvml", *files));
  files->files["/dev/nvidiactl"] = "";
  EXPECT_TRUE(has_cards_for("nvml", *files));
}

TEST(LibraryNames, ABoardsConsoleIsNoAccelerator) {
  testing::FakeFileSystem files;
  files.files["/sys/bus/pci/devices/0000:03:00.0/vendor"] = "0x19e5\n";
  files.files["/sys/bus/pci/devices/0000:03:00.0/class"] = "0x030000\n";
  EXPECT_FALSE(has_cards_for("dcmi", files));
}

}  // namespace
}  // namespace tidewatt::sensors
