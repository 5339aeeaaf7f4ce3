#include "numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidewatt::store::pg {
namespace {

constexpr std::size_t kCachedNumbers = 400'000;

constexpr auto kSelectKeys =
    "SELECT k.pk, k.cluster, k.scope, k.id, k.part, k.domain FROM unnest($1::text[], $2::bigint[], "
    "$3::text[], "
    "$4::text[], $5::text[]) w(cluster, scope, id, part, domain) JOIN account_keys k "
    "ON k.scope = w.scope AND k.id = w.id AND k.part = w.part AND k.domain = w.domain AND k.cluster = "
    "w.cluster";
// Sorted, so that two servers that number the same things don't wait for each other.
constexpr auto kInsertKeys =
    "INSERT INTO account_keys(cluster, scope, id, part, domain) SELECT * FROM unnest($1::text[], "
    "$2::bigint[], "
    "$3::text[], $4::text[], $5::text[]) w(cluster, scope, id, part, domain) "
    "ORDER BY scope, id COLLATE \"C\", part COLLATE \"C\", domain COLLATE \"C\", cluster COLLATE \"C\" "
    "ON CONFLICT DO NOTHING";

Params parameters(const std::vector<const ledger::AccountKey*>& keys) {
  Array clusters(Array::Of::texts), scopes(Array::Of::integers), ids(Array::Of::texts),
      parts(Array::Of::texts), domains(Array::Of::texts);
  for (const auto* key : keys) {
    clusters.add(std::string_view(key->cluster));
    scopes.add(static_cast<std::int64_t>(key->scope));
    ids.add(std::string_view(key->id));
    parts.add(std::string_view(key->part));
    domains.add(std::string_view(key->domain));
  }
  Params params;
  params.add(std::move(clusters)).add(std::move(scopes)).add(std::move(ids)).add(std::move(parts));
  params.add(std::move(domains));
  return params;
}

Params texts(const std::vector<std::string_view>& values) {
  Array array(Array::Of::texts);
  for (const auto value : values) array.add(value);
  Params params;
  params.add(std::move(array));
  return params;
}

Params integers(const std::vector<std::int64_t>& values) {
  Array array(Array::Of::integers);
  for (const auto value : values) array.add(value);
  Params params;
  params.add(std::move(array));
  return params;
}

template <class Set, class Less>
void sort_unique(Set& values, Less less) {
  std::sort(values.begin(), values.end(), less);
  values.erase(std::unique(values.begin(), values.end(),
                           [&](const auto& a, const auto& b) { return !less(a, b) && !less(b, a); }),
               values.end());
}

}  // namespace

std::size_t KeyHash::operator()(const ledger::AccountKey& key) const {
  const std::hash<std::string_view> hash;
  std::size_t h = hash(key.id) + static_cast<std::size_t>(key.scope);
  h = h * 31 + hash(key.domain);
  if (!key.part.empty()) h = h * 31 + hash(key.part);
  return h * 31 + key.cluster.size();
}

std::size_t KeyHash::operator()(const ledger::NodeKey& key) const {
  return (*this)(std::string_view(key.node_id)) * 31 + (*this)(std::string_view(key.cluster));
}

AccountRef Accounts::find(const ledger::AccountKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

AccountRef Accounts::find(std::int64_t pk) {
  const std::lock_guard lock(mutex_);
  const auto found = by_pk_.find(pk);
  return found == by_pk_.end() ? nullptr : found->second;
}

void Accounts::remember(std::int64_t pk, ledger::AccountKey key) {
  const std::lock_guard lock(mutex_);
  auto& place = by_pk_[pk];
  if (!place) place = std::make_shared<const NumberedAccount>(NumberedAccount{pk, std::move(key)});
  by_key_[place->key] = place;
}

void Accounts::shrink() {
  const std::lock_guard lock(mutex_);
  if (by_pk_.size() < kCachedNumbers) return;
  by_pk_.clear();
  by_key_.clear();
}

Status Accounts::remember(const Rows& rows) {
  for (int i = 0; i < rows.size(); ++i)
    remember(rows.integer(i, 0),
             {std::string(rows.text(i, 1)), static_cast<ledger::Scope>(rows.integer(i, 2)),
              std::string(rows.text(i, 3)), std::string(rows.text(i, 4)), std::string(rows.text(i, 5))});
  return {};
}

Status Accounts::number(Connection& db, std::vector<const ledger::AccountKey*> missing) {
  sort_unique(missing, [](const auto* a, const auto* b) { return *a < *b; });
  TW_TRY(const auto known, db.query(kSelectKeys, parameters(missing)));
  TW_TRY_STATUS(remember(known));
  if (static_cast<std::size_t>(known.size()) == missing.size()) return {};
  TW_TRY([[maybe_unused]] const auto added, db.query(kInsertKeys, parameters(missing)));
  TW_TRY(const auto all, db.query(kSelectKeys, parameters(missing)));
  return remember(all);
}

Status Accounts::load(Connection& db, const std::vector<std::int64_t>& missing) {
  TW_TRY(
      const auto rows,
      db.query("SELECT pk, cluster, scope, id, part, domain FROM account_keys WHERE pk = ANY($1::bigint[])",
               integers(missing)));
  if (static_cast<std::size_t>(rows.size()) != missing.size())
    return fail(ErrorCode::corrupt,
                fmt::format("the journal names {} accounts of which {} exist", missing.size(), rows.size()),
                "restore the latest backup");
  return remember(rows);
}

std::optional<std::int64_t> Names::find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::shared_ptr<const std::string> Names::find(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

void Names::shrink() {
  const std::lock_guard lock(mutex_);
  if (by_id_.size() < kCachedNumbers) return;
  by_id_.clear();
  by_name_.clear();
}

void Names::remember(std::int64_t id, std::string_view name) {
  const std::lock_guard lock(mutex_);
  by_id_.try_emplace(id, std::make_shared<const std::string>(name));
  by_name_.emplace(name, id);
}

Status Names::number(Connection& db, std::vector<std::string_view> missing) {
  sort_unique(missing, std::less<>{});
  constexpr auto kSelect = "SELECT id, name FROM names WHERE name = ANY($1::text[])";
  for (int round = 0; round < 2; ++round) {
    TW_TRY(const auto rows, db.query(kSelect, texts(missing)));
    for (int i = 0; i < rows.size(); ++i) remember(rows.integer(i, 0), rows.text(i, 1));
    if (static_cast<std::size_t>(rows.size()) == missing.size() || round > 0) break;
    TW_TRY([[maybe_unused]] const auto added,
           db.query("INSERT INTO names(name) SELECT n FROM unnest($1::text[]) n ORDER BY n COLLATE \"C\" "
                    "ON CONFLICT DO NOTHING",
                    texts(missing)));
  }
  return {};
}

Status Names::load(Connection& db, const std::vector<std::int64_t>& missing) {
  TW_TRY(const auto rows,
         db.query("SELECT id, name FROM names WHERE id = ANY($1::bigint[])", integers(missing)));
  for (int i = 0; i < rows.size(); ++i) remember(rows.integer(i, 0), rows.text(i, 1));
  return {};
}

}  // namespace tidewatt::store::pg
