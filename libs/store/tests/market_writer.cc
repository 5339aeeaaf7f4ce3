// Helper of the kill test: random operations of the market on a store without end, or COUNT of them, and
// prints "done SEQ KEY" for every acknowledged record: market_writer DATABASE SEED COUNT [postgres SCHEMA].
// What it finds at its start must add up.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "../../market/tests/random_operations.h"
#include "tidewatt/store/market_journal.h"
#include "tidewatt/store/postgres.h"
#include "tidewatt/store/sqlite.h"
#include "tidewatt/units/text.h"

namespace {

/// Tells each record that is written, once it is.
class Told final : public tidewatt::market::Journal {
 public:
  explicit Told(std::unique_ptr<Journal> journal) : journal_(std::move(journal)) {}
  tidewatt::Result<tidewatt::market::Appended> append(const tidewatt::market::Record& record) override {
    auto outcome = journal_->append(record);
    if (outcome && *outcome == tidewatt::market::Appended::done) {
      const auto line = fmt::format("done {} {}\n", record.seq, record.key);
      if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(4);
    }
    return outcome;
  }
  tidewatt::Result<std::optional<tidewatt::market::Record>> find(const std::string& key) override {
    return journal_->find(key);
  }
  tidewatt::Result<std::vector<tidewatt::market::Record>> read(std::uint64_t after,
                                                               std::size_t limit) override {
    return journal_->read(after, limit);
  }

 private:
  std::unique_ptr<Journal> journal_;
};

int fail_with(const std::string& what) {
  fmt::print(stderr, "{}\n", what);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tidewatt;
  if (argc < 4) return 2;
  const auto seed = parse_uint64(argv[2]).value_or(1);
  const auto count = parse_uint64(argv[3]).value_or(0);
  auto opened = argc > 4 ? store::open_postgres_store({.url = argv[1], .schema = argv[4]})
                         : store::open_sqlite_store({.path = argv[1]});
  if (!opened) return fail_with(opened.error().to_string());
  Told journal(store::market_journal(**opened));
  market::Market market(journal);
  if (const auto read = market.catch_up(); !read) return fail_with(read.error().to_string());
  if (const auto checked = market.book().check(); !checked) return fail_with(checked.error().message);
  market::testing::Operations operations(market, seed, Milliseconds{60'000}, fmt::format("{}/", seed));
  operations.adopt();
  for (std::uint64_t i = 0; count == 0 || i < count; ++i) {
    auto wrong = operations.step();
    if (!wrong) wrong = operations.sums();
    if (wrong) return fail_with(fmt::format("operation {} of seed {}: {}", i, seed, *wrong));
  }
  if (const auto checked = market.book().check(); !checked) return fail_with(checked.error().message);
  fmt::print("end {} operations\n", count);
  return 0;
}
