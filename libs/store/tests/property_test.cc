// Any sequence of operations gives the same answers in memory, in SQLite and in PostgreSQL, whenever those
// fold their journal or are opened anew.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <bit>

#include "store_fixtures.h"

namespace tidewatt::store::testing {
namespace {

using rc::gen::arbitrary;
using rc::gen::inRange;

AccountKey any_account() {
  return {*rc::gen::element<std::string>("default", "b"), static_cast<Scope>(*inRange(0, 4)),
          "id" + std::to_string(*inRange(0, 3)), *rc::gen::element<std::string>("", "n1/0"),
          *rc::gen::element<std::string>("gpu", "dram")};
}

std::optional<UtcTime> maybe_time() {
  return *inRange(0, 3) == 0 ? std::nullopt
                             : std::optional(kNoon + Milliseconds{*inRange(-100'000'000, 100'000'000)});
}

std::optional<Milliwatts> maybe_power() {
  return *inRange(0, 3) == 0 ? std::nullopt
                             : std::optional(Milliwatts{*inRange<std::int64_t>(-5, 1'000'000'000'000)});
}

AccountDelta any_delta() {
  AccountDelta d{any_account(), {}, maybe_time(), maybe_time()};
  for (int hours = *inRange(0, 4); hours > 0; --hours) {
    auto& row = d.at(kHour + std::chrono::hours{*inRange(-3, 3)});
    row.energy = Microjoules{*arbitrary<std::int64_t>() / 64};
    row.unattributed = Microjoules{*arbitrary<std::int64_t>() / 64};
    row.gap = Milliseconds{*inRange(0, 1'000'000)};
    row.samples = *inRange(0, 5);
  }
  return d;
}

CurvePoint any_point() {
  CurvePoint p{kNoon + Milliseconds{*inRange(-5, 5)} * 20'000'000, {}, {}};
  if (*inRange(0, 2) == 0) p.cpu_util = *arbitrary<double>();
  for (int devices = *inRange(0, 4); devices > 0; --devices) {
    auto& s = p.devices.emplace_back();
    s.domain = *rc::gen::element<std::string>("gpu", "dram", "");
    s.index = *inRange(-1, 9);
    s.power = maybe_power();
    s.power_min = maybe_power();
    s.power_max = maybe_power();
    s.power_limit = maybe_power();
    s.quality = static_cast<Quality>(*inRange(0, 3));
    std::vector<std::string> holders;
    for (int n = *inRange(0, 3); n > 0; --n) holders.push_back("job-" + std::to_string(*inRange(0, 9)));
    s.holders = TaskSet{std::move(holders)};
    if (*inRange(0, 2) == 0)
      s.health =
          Health{*arbitrary<double>(), *arbitrary<std::uint64_t>(), *arbitrary<std::int64_t>(), std::nullopt};
  }
  return p;
}

std::vector<Accrual> any_call(Store& model) {
  std::vector<Accrual> call;
  for (int n = *inRange(1, 5); n > 0; --n) {
    Accrual a;
    a.node = {"default", "n" + std::to_string(*inRange(0, 3))};
    a.next = std::make_shared<const NodeCursor>(cursor_at(*inRange(0, 1'000'000)));
    a.expected_revision = model.cursor(a.node)->revision;
    for (const auto& earlier : call)
      if (earlier.node == a.node) ++a.expected_revision;
    if (*inRange(0, 5) == 0) a.expected_revision += 1;
    for (int i = *inRange(0, 5); i > 0; --i) a.deltas.push_back(any_delta());
    for (int i = *inRange(0, 3); i > 0; --i) a.curve.push_back(any_point());
    call.push_back(std::move(a));
  }
  return call;
}

bool same(const std::vector<Account>& a, const std::vector<Account>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Account& x, const Account& y) {
    return std::tie(x.key, x.totals, x.first_sample_at, x.last_sample_at, x.rows) ==
           std::tie(y.key, y.totals, y.first_sample_at, y.last_sample_at, y.rows);
  });
}

bool same_real(std::optional<double> a, std::optional<double> b) {
  return a.has_value() == b.has_value() &&
         (!a || std::bit_cast<std::uint64_t>(*a) == std::bit_cast<std::uint64_t>(*b));
}

bool same(const CurveSample& a, const CurveSample& b) {
  if (a.health.has_value() != b.health.has_value()) return false;
  if (a.health &&
      (!same_real(a.health->temperature_c, b.health->temperature_c) ||
       a.health->throttle_reasons != b.health->throttle_reasons ||
       a.health->ecc_errors != b.health->ecc_errors || a.health->xid_errors != b.health->xid_errors))
    return false;
  return std::tie(a.domain, a.index, a.power, a.power_min, a.power_max, a.power_limit, a.quality,
                  a.holders) ==
         std::tie(b.domain, b.index, b.power, b.power_min, b.power_max, b.power_limit, b.quality, b.holders);
}

bool same(const std::vector<CurvePoint>& a, const std::vector<CurvePoint>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const CurvePoint& x, const CurvePoint& y) {
    return x.at == y.at && same_real(x.cpu_util, y.cpu_util) &&
           std::equal(x.devices.begin(), x.devices.end(), y.devices.begin(), y.devices.end(),
                      [](const CurveSample& s, const CurveSample& t) { return same(s, t); });
  });
}

void expect_same_answers(Store& model, Store& store) {
  AccountFilter filter;
  if (*inRange(0, 2) == 0) filter.scope = static_cast<Scope>(*inRange(0, 4));
  if (*inRange(0, 2) == 0) filter.ids = {"id0", "id2"};
  if (*inRange(0, 3) == 0) filter.domain = "gpu";
  if (*inRange(0, 3) == 0) filter.cluster = "b";
  const auto from = kHour + std::chrono::hours{*inRange(-4, 2)};
  const auto to = from + std::chrono::hours{*inRange(0, 6)};
  RC_ASSERT(same(*model.accounts(filter), *store.accounts(filter)));
  RC_ASSERT(same(*model.sums(filter, from, to), *store.sums(filter, from, to)));
  const auto rows = model.hourly(filter, from, to);
  const auto stored = store.hourly(filter, from, to);
  RC_ASSERT(rows.has_value() == stored.has_value());
  if (rows)
    RC_ASSERT(std::equal(rows->begin(), rows->end(), stored->begin(), stored->end(),
                         [](const HourlyRow& a, const HourlyRow& b) {
                           return std::tie(a.key, a.hour, a.measures) == std::tie(b.key, b.hour, b.measures);
                         }));
  for (int n = 0; n < 3; ++n) {
    const NodeKey node{"default", "n" + std::to_string(n)};
    RC_ASSERT(model.cursor(node)->revision == store.cursor(node)->revision);
    RC_ASSERT(*model.cursor(node)->cursor == *store.cursor(node)->cursor);
    const UtcRange range{kNoon - Milliseconds{*inRange(0, 100'000'000)},
                         kNoon + Milliseconds{*inRange(0, 100'000'000)}};
    const auto limit = *inRange<std::size_t>(0, 8);
    RC_ASSERT(same(*model.curve(node, range, limit), *store.curve(node, range, limit)));
  }
}

/// Random steps on the model and on what `open` gives; opened anew now and then.
void expect_same_life(const std::function<std::unique_ptr<Store>()>& open) {
  const auto model = make_memory_store();
  auto store = open();
  for (int steps = *inRange(1, 12); steps > 0; --steps) {
    switch (*inRange(0, 6)) {
      case 0:
        expect_same_answers(*model, *store);
        break;
      case 1: {
        store.reset();
        store = open();
        break;
      }
      case 2: {
        const auto before = kNoon + Milliseconds{*inRange(-2, 2)} * 43'200'000;
        RC_ASSERT(model->drop_curves(before).has_value());
        RC_ASSERT(store->drop_curves(before).has_value());
        break;
      }
      default: {
        const auto call = any_call(*model);
        RC_ASSERT(*model->accrue(call) == *store->accrue(call));
      }
    }
  }
  expect_same_answers(*model, *store);
}

RC_GTEST_PROP(StoreProperty, SqliteAnswersAsMemoryDoes, ()) {
  const TempFolder folder;
  const SqliteOptions options{.path = folder.file(),
                              .checkpoint_bytes = *rc::gen::element<std::size_t>(1, 500, 1'000'000)};
  expect_same_life([&] { return open_or_abort(options); });
}

TEST(StoreProperty, PostgresAnswersAsMemoryDoes) {
  auto* cluster = PostgresCluster::get();
  if (cluster == nullptr) GTEST_SKIP() << PostgresCluster::why_not();
  // Opening makes a schema: fewer lives than for SQLite.
  auto params = rc::detail::configuration().testParams;
  params.maxSuccess = 12;
  params.maxSize = 60;
  params.disableShrinking = true;
  const auto result = rc::detail::checkTestable(
      [cluster] {
        PostgresOptions options;
        options.url = cluster->url();
        options.schema = cluster->fresh_schema();
        options.fold_bytes = *rc::gen::element<std::size_t>(1, 500, 1'000'000);
        expect_same_life([&] { return open_postgres_or_abort(options); });
      },
      rc::detail::TestMetadata{}, params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  EXPECT_TRUE(result.template is<rc::detail::SuccessResult>()) << text.str();
}

}  // namespace
}  // namespace tidewatt::store::testing
