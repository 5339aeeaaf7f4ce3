#include "tidewatt/continuum/record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support.h"

namespace tidewatt::continuum {
namespace {

const UtcTime kStart{Milliseconds{1'800'000'000'000}};

std::string journal(int decisions) {
  const auto setup = small_setup();
  auto text = setup_line(setup, std::nullopt, kStart) + "\n";
  Brain brain{setup};
  auto senses = well(2, 0, 600);
  std::optional<Acted> before;
  for (int n = 0; n < decisions; ++n) {
    senses.load_bins = {static_cast<std::size_t>(n / 7 % 3)};
    const auto decision = brain.decide(senses);
    text += decision_line(static_cast<std::uint64_t>(n),
                          {kStart + Milliseconds{10'000 * n}, "auto", "j.jsonl", kStart, n > 5}, before,
                          senses, decision) +
            "\n";
    brain.acted(decision.levels);
    before = Acted{decision.levels, std::nullopt, true, "engine"};
    senses.levels = decision.levels;
    senses.power_bin = decision.levels[0] * 2;
  }
  return text;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

TEST(Record, EachIsAtMost2000BytesAndItsTermsSumToG) {
  for (const auto& line : lines(journal(40))) {
    if (!is_decision(line)) continue;
    EXPECT_LE(line.size(), kLargestRecord);
    const auto json = nlohmann::json::parse(line);
    double sum = 0;
    for (const auto& term : json["terms"]) sum += term.get<double>();
    EXPECT_NEAR(sum, json["G"].get<double>(), 1e-12);
    EXPECT_EQ(json["why_not"].size(), 2U);  // three actions
  }
}

TEST(Record, ReplaysBitForBitAndGoesOn) {
  const auto text = journal(40);
  const auto replayed = replay(text);
  ASSERT_TRUE(replayed) << replayed.error().to_string();
  EXPECT_EQ(replayed->decisions, 40U);
  const auto words = explain(lines(text)[20], text);
  ASSERT_TRUE(words) << words.error().to_string();
  EXPECT_NE(words->find("decision 19"), std::string::npos);
  EXPECT_NE(words->find("why not"), std::string::npos);
}

TEST(Record, AnyFlippedBitIsFound) {
  const auto text = journal(6);
  const auto record = lines(text).back();
  for (std::size_t byte = 0; byte < record.size(); ++byte) {
    auto flipped = record;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << byte % 7));
    EXPECT_FALSE(explain(flipped, text)) << byte;
  }
  // In the journal, too: each third byte of the decisions before.
  for (std::size_t byte = 0; byte < text.size(); byte += 3) {
    auto flipped = text;
    flipped[byte] = static_cast<char>(flipped[byte] ^ 1);
    const auto replayed = replay(flipped);
    EXPECT_TRUE(!replayed || replayed->decisions < 6) << byte;
  }
}

TEST(Record, AMissingLineIsFoundAndAnUnfinishedOneIsLeftOut) {
  const auto all = lines(journal(6));
  std::string without;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != 3) without += all[i] + "\n";
  EXPECT_FALSE(replay(without));
  auto cut = journal(6);
  cut.resize(cut.size() - 40);
  const auto replayed = replay(cut);
  ASSERT_TRUE(replayed);
  EXPECT_EQ(replayed->decisions, 5U);
}

TEST(Record, LearnedCountsCarryIntoANewJournal) {
  const auto first = replay(journal(30));
  ASSERT_TRUE(first);
  const auto second = replay(setup_line(first->setup, first->brain.counts(), kStart) + "\n");
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_EQ(second->brain.counts().a, first->brain.counts().a);
}

}  // namespace
}  // namespace tidewatt::continuum
