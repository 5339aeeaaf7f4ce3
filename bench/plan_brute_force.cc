// plan_brute_force [CASES] [SEED]: plans random single jobs and compares each with the best of all its plans.
// Exit 1 at a difference.
#include <fmt/format.h>

#include <random>
#include <string>

#include "../libs/planning/tests/brute_force.h"
#include "tidewatt/units/text.h"

int main(int argc, char** argv) {
  using namespace tidewatt;
  const auto cases = argc > 1 ? parse_int64(argv[1]).value_or(0) : 1'000'000;
  const auto seed = argc > 2 ? parse_int64(argv[2]).value_or(0) : 1;
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < cases; ++i) {
    std::mt19937_64 random{static_cast<std::uint64_t>(seed * 1'000'000'007 + i)};
    const auto problem = planning::brute::random_problem(random);
    const auto what = planning::brute::difference(problem);
    if (what.empty()) continue;
    if (++wrong <= 10) fmt::print("case {}: {}\n", i, what);
  }
  fmt::print("{} cases, {} differ from the best of all plans\n", cases, wrong);
  return wrong == 0 ? 0 : 1;
}
