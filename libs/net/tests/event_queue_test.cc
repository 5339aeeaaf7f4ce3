#include "../src/event_queue.h"

#include <gtest/gtest.h>

namespace tidewatt::net {
namespace {

TEST(EventText, GivesEachLineItsField) {
  EXPECT_EQ(event_text("tick", "{}"), "event: tick\ndata: {}\n\n");
  EXPECT_EQ(event_text("tick", ""), "event: tick\ndata: \n\n");
  EXPECT_EQ(event_text("a\nb", "x\ny\r\nz\rw"), "event: a b\ndata: x\ndata: y\ndata: z\ndata: w\n\n");
}

TEST(EventQueue, WakesOnceUntilTaken) {
  int woken = 0;
  EventQueue queue{1000, [&] { ++woken; }};
  EXPECT_TRUE(queue.send("a", "1"));
  EXPECT_TRUE(queue.send("b", "2"));
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(queue.take(), "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n");
  EXPECT_EQ(queue.take(), "");
  EXPECT_TRUE(queue.send("c", "3"));
  EXPECT_EQ(woken, 2);
}

TEST(EventQueue, DropsAClientThatDoesNotRead) {
  int woken = 0;
  EventQueue queue{100, [&] { ++woken; }};
  int sent = 0;
  while (queue.send("tick", "0123456789") && sent < 100) ++sent;
  EXPECT_EQ(sent, 3);  // 30 bytes each
  EXPECT_FALSE(queue.open());
  EXPECT_GE(woken, 1);  // the connection learns of it
  EXPECT_EQ(queue.take(), "");
}

TEST(EventQueue, TakesNothingAfterClosing) {
  int woken = 0;
  EventQueue queue{100, [&] { ++woken; }};
  queue.close();
  EXPECT_FALSE(queue.send("a", "1"));
  EXPECT_FALSE(queue.open());
  EXPECT_EQ(woken, 0);
}

}  // namespace
}  // namespace tidewatt::net
