// Killed in the middle of writes; a disk that fills up.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <map>
#include <sstream>

#include "store_fixtures.h"

namespace tidewatt::store::testing {
namespace {

/// Starts the crash writer, kills it after about `bytes` of acknowledgements, and returns the last one of
/// each node.
std::map<std::string, std::uint64_t> acknowledged_until_killed(const std::string& path, std::size_t bytes) {
  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe_ends[1], STDOUT_FILENO);
    ::execl(TIDEWATT_CRASH_WRITER, TIDEWATT_CRASH_WRITER, path.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(pipe_ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  bool killed = false;
  while (true) {
    const auto size = ::read(pipe_ends[0], buffer.data(), buffer.size());
    if (size <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(size));
    if (!killed && text.size() >= bytes) killed = ::kill(child, SIGKILL) == 0;
  }
  ::close(pipe_ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself with " << WEXITSTATUS(status);
  text.resize(text.rfind('\n') + 1);
  std::map<std::string, std::uint64_t> last;
  std::istringstream lines(text);
  std::string node;
  std::uint64_t revision = 0;
  while (lines >> node >> revision) last[node] = std::max(last[node], revision);
  return last;
}

TEST(SqliteFault, EveryAcknowledgedAccrualIsThereExactlyOnceAfterKill) {
  const TempFolder folder;
  std::map<std::string, std::uint64_t> acknowledged;
  for (const std::size_t bytes :
       {std::size_t{200}, std::size_t{3'000}, std::size_t{9'000}, std::size_t{1}, std::size_t{5'000}}) {
    for (const auto& [node, revision] : acknowledged_until_killed(folder.file(), bytes))
      acknowledged[node] = std::max(acknowledged[node], revision);
    const auto store = open_or_abort({.path = folder.file()});
    std::uint64_t revisions = 0;
    for (int n = 0; n < 20; ++n) {
      const NodeKey node{"default", "n" + std::to_string(n)};
      const auto found = store->cursor(node);
      ASSERT_TRUE(found);
      const auto revision = found->revision;
      EXPECT_GE(revision, acknowledged[node.node_id]) << node.node_id << ": an acknowledged accrual is gone";
      // What was committed but not yet acknowledged may be there, whole.
      EXPECT_EQ(energy_of(*store, gpu_account(Scope::node, node.node_id)),
                WideMicrojoules(Microjoules{static_cast<std::int64_t>(revision) * 7}));
      EXPECT_EQ(*found->cursor,
                revision == 0 ? NodeCursor{} : cursor_at(static_cast<std::int64_t>(revision)));
      EXPECT_EQ(store->curve(node, {kNoon, kNoon + std::chrono::hours{24 * 365}}, 1'000'000)->size(),
                revision);
      revisions += revision;
    }
    EXPECT_GT(revisions, 0U);
    EXPECT_EQ(energy_of(*store, gpu_account(Scope::task, "job")),
              WideMicrojoules(Microjoules{static_cast<std::int64_t>(revisions) * 7}));
  }
}

TEST(SqliteFault, AFullDiskIsAnErrorThatLosesNothingAndPasses) {
  const TempFolder folder;
  SqliteOptions options{.path = folder.file(), .checkpoint_bytes = 20'000, .max_pages = 120};
  std::uint64_t revision = 0;
  const auto book = [&](Store& store) {
    std::vector<CurvePoint> points;
    for (int i = 0; i < 50; ++i) {
      auto p = point(kNoon + (static_cast<int>(revision) * 50 + i) * Milliseconds{20'000},
                     Milliwatts{static_cast<int>(revision) + i});
      p.devices[0].holders = {"job-" + std::to_string(revision), "job-" + std::to_string(i)};
      points.push_back(std::move(p));
    }
    const auto a = accrual(kNode, revision, {delta(gpu_account(Scope::node, "n1"), 3)}, std::move(points));
    return store.accrue({&a, 1});
  };
  const auto expect_exact = [&](Store& store) {
    EXPECT_EQ(store.cursor(kNode)->revision, revision);
    EXPECT_EQ(energy_of(store, gpu_account(Scope::node, "n1")),
              WideMicrojoules(Microjoules{static_cast<std::int64_t>(revision) * 3}));
  };
  {
    const auto store = open_or_abort(options);
    std::optional<Error> full;
    while (!full && revision < 5'000) {
      const auto outcomes = book(*store);
      if (outcomes)
        ++revision;
      else
        full = outcomes.error();
    }
    ASSERT_TRUE(full) << "120 pages must fill up";
    EXPECT_EQ(full->code, ErrorCode::unavailable) << full->to_string();
    EXPECT_NE(full->message.find("full"), std::string::npos) << full->message;
    EXPECT_GT(revision, 0U);
    expect_exact(*store);
    EXPECT_TRUE(store->ping());
    // Room comes back while the store is open.
    ASSERT_TRUE(store->drop_curves(kNoon + std::chrono::hours{24 * 400}));
    const auto again = book(*store);
    ASSERT_TRUE(again) << again.error().to_string();
    ++revision;
    expect_exact(*store);
  }
  options.max_pages = 0;
  const auto store = open_or_abort(options);
  expect_exact(*store);
  ASSERT_TRUE(book(*store));
  ++revision;
  expect_exact(*store);
}

}  // namespace
}  // namespace tidewatt::store::testing
