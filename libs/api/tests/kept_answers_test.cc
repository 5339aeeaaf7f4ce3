// Dear answers are kept for those who ask again, cheap ones never.
#include "../src/kept_answers.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::api {
namespace {

class KeptAnswersTest : public ::testing::Test {
 protected:
  net::Response ask(const std::string& key = "a") {
    return kept_.get(key, [this] {
      ++made_;
      cpu_ += cost_;
      net::Response response;
      response.status = status_;
      response.body = std::to_string(made_);
      return response;
    });
  }
  void pass(int seconds) { clock_.advance(Milliseconds{seconds * 1000LL}); }

  ::tidewatt::testing::ManualClock clock_{UtcTime{Milliseconds{0}}};
  Milliseconds cpu_{0};
  Milliseconds cost_{100};
  int status_ = 200;
  int made_ = 0;
  KeptAnswers kept_{clock_, [this] { return cpu_; }, KeptAnswers::Rule{}};
};

TEST_F(KeptAnswersTest, ADearAnswerIsKeptAndSaysItsAge) {
  EXPECT_FALSE(ask().headers.contains("age"));
  pass(3);
  const auto again = ask();
  EXPECT_EQ(again.body, "1");
  EXPECT_EQ(again.headers.at("age"), "3");
  EXPECT_EQ(ask("b").body, "2") << "another key is another answer";
}

TEST_F(KeptAnswersTest, ACheapAnswerIsAlwaysMadeNow) {
  cost_ = Milliseconds{29};
  EXPECT_EQ(ask().body, "1");
  EXPECT_EQ(ask().body, "2");
}

TEST_F(KeptAnswersTest, AnAnswerIsMadeAnewInTheBackgroundWhileSomebodyLooks) {
  EXPECT_EQ(ask().body, "1");
  pass(4);
  kept_.refresh();
  EXPECT_EQ(made_, 1) << "not due";
  pass(1);
  kept_.refresh();
  EXPECT_EQ(made_, 2);
  EXPECT_EQ(ask().body, "2");
  EXPECT_EQ(made_, 2) << "whoever asks doesn't wait";
}

TEST_F(KeptAnswersTest, WhatNobodyLooksAtIsMadeAnewSeldom) {
  ask();
  for (int i = 0; i < 60; ++i) {
    pass(5);
    kept_.refresh();
  }
  EXPECT_EQ(made_, 1 + 6 + 4) << "each 5 s for 30 s after the last look, each 60 s for the next 270 s";
}

TEST_F(KeptAnswersTest, TheFirstLookAfterAPauseDoesNotWaitAndHasItMadeAnew) {
  ask();
  for (int i = 0; i < 60; ++i) {
    pass(5);
    kept_.refresh();
  }
  const auto first = ask();
  EXPECT_EQ(first.body, std::to_string(made_)) << "kept, not made for this look";
  EXPECT_EQ(first.headers.at("age"), "30");
  kept_.refresh();
  EXPECT_EQ(ask().headers.at("age"), "0") << "due as soon as somebody looked";
}

TEST_F(KeptAnswersTest, ADayAfterTheLastLookItIsForgotten) {
  ask();
  for (int i = 0; i <= 24 * 60; ++i) {
    pass(60);
    kept_.refresh();
  }
  const int before = made_;
  pass(3600);
  kept_.refresh();
  EXPECT_EQ(made_, before);
  EXPECT_FALSE(ask().headers.contains("age"));
}

TEST_F(KeptAnswersTest, OnlyAFewUnwatchedAnswersAreMadeAnew) {
  for (const auto* key : {"a", "b", "c", "d", "e", "f"}) {
    ask(key);
    pass(1);
  }
  pass(40);
  kept_.refresh();
  const int before = made_;
  pass(60);
  kept_.refresh();
  EXPECT_EQ(made_ - before, 4) << "those asked last";
  EXPECT_TRUE(ask("f").headers.contains("age"));
  EXPECT_FALSE(ask("a").headers.contains("age"));
}

TEST_F(KeptAnswersTest, NoAnswerIsOlderThanTwoRefreshes) {
  ask();
  pass(10);  // the background was kept from its work
  EXPECT_EQ(ask().body, "2");
}

TEST_F(KeptAnswersTest, AVeryDearAnswerIsMadeLessOften) {
  cost_ = Milliseconds{2'000};
  ask();
  pass(19);
  kept_.refresh();
  EXPECT_EQ(made_, 1);
  pass(1);
  kept_.refresh();
  EXPECT_EQ(made_, 2);
}

TEST_F(KeptAnswersTest, AFailureIsNeverKept) {
  status_ = 503;
  EXPECT_EQ(ask().status, 503);
  status_ = 200;
  EXPECT_EQ(ask().body, "2");
  status_ = 503;
  pass(5);
  kept_.refresh();
  EXPECT_EQ(ask().status, 503) << "asked anew, not answered from before";
}

TEST_F(KeptAnswersTest, WhatIsThrownReachesWhoAsksAndNothingStays) {
  EXPECT_THROW(kept_.get("x", []() -> net::Response { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(ask("x").body, "1");
}

}  // namespace
}  // namespace tidewatt::api
