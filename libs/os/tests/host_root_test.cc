#include <gtest/gtest.h>

#include "tidewatt/os/posix.h"
#include "tidewatt/testing/fake_file_system.h"

namespace tidewatt::os {
namespace {

TEST(HostRoot, OnlyTheHostsFoldersAreFoundBelowTheRoot) {
  auto files = std::make_shared<::tidewatt::testing::FakeFileSystem>();
  files->files["/host/proc/stat"] = "host";
  files->files["/host/sys/fs/cgroup/a/x"] = "1";
  files->files["/host/etc/machine-id"] = "id";
  files->files["/proc/stat"] = "container";
  files->files["/procession"] = "own";
  files->files["/etc/hosts"] = "own";
  const auto host = with_host_root(files, "/host/");
  EXPECT_EQ(host->read_text("/proc/stat"), "host");
  EXPECT_EQ(host->read_text("/etc/machine-id"), "id");
  EXPECT_EQ(host->list_folders("/sys/fs/cgroup"), std::vector<std::string>{"a"});
  EXPECT_EQ(host->read_text("/procession"), "own");
  EXPECT_EQ(host->read_text("/etc/hosts"), "own");
}

TEST(HostRoot, WithoutARootNothingIsBetween) {
  std::shared_ptr<FileSystem> files = std::make_shared<::tidewatt::testing::FakeFileSystem>();
  EXPECT_EQ(with_host_root(files, ""), files);
  EXPECT_EQ(with_host_root(files, "/"), files);
}

}  // namespace
}  // namespace tidewatt::os
