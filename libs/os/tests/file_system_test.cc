#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "temp_folder.h"
#include "tidewatt/os/posix.h"

namespace tidewatt::os {
namespace {

class PosixFileSystemTest : public testing::Test {
 protected:
  void put(const std::string& name, std::string_view text) {
    std::ofstream{dir / name, std::ios::binary} << text;
  }

  TempFolder dir;
  std::unique_ptr<FileSystem> files = make_file_system();
};

TEST_F(PosixFileSystemTest, ReadsAWholeFile) {
  const std::string text(100'000, 'x');
  put("big", text + "end");
  EXPECT_EQ(files->read_text(dir / "big"), text + "end");
  put("empty", "");
  EXPECT_EQ(files->read_text(dir / "empty"), "");
}

TEST_F(PosixFileSystemTest, ReadsFilesWhoseSizeIsGivenAsZero) {
  const auto text = files->read_text("/proc/self/status");
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_NE(text->find("Name:"), std::string::npos);
}

TEST_F(PosixFileSystemTest, RefusesWhatIsLargerThanTheLimit) {
  put("ten", "0123456789");
  EXPECT_EQ(files->read_text(dir / "ten", 10), "0123456789");
  const auto cut = files->read_text(dir / "ten", 9);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::invalid_input);
  const auto endless = files->read_text("/dev/zero", 1U << 20U);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, ErrorCode::invalid_input);
}

TEST_F(PosixFileSystemTest, NamesTheFileThatIsMissing) {
  const auto missing = files->read_text(dir / "nothing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_NE(missing.error().message.find(dir / "nothing"), std::string::npos);
  EXPECT_EQ(files->list(dir / "nothing").error().code, ErrorCode::not_found);
}

TEST_F(PosixFileSystemTest, RefusesToReadAFolder) {
  EXPECT_EQ(files->read_text(dir.path()).error().code, ErrorCode::invalid_input);
}

TEST_F(PosixFileSystemTest, AFifoWithoutWriterNeverHangsAReader) {
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  const auto read = files->read_text(dir / "fifo");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::timed_out);
}

TEST_F(PosixFileSystemTest, AFifoWithASilentWriterNeverHangsAReader) {
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  const int writer = ::open((dir / "fifo").c_str(), O_RDWR | O_CLOEXEC);
  const auto begin = std::chrono::steady_clock::now();
  const auto read = files->read_text(dir / "fifo");
  ::close(writer);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5});
}

TEST_F(PosixFileSystemTest, ListsNamesSorted) {
  put("b", "");
  put("a", "");
  put(".hidden", "");
  EXPECT_EQ(files->list(dir.path()), (std::vector<std::string>{".hidden", "a", "b"}));
}

TEST_F(PosixFileSystemTest, ListsFoldersWithoutFilesAndLinks) {
  ASSERT_TRUE(files->make_folders(dir / "b/c"));
  ASSERT_TRUE(files->make_folders(dir / "a"));
  ASSERT_TRUE(files->write_atomically(dir / "file", "x"));
  ASSERT_EQ(::symlink((dir / "a").c_str(), (dir / "link").c_str()), 0);
  EXPECT_EQ(files->list_folders(dir.path()), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(files->list_folders(dir / "nothing").error().code, ErrorCode::not_found);
}

TEST_F(PosixFileSystemTest, ReadsALinkAsWritten) {
  ASSERT_EQ(::symlink("../somewhere/0000:41:00.0", (dir / "link").c_str()), 0);
  EXPECT_EQ(files->read_link(dir / "link"), "../somewhere/0000:41:00.0");
  put("plain", "");
  EXPECT_EQ(files->read_link(dir / "plain").error().code, ErrorCode::not_found);
}

TEST_F(PosixFileSystemTest, ReplacesAFileAsAWholeAndLeavesNothingElse) {
  put("state", "old");
  ASSERT_TRUE(files->write_atomically(dir / "state", "new"));
  EXPECT_EQ(files->read_text(dir / "state"), "new");
  EXPECT_EQ(files->list(dir.path()), std::vector<std::string>{"state"});
  struct stat info{};
  ASSERT_EQ(::stat((dir / "state").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(PosixFileSystemTest, KeepsTheOldFileWhenTheNewOneCannotBeWritten) {
  const auto failed = files->write_atomically(dir / "no/such/folder/state", "new");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::not_found);
  ASSERT_TRUE(files->make_folders(dir / "taken"));
  EXPECT_FALSE(files->write_atomically(dir / "taken", "x"));  // a folder can't be replaced by a file
  EXPECT_EQ(files->list(dir.path()), std::vector<std::string>{"taken"});
}

TEST_F(PosixFileSystemTest, ReportsAFullDisk) {
  const auto full = files->open_append("/dev/full");
  ASSERT_TRUE(full) << full.error().to_string();
  const auto written = (*full)->append("beat");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::io);
  EXPECT_NE(written.error().hint.find("space"), std::string::npos);
}

TEST_F(PosixFileSystemTest, AppendsAfterWhatIsThere) {
  {
    auto file = files->open_append(dir / "segment");
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->append("one "));
    ASSERT_TRUE((*file)->sync());
  }
  auto file = files->open_append(dir / "segment");
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->append("two torn"));
  ASSERT_TRUE(files->truncate(dir / "segment", 8));
  ASSERT_TRUE((*file)->append("three"));
  EXPECT_EQ(files->read_text(dir / "segment"), "one two three");
}

TEST_F(PosixFileSystemTest, RemovesFilesAndSaysWhenThereIsNone) {
  put("gone", "");
  EXPECT_TRUE(files->exists(dir / "gone"));
  EXPECT_TRUE(files->remove(dir / "gone"));
  EXPECT_FALSE(files->exists(dir / "gone"));
  EXPECT_EQ(files->remove(dir / "gone").error().code, ErrorCode::not_found);
}

TEST_F(PosixFileSystemTest, MakesFoldersThatMayBeThereAlready) {
  EXPECT_TRUE(files->make_folders(dir / "a/b/c"));
  EXPECT_TRUE(files->make_folders(dir / "a/b/c/"));
  EXPECT_TRUE(files->exists(dir / "a/b/c"));
  put("file", "");
  EXPECT_FALSE(files->make_folders(dir / "file"));
  EXPECT_FALSE(files->make_folders(dir / "file/below"));
}

}  // namespace
}  // namespace tidewatt::os
