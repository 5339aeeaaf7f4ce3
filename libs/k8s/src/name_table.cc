#include "tidewatt/k8s/name_table.h"

#include <functional>
#include <utility>

namespace tidewatt::k8s {
namespace {

std::uint32_t hash_of(std::string_view name) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
}

}  // namespace

std::string_view NameTable::name(std::size_t number) const {
  return std::string_view{text_}.substr(begins_[number], begins_[number + 1] - begins_[number]);
}

std::size_t NameTable::slot_of(std::string_view wanted, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].number != 0 && (slots_[at].hash != hash || name(slots_[at].number - 1) != wanted))
    at = (at + 1) & mask;
  return at;
}

void NameTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  for (const auto& slot : old)
    if (slot.number != 0) slots_[slot_of(name(slot.number - 1), slot.hash)] = slot;
}

std::size_t NameTable::add(std::string_view added) {
  const auto hash = hash_of(added);
  if (const auto& slot = slots_[slot_of(added, hash)]; slot.number != 0) return slot.number - 1;
  if ((size() + 1) * 2 > slots_.size()) grow();
  text_ += added;
  begins_.push_back(static_cast<std::uint32_t>(text_.size()));
  slots_[slot_of(added, hash)] = {hash, static_cast<std::uint32_t>(size())};
  return size() - 1;
}

std::optional<std::size_t> NameTable::find(std::string_view wanted) const {
  const auto& slot = slots_[slot_of(wanted, hash_of(wanted))];
  return slot.number == 0 ? std::nullopt : std::optional<std::size_t>{slot.number - 1};
}

}  // namespace tidewatt::k8s
