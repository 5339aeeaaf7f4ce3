#include <dlfcn.h>
#include <gtest/gtest.h>

#include "fake_nvml.h"
#include "tidewatt/sensors/libraries.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

constexpr int kNotSupported = 3;
constexpr int kGpuIsLost = 15;

class Nvml : public ::testing::Test {
 protected:
  void SetUp() override {
    handle_ = ::dlopen(FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << ::dlerror();
    fake = static_cast<FakeNvml*>(::dlsym(handle_, "fake_nvml"));
    fake->count = 2;
    fake->init_code = fake->util_code = fake->inits = fake->shutdowns = 0;
    fake->hang = false;
    fake->cards[0] = {"GPU-aa", "00000000:3B:00.0", 0, 0, 0, 300'000, 310'000, 700'000, 5'000'000, 0};
    fake->cards[1] = {"GPU-bb", "00000000:5E:00.0", 0, 0, 0, 200'000, 210'000, 700'000, 9'000'000, 0};
    fake->process_stride = 24;
    fake->compute = fake->graphics = fake->mps = {};
    for (auto& slices : fake->mig_slices) slices = 0;
    open();
  }
  void TearDown() override {
    fake->hang = false;
    source.reset();
    ::dlclose(handle_);
  }
  void open() { source = make_library("nvml", files, clock, {.library = FAKE_NVML}); }
  std::vector<Reading> read() {
    auto readings = source->read();
    EXPECT_TRUE(readings) << readings.error().to_string();
    return readings ? *std::move(readings) : std::vector<Reading>{};
  }
  void open_with_processes(Milliseconds period) {
    source = make_library("nvml", files, clock, {.library = FAKE_NVML, .process_period = period});
  }
  static FakeProcessList listed(const std::vector<FakeProcess>& processes) {
    return {0, static_cast<unsigned>(processes.size()), 0, processes.data()};
  }
  void on_bus(const std::string& bus_id, const std::string& status) {
    const auto folder = "/sys/bus/pci/devices/" + bus_id;
    files->files[folder + "/vendor"] = "0x10de\n";
    files->files[folder + "/class"] = "0x030200\n";
    files->files[folder + "/power/runtime_status"] = status + "\n";
  }

  void* handle_ = nullptr;
  FakeNvml* fake = nullptr;
  std::shared_ptr<testing::FakeFileSystem> files = std::make_shared<testing::FakeFileSystem>();
  std::shared_ptr<testing::ManualClock> clock =
      std::make_shared<testing::ManualClock>(UtcTime{Milliseconds{1'700'000'000'000}});
  std::unique_ptr<Source> source;
};

TEST_F(Nvml, ReadsInstantPowerCounterAndTheRest) {
  const auto r = read();
  ASSERT_EQ(r.size(), 2U);
  EXPECT_DOUBLE_EQ(r[0].power->value(), 310);
  EXPECT_DOUBLE_EQ(r[0].energy_total->value(), 5000) << "the counter is in millijoules";
  EXPECT_DOUBLE_EQ(r[0].power_limit->value(), 700);
  EXPECT_DOUBLE_EQ(*r[0].util, 0.42);
  EXPECT_EQ(*r[0].memory_used_bytes, 600);
  EXPECT_DOUBLE_EQ(*r[0].health->temperature_c, 51);
  EXPECT_EQ(*r[0].health->throttle_reasons, 4U);
  EXPECT_EQ(r[0].uuid, "GPU-aa");
  EXPECT_EQ(r[1].uuid, "GPU-bb");
}

TEST_F(Nvml, AFieldWithAnErrorOfItsOwnIsNotBelievedThoughTheCallSucceeded) {
  fake->cards[0].instant_code = kNotSupported;
  fake->cards[0].instant_mw = 123'000;
  EXPECT_DOUBLE_EQ(read()[0].power->value(), 300);
}

TEST_F(Nvml, ABlankInstantValueFallsBackToThePlainCall) {
  fake->cards[0].instant_mw = 0xFFFFFFFFU;
  EXPECT_DOUBLE_EQ(read()[0].power->value(), 300);
}

TEST_F(Nvml, AnUnsupportedFieldIsUnknownAndTheOthersStay) {
  fake->cards[0].instant_code = fake->cards[0].power_code = kNotSupported;
  fake->util_code = kNotSupported;
  const auto r = read();
  EXPECT_FALSE(r[0].power);
  EXPECT_EQ(r[0].reason, "Not Supported (NVML 3)");
  EXPECT_FALSE(r[0].util);
  EXPECT_DOUBLE_EQ(r[0].energy_total->value(), 5000);
  EXPECT_DOUBLE_EQ(r[1].power->value(), 210);
}

TEST_F(Nvml, BlankValuesAreUnknown) {
  fake->cards[0].instant_mw = fake->cards[0].power_mw = fake->cards[0].limit_mw = 0xFFFFFFFFU;
  fake->cards[0].energy_mj = ~0ULL;
  const auto r = read();
  EXPECT_FALSE(r[0].power || r[0].power_limit || r[0].energy_total);
  EXPECT_EQ(r[0].reason, "sentinel: 0xffffffff");
}

TEST_F(Nvml, ZeroWattsOfAWholeCardAreUnknown) {
  fake->cards[0].instant_mw = fake->cards[0].power_mw = 0;
  EXPECT_EQ(read()[0].reason, "printed_zero_implausible");
}

TEST_F(Nvml, ALostGpuIsUnknownAndTakesNoOtherAlong) {
  read();
  fake->cards[0].instant_code = fake->cards[0].power_code = fake->cards[0].energy_code = kGpuIsLost;
  fake->count = 1;  // some drivers no longer count it
  for (int look = 0; look < 2; ++look) {
    const auto r = read();
    ASSERT_EQ(r.size(), 2U);
    EXPECT_FALSE(r[0].power);
    EXPECT_EQ(r[0].reason, "GPU is lost (NVML 15)");
    EXPECT_DOUBLE_EQ(r[1].power->value(), 210);
  }
}

TEST_F(Nvml, ACounterThatDecreasesBeginsAnEpoch) {
  const auto before = read()[0].counter_epoch;
  fake->cards[0].energy_mj = 6'000'000;
  EXPECT_EQ(read()[0].counter_epoch, before);
  fake->cards[0].energy_mj = 1'000;
  EXPECT_NE(read()[0].counter_epoch, before);
}

TEST_F(Nvml, ASuspendedGpuIsNotTouched) {
  on_bus("0000:3b:00.0", "suspended");
  on_bus("0000:5e:00.0", "active");
  const auto r = read();
  EXPECT_EQ(fake->cards[0].touched, 0);
  EXPECT_EQ(r[0].reason, "suspended: not woken to be measured");
  EXPECT_DOUBLE_EQ(r[1].power->value(), 210);
  on_bus("0000:3b:00.0", "active");
  EXPECT_DOUBLE_EQ(read()[0].power->value(), 310);
}

TEST_F(Nvml, WithEveryGpuAsleepTheLibraryIsNotEvenStarted) {
  on_bus("0000:3b:00.0", "suspended");
  EXPECT_FALSE(read()[0].power);
  EXPECT_EQ(fake->inits, 0);
}

TEST_F(Nvml, AMissingLibraryIsNotFound) {
  const auto readings = make_library("nvml", files, clock, {.library = "/nowhere/libnvidia-ml.so.1"})->read();
  ASSERT_FALSE(readings);
  EXPECT_EQ(readings.error().code, ErrorCode::not_found);
}

TEST_F(Nvml, AMissingDriverIsRetriedAfterAPauseOnly) {
  fake->init_code = 9;
  EXPECT_EQ(source->read().error().code, ErrorCode::unavailable);
  EXPECT_EQ(source->read().error().code, ErrorCode::unavailable);
  EXPECT_EQ(fake->inits, 1);
  fake->init_code = 0;
  clock->advance(Milliseconds{10'000});
  EXPECT_EQ(read().size(), 2U);
}

constexpr unsigned kNone = 0xFFFFFFFFU;

TEST_F(Nvml, ProcessesAreListedWithTheirMemoryWhateverTheDriversLayout) {
  const std::vector<FakeProcess> processes{
      {100, 1000, kNone, kNone}, {200, ~0ULL, kNone, kNone}, {300, 3, kNone, kNone}};
  for (const unsigned stride : {16U, 24U, 32U}) {
    fake->process_stride = stride;
    fake->compute = listed(processes);
    open_with_processes(Milliseconds{0});
    const auto r = read();
    ASSERT_TRUE(r[0].processes);
    ASSERT_EQ(r[0].processes->processes.size(), 3U) << stride;
    EXPECT_EQ(r[0].processes->processes[0].pid, 100);
    EXPECT_EQ(r[0].processes->processes[0].memory_used, 1000);
    EXPECT_EQ(r[0].processes->processes[1].pid, 200);
    EXPECT_EQ(r[0].processes->processes[1].memory_used, std::nullopt) << "all ones is no amount";
    EXPECT_EQ(r[0].processes->processes[2].pid, 300);
    EXPECT_EQ(r[0].processes->processes[2].instance, std::nullopt);
    EXPECT_EQ(r[0].processes->memory_total, 1000);
    ASSERT_TRUE(r[1].processes);
    EXPECT_TRUE(r[1].processes->processes.empty());
  }
}

TEST_F(Nvml, ProcessThatComputesAndDrawsIsOne) {
  const std::vector<FakeProcess> compute{{100, 10, kNone, kNone}};
  const std::vector<FakeProcess> graphics{{100, 30, kNone, kNone}, {7, 1, kNone, kNone}};
  const std::vector<FakeProcess> mps{{500, 4, kNone, kNone}};
  fake->compute = listed(compute);
  fake->graphics = listed(graphics);
  fake->mps = listed(mps);
  open_with_processes(Milliseconds{0});
  const auto r = read();
  ASSERT_EQ(r[0].processes->processes.size(), 3U);
  EXPECT_EQ(r[0].processes->processes[0].memory_used, 30);
}

TEST_F(Nvml, MoreProcessesThanThereIsRoomForAreAskedForAgain) {
  std::vector<FakeProcess> processes;
  for (unsigned i = 0; i < 500; ++i) processes.push_back({1000 + i, 5, kNone, kNone});
  fake->compute = listed(processes);
  open_with_processes(Milliseconds{0});
  EXPECT_EQ(read()[0].processes->processes.size(), 500U);
}

TEST_F(Nvml, ProcessesAreNotListedWithEverySample) {
  open_with_processes(Milliseconds{5'000});
  read();
  const auto calls = fake->compute.calls;
  clock->advance(Milliseconds{1'000});
  EXPECT_TRUE(read()[0].processes) << "the last list stays";
  EXPECT_EQ(fake->compute.calls, calls);
  clock->advance(Milliseconds{5'000});
  read();
  EXPECT_GT(fake->compute.calls, calls);
}

TEST_F(Nvml, DriverThatTellsNoProcessesIsUnknownNotEmpty) {
  fake->compute.code = fake->graphics.code = fake->mps.code = kNotSupported;
  open_with_processes(Milliseconds{0});
  const auto r = read();
  EXPECT_FALSE(r[0].processes);
  EXPECT_DOUBLE_EQ(r[0].power->value(), 310);
  open();
  EXPECT_FALSE(read()[0].processes) << "not asked for";
}

TEST_F(Nvml, MigProcessesTellTheirInstanceAndTheBoardsPowerIsThereOnce) {
  fake->mig_slices[0] = 4;
  fake->mig_slices[1] = 1;
  const std::vector<FakeProcess> processes{{100, 10, 1, 0}, {200, 10, 2, 0}, {300, 10, 7, 0}};
  fake->compute = listed(processes);
  open_with_processes(Milliseconds{0});
  const auto r = read();
  EXPECT_EQ(r.size(), 2U);
  EXPECT_EQ(r[0].processes->processes[0].compute_slices, 4);
  EXPECT_EQ(r[0].processes->processes[1].compute_slices, 1);
  EXPECT_EQ(r[0].processes->processes[2].compute_slices, std::nullopt);
}

}  // namespace
}  // namespace tidewatt::sensors
