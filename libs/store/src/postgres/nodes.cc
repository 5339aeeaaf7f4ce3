#include "nodes.h"

#include <algorithm>

#include "../journal/cursor_patch.h"

namespace tidewatt::store::pg {
namespace {

Params node_keys(const std::vector<Node*>& nodes) {
  Array clusters(Array::Of::texts), ids(Array::Of::texts);
  for (const auto* node : nodes) {
    clusters.add(std::string_view(node->key.cluster));
    ids.add(std::string_view(node->key.node_id));
  }
  Params params;
  params.add(std::move(clusters)).add(std::move(ids));
  return params;
}

}  // namespace

Node& Nodes::get(const ledger::NodeKey& key) {
  auto& place = by_key_[key];
  if (!place) {
    place = std::make_unique<Node>();
    place->key = key;
  }
  return *place;
}

Node* Nodes::find(const ledger::NodeKey& key) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second.get();
}

Node* Nodes::find(std::int64_t pk) {
  const auto found = by_pk_.find(pk);
  return found == by_pk_.end() ? nullptr : found->second;
}

void Nodes::set_pk(Node& node, std::int64_t pk) {
  node.pk = pk;
  by_pk_[pk] = &node;
}

void Nodes::forget(Node& node) {
  if (node.known) unknown_.push_back(&node);
  node.known = false;
  node.cursor.reset();
}

std::vector<Node*> Nodes::take_unknown(std::size_t most) {
  std::vector<Node*> taken;
  while (!unknown_.empty() && taken.size() < most) {
    auto* node = unknown_.back();
    unknown_.pop_back();
    if (!node->known && !node->busy) taken.push_back(node);
  }
  return taken;
}

void Nodes::step(std::int64_t pk, const CursorStep& step) {
  auto* node = find(pk);
  if (node == nullptr || !node->known || node->busy || node->revision >= step.to) return;
  if (!step.is_patch) {
    node->encoded = step.bytes;
  } else {
    auto next = node->revision == step.from ? patched(node->encoded, step.bytes)
                                            : tl::unexpected(Error{ErrorCode::conflict, {}, {}});
    if (!next) return forget(*node);
    node->encoded = *std::move(next);
  }
  node->revision = step.to;
  node->cursor.reset();
}

Status number(Connection& db, Nodes& nodes, const std::vector<Node*>& missing) {
  std::vector<Node*> sorted = missing;
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  constexpr auto kSelect =
      "SELECT n.pk, n.cluster, n.node_id FROM unnest($1::text[], $2::text[]) w(cluster, node_id) "
      "JOIN nodes n ON n.cluster = w.cluster AND n.node_id = w.node_id";
  // A number without a head would be a node that can never be booked: both in one statement.
  constexpr auto kInsert =
      "WITH added AS (INSERT INTO nodes(cluster, node_id) SELECT * FROM unnest($1::text[], $2::text[]) w(c, "
      "n) "
      "ORDER BY c COLLATE \"C\", n COLLATE \"C\" ON CONFLICT DO NOTHING RETURNING pk) "
      "INSERT INTO heads(node, revision) SELECT pk, 0 FROM added";
  for (int round = 0; round < 2; ++round) {
    TW_TRY(const auto rows, db.query(kSelect, node_keys(sorted)));
    {
      const std::lock_guard lock(nodes.mutex);
      for (int i = 0; i < rows.size(); ++i)
        nodes.set_pk(nodes.get({std::string(rows.text(i, 1)), std::string(rows.text(i, 2))}),
                     rows.integer(i, 0));
    }
    if (static_cast<std::size_t>(rows.size()) >= sorted.size() || round > 0) break;
    TW_TRY([[maybe_unused]] const auto added, db.query(kInsert, node_keys(sorted)));
  }
  return {};
}

Status load_numbers(Connection& db, Nodes& nodes) {
  TW_TRY(const auto rows, db.query("SELECT pk, cluster, node_id FROM nodes"));
  const std::lock_guard lock(nodes.mutex);
  for (int i = 0; i < rows.size(); ++i) {
    auto& node = nodes.get({std::string(rows.text(i, 1)), std::string(rows.text(i, 2))});
    nodes.set_pk(node, rows.integer(i, 0));
    node.known = true;  // so that forget() puts it among the unknown
    nodes.forget(node);
  }
  return {};
}

}  // namespace tidewatt::store::pg
