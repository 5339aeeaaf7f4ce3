#include "tidewatt/net/file_watch.h"

#include <gtest/gtest.h>

#include "tidewatt/testing/fake_file_system.h"

namespace tidewatt::net {
namespace {

class FileWatchTest : public ::testing::Test {
 protected:
  FileWatchTest() {
    files_.files["/cert"] = "a";
    files_.files["/key"] = "b";
  }
  ::tidewatt::testing::FakeFileSystem files_;
};

TEST_F(FileWatchTest, TellsAChangeOnceWhenItHasComeToRest) {
  FileWatch watch{files_, {"/cert", "/key"}};
  EXPECT_FALSE(watch.settled_change());
  files_.files["/cert"] = "a2";
  EXPECT_FALSE(watch.settled_change()) << "the key may still be on its way";
  files_.files["/key"] = "b2";
  EXPECT_FALSE(watch.settled_change());
  EXPECT_TRUE(watch.settled_change());
  EXPECT_FALSE(watch.settled_change());
}

TEST_F(FileWatchTest, AFileThatGoesAndComesBackAsItWasIsNoChange) {
  FileWatch watch{files_, {"/cert", "/key"}};
  files_.files.erase("/cert");
  EXPECT_FALSE(watch.settled_change());
  files_.files["/cert"] = "a";
  EXPECT_FALSE(watch.settled_change());
  EXPECT_FALSE(watch.settled_change());
}

TEST_F(FileWatchTest, AFileThatIsGoneIsAChange) {
  FileWatch watch{files_, {"/cert", "/key"}};
  files_.files.erase("/cert");
  EXPECT_FALSE(watch.settled_change());
  EXPECT_TRUE(watch.settled_change());
}

TEST_F(FileWatchTest, WhatMovesFromOneFileToTheNextIsAChange) {
  FileWatch watch{files_, {"/cert", "/key"}};
  files_.files["/cert"] = "ab";
  files_.files["/key"] = "";
  watch.settled_change();
  EXPECT_TRUE(watch.settled_change());
}

TEST_F(FileWatchTest, WhatWasUsedOtherwiseIsNoChangeAnyMore) {
  FileWatch watch{files_, {"/cert", "/key"}};
  files_.files["/cert"] = "a2";
  watch.accept();
  EXPECT_FALSE(watch.settled_change());
  EXPECT_FALSE(watch.settled_change());
}

}  // namespace
}  // namespace tidewatt::net
