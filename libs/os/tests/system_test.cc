#include <gtest/gtest.h>

#include <set>

#include "tidewatt/os/posix.h"

namespace tidewatt::os {
namespace {

TEST(SystemClock, MonotonicTimeIsTheUptime) {
  const SystemClock clock;
  const auto files = make_file_system();
  const auto before = clock.mono_now();
  const auto uptime = files->read_text("/proc/uptime");
  ASSERT_TRUE(uptime);
  const auto after = clock.mono_now();
  const auto milliseconds = static_cast<long>(std::stod(*uptime) * 1000);
  EXPECT_LE(before.time_since_epoch().count() - 10, milliseconds);
  EXPECT_GE(after.time_since_epoch().count() + 10, milliseconds);
}

TEST(SystemClock, UtcIsTheSystemClock) {
  const auto before = std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
  const auto now = SystemClock{}.utc_now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, std::chrono::system_clock::now());
}

TEST(SecureRng, NeverRepeats) {
  SecureRng rng;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(rng.next()).second);
}

struct CountingRng final : Rng {
  std::uint64_t next() override { return n++; }
  std::uint64_t n = 0xfedcba9876543210U;
};

TEST(RandomHex256, WritesFourWordsAsHexDigits) {
  CountingRng rng;
  EXPECT_EQ(random_hex_256(rng), "fedcba9876543210fedcba9876543211fedcba9876543212fedcba9876543213");
}

TEST(BootId, IsTheKernelsWithoutNewline) {
  const auto id = boot_id(*make_file_system());
  EXPECT_EQ(id.size(), 36U) << id;
  EXPECT_EQ(id, boot_id(*make_file_system()));
}

}  // namespace
}  // namespace tidewatt::os
