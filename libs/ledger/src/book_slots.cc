// Which card a sample is of: by uuid, by its slot where it has none, and what became of the card before.
#include <algorithm>
#include <chrono>
#include <utility>

#include "booker.h"
#include "tidewatt/ledger/open_gap.h"

namespace tidewatt::ledger {
namespace {

/// A card that another one replaced in its slot is remembered until no spool holds its beats any more: they
/// must not be booked again.
constexpr Milliseconds kForgetReplaced{std::chrono::hours{8 * 24}};

}  // namespace

/// As tools spell vendors and uuids: "NVIDIA" and "nvidia" are one.
bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::size_t> Booker::find(const DeviceSample& sample) {
  std::optional<std::size_t> by_index;
  for (std::size_t i = 0; i < cursor_.devices.size(); ++i) {
    const auto& c = cursor_.devices[i];
    if (c.domain != sample.domain) continue;
    if (!sample.uuid.empty() && same_name(c.uuid, sample.uuid)) return i;
    const bool other_vendor =
        !c.vendor.empty() && !sample.vendor.empty() && !same_name(c.vendor, sample.vendor);
    if (c.index == sample.index && (sample.uuid.empty() || c.uuid.empty()) && !other_vendor &&
        !named_in_beat(c) && !replaced_at(i))
      by_index = i;
  }
  return by_index;
}

bool Booker::named_in_beat(const DeviceCursor& c) const {
  return std::any_of(beat_.devices.begin(), beat_.devices.end(), [&](const DeviceSample& s) {
    return s.domain == c.domain && !s.uuid.empty() && same_name(s.uuid, c.uuid);
  });
}

std::optional<UtcTime> Booker::replaced_at(std::size_t place) const {
  const auto& c = cursor_.devices[place];
  std::optional<UtcTime> at;
  for (const auto& other : cursor_.devices) {
    if (other.index != c.index || other.listed_at <= c.listed_at || other.domain != c.domain) continue;
    if (other.uuid.empty() || c.uuid.empty() || other.agent_id != c.agent_id) continue;
    at = std::max(at.value_or(other.listed_at), other.listed_at);
  }
  return at;
}

std::size_t Booker::make_cursor(const DeviceSample& sample) {
  DeviceCursor made;
  made.domain = sample.domain;
  made.index = sample.index;
  made.uuid = sample.uuid;
  made.vendor = sample.vendor;
  cursor_.devices.push_back(std::move(made));
  listed_.push_back(true);
  return cursor_.devices.size() - 1;
}

void Booker::find_missing() {
  for (std::size_t i = 0; i < cursor_.devices.size(); ++i) {
    const auto& c = cursor_.devices[i];
    if (!listed_[i] && c.agent_id == beat_.agent_id && at_ - c.listed_at <= kRetireAfter &&
        (!replaced_at(i) || begins_in_slot(c)))
      unknown_.push_back(i);
  }
  for (const auto i : unknown_)
    for (auto& domain : domains_)
      if (domain.domain == cursor_.devices[i].domain) domain.unknown.push_back(&cursor_.devices[i]);
}

bool Booker::begins_in_slot(const DeviceCursor& c) const {
  return std::any_of(begun_.begin(), begun_.end(), [&](std::size_t i) {
    return cursor_.devices[i].index == c.index && cursor_.devices[i].domain == c.domain;
  });
}

void Booker::retire() {
  std::vector<bool> forgotten;
  forgotten.reserve(cursor_.devices.size());
  for (std::size_t i = 0; i < cursor_.devices.size(); ++i) {
    const auto unnamed_for = at_ - cursor_.devices[i].listed_at;
    forgotten.push_back(unnamed_for > kLongestBridge || (unnamed_for > kForgetReplaced && replaced_at(i)));
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < cursor_.devices.size(); ++i) {
    if (forgotten[i]) continue;
    if (kept != i) cursor_.devices[kept] = std::move(cursor_.devices[i]);
    ++kept;
  }
  cursor_.devices.resize(kept);
}

}  // namespace tidewatt::ledger
