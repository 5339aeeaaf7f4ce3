// A market that is killed at random points: what was acknowledged is there once, and the books add up. More
// of it: TIDEWATT_MARKET_KILLS=200 TIDEWATT_MARKET_OPERATIONS=100000 test_store_market_fault
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "store_fixtures.h"
#include "tidewatt/market/market.h"
#include "tidewatt/store/market_journal.h"
#include "tidewatt/store/postgres.h"
#include "tidewatt/units/text.h"

namespace tidewatt::store::testing {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : parse_uint64(text).value_or(fallback);
}

using Acknowledged = std::map<std::uint64_t, std::string>;  ///< record's number -> its key

class KilledWriter {
 public:
  explicit KilledWriter(std::vector<std::string> where) : where_(std::move(where)) {}

  /// Starts it, kills it once it told so many records and a moment more, and returns those.
  Acknowledged run(std::uint64_t seed, std::size_t records, std::chrono::microseconds more) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    const pid_t child = start(ends[1], seed);
    ::close(ends[1]);
    std::string text;
    std::array<char, 65'536> buffer{};
    bool killed = false;
    std::size_t lines = 0;
    while (true) {
      const auto size = ::read(ends[0], buffer.data(), buffer.size());
      if (size <= 0) break;
      const std::string_view piece(buffer.data(), static_cast<std::size_t>(size));
      lines += static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '\n'));
      text += piece;
      if (killed || lines < records) continue;
      std::this_thread::sleep_for(more);
      killed = ::kill(child, SIGKILL) == 0;
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "seed " << seed << ": the writer ended by itself with "
                                     << WEXITSTATUS(status);
    return told_in(text.substr(0, text.rfind('\n') + 1));
  }

 private:
  pid_t start(int out, std::uint64_t seed) {
    auto arguments = where_;
    arguments.insert(arguments.begin() + 1, {std::to_string(seed), "0"});
    std::vector<char*> argv{const_cast<char*>(TIDEWATT_MARKET_WRITER)};
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::dup2(out, STDOUT_FILENO);
    ::execv(TIDEWATT_MARKET_WRITER, argv.data());
    ::_exit(127);
  }
  static Acknowledged told_in(const std::string& text) {
    Acknowledged told;
    std::istringstream lines(text);
    std::string word, key;
    std::uint64_t seq = 0;
    while (lines >> word >> seq >> key) told[seq] = key;
    return told;
  }
  std::vector<std::string> where_;
};

/// All that was acknowledged is there under its number, without gaps; the books add up.
void expect_all_there(Store& store, const Acknowledged& acknowledged) {
  const auto entries = store.market_entries(0, SIZE_MAX);
  ASSERT_TRUE(entries) << entries.error().to_string();
  std::size_t lost = 0;
  for (const auto& [seq, key] : acknowledged)
    if (seq > entries->size() || entries->at(seq - 1).key != key) ++lost;
  EXPECT_EQ(lost, 0U) << "acknowledged records are gone, or others stand there";
  const auto journal = market_journal(store);
  market::Market market(*journal);
  const auto read = market.catch_up();
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(market.book().last_seq(), entries->size());
  const auto checked = market.book().check();
  EXPECT_TRUE(checked) << checked.error().message;
}

void kill_again_and_again(std::vector<std::string> where, std::uint64_t kills, std::uint64_t operations,
                          const std::function<std::unique_ptr<Store>()>& open) {
  KilledWriter writer(std::move(where));
  std::mt19937_64 random{1};  // NOLINT(cert-msc51-cpp): the same points each time, as far as a clock allows
  const auto most = std::max<std::uint64_t>(40, 2 * operations / std::max<std::uint64_t>(kills, 1));
  Acknowledged acknowledged;
  std::uint64_t done = 0;
  while (done < kills || acknowledged.size() < operations) {
    for (const auto& [seq, key] :
         writer.run(++done, 1 + random() % most, std::chrono::microseconds{random() % 3'000}))
      ASSERT_TRUE(acknowledged.emplace(seq, key).second) << "number " << seq << " was given twice";
  }
  const auto store = open();
  expect_all_there(*store, acknowledged);
  fmt::print("{} kills, {} acknowledged records: all there once, conserved to the microgram\n", done,
             acknowledged.size());
}

TEST(MarketFault, SqliteKeepsWhatWasAcknowledgedBeforeAKill) {
  const TempFolder folder;
  kill_again_and_again({folder.file()}, number_from_environment("TIDEWATT_MARKET_KILLS", 8),
                       number_from_environment("TIDEWATT_MARKET_OPERATIONS", 100),
                       [&] { return open_or_abort({.path = folder.file()}); });
}

TEST(MarketFault, PostgresKeepsWhatWasAcknowledgedBeforeAKill) {
  auto* cluster = PostgresCluster::get();
  if (cluster == nullptr) GTEST_SKIP() << PostgresCluster::why_not();
  const PostgresOptions options{.url = cluster->url(), .schema = cluster->fresh_schema()};
  kill_again_and_again({options.url, options.schema}, number_from_environment("TIDEWATT_MARKET_KILLS_PG", 4),
                       number_from_environment("TIDEWATT_MARKET_OPERATIONS_PG", 50),
                       [&] { return open_postgres_or_abort(options); });
}

}  // namespace
}  // namespace tidewatt::store::testing
