#include "tidewatt/agent/identity.h"

#include <gtest/gtest.h>

#include "fixed_rng.h"
#include "tidewatt/base/log.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::agent {
namespace {

class IdentityTest : public ::testing::Test {
 protected:
  tidewatt::testing::FakeFileSystem files;
  tidewatt::testing::ManualClock clock{UtcTime{std::chrono::seconds{1'800'000'000}}};
  CountingRng rng;

  void SetUp() override { log::set_level(log::Level::critical); }
  std::unique_ptr<Spool> spool(const std::string& boot = "boot-1") {
    return std::move(*Spool::open(files, clock, {.folder = "/s", .boot_id = boot}));
  }
  Identity identity(const Spool& s, const std::string& boot = "boot-1") {
    return {files, rng, "/s", boot, s};
  }
};

TEST_F(IdentityTest, NumbersBeginAtOneAndGoOnAfterARestart) {
  auto s = spool();
  const auto first = identity(*s);
  EXPECT_EQ(first.seq_of(s->next_id()), 1U);
  s->append("a");
  s->append("b");
  s->acknowledge(2);
  s = spool();
  const auto second = identity(*s);
  EXPECT_EQ(second.agent_id(), first.agent_id());
  EXPECT_EQ(second.seq_of(s->next_id()), 3U);
}

TEST_F(IdentityTest, ANewBootKeepsTheAgentAndBeginsAtOne) {
  auto s = spool();
  const auto first = identity(*s);
  s->append("a");
  s = spool("boot-2");
  const auto second = identity(*s, "boot-2");
  EXPECT_EQ(second.agent_id(), first.agent_id());
  EXPECT_EQ(second.seq_of(s->next_id()), 1U);
  s->append("b");
  s = spool("boot-2");
  EXPECT_EQ(identity(*s, "boot-2").seq_of(s->next_id()), 2U);
}

TEST_F(IdentityTest, ADamagedSpoolMakesANewAgentSoThatNoNumberIsReused) {
  auto s = spool();
  const auto first = identity(*s);
  s->append("a");
  files.files["/s/acknowledged"] = "garbage";
  s = spool();
  EXPECT_NE(identity(*s).agent_id(), first.agent_id());
}

TEST_F(IdentityTest, ALostSpoolMakesANewAgent) {
  auto s = spool();
  s->append("a");
  s->acknowledge(1);
  s = spool("boot-2");
  const auto first = identity(*s, "boot-2");  // base 1
  const std::string kept = files.files["/s/identity"];
  files.files.clear();
  files.files["/s/identity"] = kept;
  s = spool("boot-2");
  EXPECT_NE(identity(*s, "boot-2").agent_id(), first.agent_id())
      << "its numbers are beyond what the spool knows";
}

TEST_F(IdentityTest, BeatsSentFromMemoryOnlyAreNotForgottenByARestart) {
  auto s = spool();
  auto first = identity(*s);
  files.bytes_left = 0;
  first.beats_are_on_disk(s->append("only in memory"));
  EXPECT_FALSE(files.files.contains("/s/identity"));
  files.bytes_left.reset();
  s = spool();  // knows nothing of the beat
  EXPECT_NE(identity(*s).agent_id(), first.agent_id());
}

TEST_F(IdentityTest, ADiskThatWorksAgainKeepsTheAgent) {
  auto s = spool();
  auto first = identity(*s);
  files.bytes_left = 0;
  first.beats_are_on_disk(s->append("a"));
  files.bytes_left.reset();
  first.beats_are_on_disk(s->append("b"));
  s = spool();
  const auto second = identity(*s);
  EXPECT_EQ(second.agent_id(), first.agent_id());
  EXPECT_EQ(second.seq_of(s->next_id()), 3U);
}

TEST_F(IdentityTest, AHalfWrittenFileIsNoIdentity) {
  auto s = spool();
  const auto first = identity(*s);
  const std::string whole = files.files["/s/identity"];
  for (std::size_t size = 0; size < whole.size(); ++size) {
    files.files["/s/identity"] = whole.substr(0, size);
    EXPECT_NE(identity(*s).agent_id(), first.agent_id()) << size;
  }
}

}  // namespace
}  // namespace tidewatt::agent
