// Helper of the crash test: books without end and prints "node revision" for every acknowledged accrual.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "store_fixtures.h"

int main(int argc, char** argv) {
  using namespace tidewatt;
  using namespace tidewatt::store::testing;
  if (argc < 2) return 2;
  // Tiny, so that a kill also falls into a checkpoint.
  auto opened = tidewatt::store::open_sqlite_store({.path = argv[1], .checkpoint_bytes = 4'000});
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().to_string().c_str());
    return 1;
  }
  auto& store = **opened;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      for (int round = 0;; ++round) {
        std::vector<Accrual> call;
        for (int n = 0; n < 5; ++n) {
          const NodeKey node{"default", "n" + std::to_string(t * 5 + n)};
          const auto revision = store.cursor(node)->revision;
          const auto at = kNoon + Milliseconds{20'000} * static_cast<int>(revision);
          call.push_back(accrual(
              node, revision,
              {delta(gpu_account(Scope::node, node.node_id), 7), delta(gpu_account(Scope::task, "job"), 7)},
              {point(at, Milliwatts{1})}));
        }
        if (!store.accrue(call)) std::exit(3);
        std::string lines;
        for (const auto& a : call)
          lines += a.node.node_id + " " + std::to_string(a.expected_revision + 1) + "\n";
        // One write for one call: lines of several threads don't mix within a pipe's atomic size.
        if (::write(STDOUT_FILENO, lines.data(), lines.size()) < 0) std::exit(4);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return 0;
}
