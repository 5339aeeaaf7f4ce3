#include "tidewatt/runner/files.h"

#include <gtest/gtest.h>

#include "orders.h"

namespace tidewatt::runner {
namespace {

TEST(RunFiles, AnOrderReadsAsItWasWritten) {
  auto order = three_hours();
  order.checkpoint.signal = 10;
  const auto read = parse_order(to_text(order));
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(to_text(*read), to_text(order));
  EXPECT_EQ(read->argv, order.argv);
  EXPECT_EQ(read->checkpoint.signal, 10);
  order.duration.reset();
  order.deadline.reset();
  order.checkpoint = {};
  order.checkpoint.command = {"save", "--now"};
  EXPECT_EQ(to_text(parse_order(to_text(order)).value()), to_text(order));
}

TEST(RunFiles, ARecordAndAPlanReadAsTheyWereWritten) {
  Record record;
  record.state = State::ended;
  record.pieces = {{at(1), at(2)}, {at(3), std::nullopt}};
  record.exit_code = 137;
  record.notes = {"ended from outside"};
  EXPECT_EQ(parse_record(to_text(record)).value().pieces, record.pieces);
  EXPECT_EQ(to_text(parse_record(to_text(record)).value()), to_text(record));
  Plan plan;
  plan.made_at = at(0);
  plan.windows = {{at(1), at(2)}};
  plan.signal = {{at(0), at(1), 12.25}};
  EXPECT_EQ(parse_plan(to_text(plan)).value().signal, plan.signal);
  EXPECT_EQ(to_text(parse_plan(to_text(plan)).value()), to_text(plan));
}

TEST(RunFiles, WhatIsWrongIsRefusedInOneLine) {
  for (const std::string text :
       {"", "[]", "{}", R"({"schema":"tidewatt-run/2"})", R"({"schema":"tidewatt-run/1"})"}) {
    const auto read = parse_record(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
    EXPECT_EQ(read.error().to_string().find('\n'), std::string::npos);
  }
  auto text = to_text(Record{});
  text.replace(text.find("waiting"), 7, "flying!");
  EXPECT_FALSE(parse_record(text));
}

}  // namespace
}  // namespace tidewatt::runner
