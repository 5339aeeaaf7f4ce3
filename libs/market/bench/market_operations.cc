// Random operations in memory, the books added up after each: market_operations [COUNT] [SEED].
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "../tests/journal_in_memory.h"
#include "../tests/random_operations.h"
#include "tidewatt/units/text.h"

int main(int argc, char** argv) {
  using namespace tidewatt;
  using namespace tidewatt::market;
  const auto count = argc > 1 ? parse_uint64(argv[1]).value_or(0) : 10'000'000;
  const auto seed = argc > 2 ? parse_uint64(argv[2]).value_or(0) : 1;
  market::testing::MemoryJournal journal(10'000);
  Market market(journal);
  market::testing::Operations operations(market, seed, Milliseconds{6'000});
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    auto wrong = operations.step();
    if (!wrong) wrong = operations.sums();
    if (!wrong && i % 10'000 == 0)
      if (const auto checked = market.book().check(); !checked) wrong = checked.error().message;
    if (wrong) {
      fmt::print(stderr, "operation {} of seed {}: {}\n", i, seed, *wrong);
      return 1;
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print(
      "{} operations, {} recorded, {} refused, {} repeated, {} dry runs, {} trades, {} months closed: "
      "conserved after each to the microgram, {:.1f} s\n",
      count, operations.done, operations.refused, operations.repeated, operations.dry_runs, operations.trades,
      market.book().closed().size(), took.count());
  return 0;
}
