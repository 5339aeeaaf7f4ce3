#include "tidewatt/agent/host_files.h"

#include <gtest/gtest.h>

#include "tidewatt/testing/fake_file_system.h"

namespace tidewatt::agent {
namespace {

TEST(HostFiles, OnlyTheHostsFoldersAreFoundBelowTheRoot) {
  auto files = std::make_shared<testing::FakeFileSystem>();
  files->files["/host/proc/stat"] = "host";
  files->files["/host/sys/fs/cgroup/a/x"] = "1";
  files->files["/host/etc/machine-id"] = "id";
  files->files["/proc/stat"] = "container";
  files->files["/procession"] = "own";
  files->files["/etc/hosts"] = "own";
  const auto host = host_files(files, "/host/");
  EXPECT_EQ(host->read_text("/proc/stat"), "host");
  EXPECT_EQ(host->read_text("/etc/machine-id"), "id");
  EXPECT_EQ(host->list_folders("/sys/fs/cgroup"), std::vector<std::string>{"a"});
  EXPECT_EQ(host->read_text("/procession"), "own");
  EXPECT_EQ(host->read_text("/etc/hosts"), "own");
}

TEST(HostFiles, WithoutARootNothingIsBetween) {
  std::shared_ptr<FileSystem> files = std::make_shared<testing::FakeFileSystem>();
  EXPECT_EQ(host_files(files, ""), files);
  EXPECT_EQ(host_files(files, "/"), files);
}

}  // namespace
}  // namespace tidewatt::agent
