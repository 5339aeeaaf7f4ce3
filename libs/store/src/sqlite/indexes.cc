#include "indexes.h"

#include <algorithm>

namespace tidewatt::store {

std::size_t AccountHash::operator()(const ledger::AccountKey& key) const {
  const std::hash<std::string_view> hash;
  std::size_t h = hash(key.id) + static_cast<std::size_t>(key.scope);
  h = h * 31 + hash(key.domain);
  if (!key.part.empty()) h = h * 31 + hash(key.part);
  return h * 31 + key.cluster.size();
}

Status AccountIndex::load(Database& db) {
  TW_TRY(last_pk_, db.integer("SELECT max(pk) FROM accounts"));
  return {};
}

void AccountIndex::remember(const NewAccount& account) {
  const auto place = entries_.try_emplace(account.key).first;
  place->second.pk = account.pk;
  place->second.key = &place->first;
  last_pk_ = std::max(last_pk_, account.pk);
}

Result<AccountIndex::Entry*> AccountIndex::find_or_add(Database& db, const ledger::AccountKey& key,
                                                       std::vector<NewAccount>& fresh) {
  if (const auto found = entries_.find(key); found != entries_.end()) return &found->second;
  TW_TRY(
      auto select,
      db.prepare(
          "SELECT pk FROM accounts WHERE scope = ? AND id = ? AND part = ? AND domain = ? AND cluster = ?"));
  select.bind(1, static_cast<std::int64_t>(key.scope))
      .bind(2, key.id)
      .bind(3, key.part)
      .bind(4, key.domain)
      .bind(5, key.cluster);
  TW_TRY(const bool known, select.step());
  Entry entry;
  entry.pk = known ? select.integer(0) : ++last_pk_;
  if (!known) fresh.push_back({entry.pk, key});
  auto& [stored_key, stored] = *entries_.emplace(key, entry).first;
  stored.key = &stored_key;
  return &stored;
}

void AccountIndex::forget(const std::vector<NewAccount>& fresh) {
  for (const auto& account : fresh) entries_.erase(account.key);
  ++generation_;
}

void AccountIndex::shrink(std::size_t most) {
  if (entries_.size() <= most) return;
  entries_.clear();
  ++generation_;
}

Status NameIndex::load(Database& db) {
  TW_TRY(last_id_, db.integer("SELECT max(id) FROM names"));
  return {};
}

void NameIndex::remember(const NewName& name) {
  ids_[name.name] = name.id;
  last_id_ = std::max(last_id_, name.id);
}

Result<std::int64_t> NameIndex::find_or_add(Database& db, std::string_view name,
                                            std::vector<NewName>& fresh) {
  if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
  TW_TRY(auto select, db.prepare("SELECT id FROM names WHERE name = ?"));
  select.bind(1, name);
  TW_TRY(const bool known, select.step());
  const auto id = known ? select.integer(0) : ++last_id_;
  if (!known) fresh.push_back({id, std::string(name)});
  ids_.emplace(name, id);
  return id;
}

void NameIndex::forget(const std::vector<NewName>& fresh) {
  for (const auto& name : fresh) ids_.erase(name.name);
}

void NameIndex::shrink(std::size_t most) {
  if (ids_.size() > most) ids_.clear();
}

}  // namespace tidewatt::store
