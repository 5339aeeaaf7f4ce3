#include "tidewatt/sensors/isolated.h"

#include <gtest/gtest.h>

#include <functional>

#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

/// Answers by a script; knows how many live.
struct Stage {
  std::function<Result<std::string>(Milliseconds deadline)> answer;
  int started = 0;
  int alive = 0;
  bool stuck = false;
};

class FakeCompanion final : public Companion {
 public:
  explicit FakeCompanion(Stage& stage) : stage_(stage) { ++stage_.alive; }
  FakeCompanion(const FakeCompanion&) = delete;
  FakeCompanion& operator=(const FakeCompanion&) = delete;
  ~FakeCompanion() override { --stage_.alive; }
  Result<std::string> ask(std::string_view question, Milliseconds deadline, std::size_t) override {
    EXPECT_EQ(question, "read");
    return stage_.answer(deadline);
  }
  bool gone() override { return !stage_.stuck; }

 private:
  Stage& stage_;
};

class IsolatedTest : public ::testing::Test {
 protected:
  std::string one_card() const {
    Reading reading;
    reading.domain = "gpu";
    reading.uuid = "GPU-aa";
    reading.power = Watts{300};
    reading.at = clock->mono_now();
    return to_answer(std::vector{reading});
  }
  void crashes() {
    stage.answer = [](Milliseconds) -> Result<std::string> {
      return fail(ErrorCode::unavailable, "lib: killed by signal 11 (Segmentation fault)");
    };
  }
  void works() {
    stage.answer = [this](Milliseconds) -> Result<std::string> { return one_card(); };
  }
  void hangs() {
    stage.answer = [this](Milliseconds deadline) -> Result<std::string> {
      clock->advance(deadline);
      return fail(ErrorCode::timed_out, "lib: no answer, killed");
    };
  }
  void pass(int seconds) { clock->advance(std::chrono::seconds{seconds}); }

  std::shared_ptr<testing::ManualClock> clock =
      std::make_shared<testing::ManualClock>(UtcTime{Milliseconds{1'700'000'000'000}});
  Stage stage;
  std::unique_ptr<Source> source = make_isolated(
      "lib",
      [this]() -> Result<std::unique_ptr<Companion>> {
        ++stage.started;
        return std::make_unique<FakeCompanion>(stage);
      },
      clock);
};

TEST_F(IsolatedTest, OneChildServesAllLooks) {
  works();
  for (int look = 0; look < 100; ++look) {
    const auto readings = source->read();
    ASSERT_TRUE(readings) << readings.error().to_string();
    EXPECT_EQ(readings->at(0).power, Watts{300});
    pass(1);
  }
  EXPECT_EQ(stage.started, 1);
}

TEST_F(IsolatedTest, AfterACrashTheDevicesAreUnknownUntilAnotherChildAnswers) {
  works();
  source->read();
  crashes();
  const auto crashed = source->read();
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().code, ErrorCode::unavailable);
  EXPECT_EQ(crashed.error().message, "lib: killed by signal 11 (Segmentation fault)");
  works();
  EXPECT_EQ(source->read().error().message,
            "lib: killed by signal 11 (Segmentation fault) (next try in 6 s)");
  EXPECT_EQ(stage.started, 1);
  pass(5);
  EXPECT_TRUE(source->read());
  EXPECT_EQ(stage.started, 2);
}

TEST_F(IsolatedTest, ALibraryThatAlwaysCrashesIsTriedLessAndLessOften) {
  crashes();
  for (int second = 0; second < 1000; ++second) {
    EXPECT_FALSE(source->read());
    pass(1);
  }
  // At 0, 5, 15, 35, 75, 155, 315, 615, 915 s.
  EXPECT_EQ(stage.started, 9);
}

TEST_F(IsolatedTest, ACrashAtEverySecondLookIsBackedOffAsWell) {
  int looks = 0;
  stage.answer = [&](Milliseconds) -> Result<std::string> {
    if (++looks % 2 == 0) return fail(ErrorCode::unavailable, "lib: killed");
    return one_card();
  };
  for (int second = 0; second < 1000; ++second) {
    source->read();
    pass(1);
  }
  EXPECT_LE(stage.started, 9);
}

TEST_F(IsolatedTest, AChildThatRanForAWhileEndsTheBackOff) {
  crashes();
  source->read();
  pass(5);
  source->read();
  pass(10);
  works();
  for (int second = 0; second < 61; ++second) {
    EXPECT_TRUE(source->read());
    pass(1);
  }
  crashes();
  source->read();
  works();
  pass(5);
  EXPECT_TRUE(source->read());
}

TEST_F(IsolatedTest, AHangEndsTheChildAndIsNotTakenForAMissingLibrary) {
  works();
  source->read();
  hangs();
  EXPECT_EQ(source->read().error().code, ErrorCode::timed_out);
  const auto after = source->read();
  EXPECT_EQ(after.error().code, ErrorCode::timed_out);
  EXPECT_NE(after.error().message.find("next try"), std::string::npos);
  EXPECT_EQ(stage.alive, 0);
}

TEST_F(IsolatedTest, TheFirstLookMayTakeLongerSinceItOpensTheLibrary) {
  std::vector<Milliseconds> deadlines;
  stage.answer = [&](Milliseconds deadline) -> Result<std::string> {
    deadlines.push_back(deadline);
    return one_card();
  };
  source->read();
  source->read();
  EXPECT_EQ(deadlines, (std::vector{Milliseconds{30'000}, Milliseconds{5'000}}));
}

TEST_F(IsolatedTest, NoOtherChildIsStartedWhileOneIsStuckInTheKernel) {
  hangs();
  stage.stuck = true;
  source->read();
  for (int second = 0; second < 1000; ++second) {
    const auto readings = source->read();
    ASSERT_FALSE(readings);
    EXPECT_EQ(readings.error().code, ErrorCode::timed_out);
    pass(1);
  }
  EXPECT_EQ(stage.started, 1);
  EXPECT_EQ(stage.alive, 1);
  stage.stuck = false;
  works();
  EXPECT_TRUE(source->read());
}

TEST_F(IsolatedTest, GarbageEndsTheChild) {
  for (const char* garbage : {"", "NVRM: hello",
                              "ok\x1e"
                              "domain=gpu",
                              "ok\x1e"
                              "domain=gpu\tat=1e3"}) {
    const int before = stage.started;
    stage.answer = [&](Milliseconds) -> Result<std::string> { return garbage; };
    EXPECT_EQ(source->read().error().code, ErrorCode::corrupt) << garbage;
    EXPECT_EQ(stage.alive, 0);
    EXPECT_EQ(stage.started, before + 1);
    pass(300);
  }
}

TEST_F(IsolatedTest, AReadingFromBeforeTheQuestionIsGarbage) {
  const auto old = one_card();
  pass(1);
  stage.answer = [&](Milliseconds) -> Result<std::string> { return old; };
  EXPECT_EQ(source->read().error().message, "lib: readings of another time");
}

TEST_F(IsolatedTest, AMissingLibraryKeepsNoProcess) {
  stage.answer = [](Milliseconds) -> Result<std::string> {
    return to_answer(fail(ErrorCode::not_found, "lib can't be opened", "install it"));
  };
  const auto missing = source->read();
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().hint, "install it");
  EXPECT_EQ(stage.alive, 0);
  EXPECT_EQ(source->read().error().code, ErrorCode::not_found);
  EXPECT_EQ(stage.started, 1);
}

TEST_F(IsolatedTest, ADriverThatDoesNotAnswerYetIsAskedByTheSameChild) {
  stage.answer = [](Milliseconds) -> Result<std::string> {
    return to_answer(fail(ErrorCode::unavailable, "driver not loaded"));
  };
  EXPECT_EQ(source->read().error().code, ErrorCode::unavailable);
  works();
  EXPECT_TRUE(source->read());
  EXPECT_EQ(stage.started, 1);
}

TEST_F(IsolatedTest, WhatCantBeStartedIsTriedAgainAfterAPause) {
  int tries = 0;
  source = make_isolated(
      "lib",
      [&]() -> Result<std::unique_ptr<Companion>> {
        ++tries;
        return fail(ErrorCode::io, "lib: start: no memory");
      },
      clock);
  EXPECT_EQ(source->read().error().code, ErrorCode::io);
  source->read();
  EXPECT_EQ(tries, 1);
}

TEST(AnswerQuestion, AnExceptionAndAnUnknownQuestionAreErrors) {
  struct Broken final : Source {
    [[nodiscard]] std::string name() const override { return "broken"; }
    Result<std::vector<Reading>> read() override { throw std::runtime_error{"bad"}; }
  } broken;
  EXPECT_EQ(look_from_answer(answer_question(broken, "read")).error().message, "broken: bad");
  EXPECT_EQ(look_from_answer(answer_question(broken, "write")).error().code, ErrorCode::invalid_input);
}

}  // namespace
}  // namespace tidewatt::sensors
