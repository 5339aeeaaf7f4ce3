#include "tool_cards.h"

#include <fmt/format.h>

#include <algorithm>

#include "pci.h"

namespace tidewatt::sensors {
namespace {

using metering::Reading;
using metering::ToolDevice;

constexpr std::int64_t kMaxNumber = 1'000'000;
constexpr Milliseconds kMissedFor{3'600'000};
constexpr std::string_view kMissing = "not in the tool's answer";

std::string text_of(const metering::ToolIndex& index) {
  if (const auto* number = std::get_if<std::int64_t>(&index)) return std::to_string(*number);
  return std::get<std::string>(index);
}

bool has_own_number(const ToolDevice& device) {
  const auto* number = std::get_if<std::int64_t>(&device.index);
  return number != nullptr && *number >= 0 && *number < kMaxNumber && !device.sub_index && !device.counted;
}

void forget_values(Reading& reading) {
  reading.power.reset();
  reading.util.reset();
  reading.memory_used_bytes.reset();
  reading.health.reset();
  reading.processes.reset();
}

std::string key_of(const Reading& reading) {
  return reading.uuid.empty() ? fmt::format("#{}", reading.index) : reading.uuid;
}

}  // namespace

// A die has its own PCI address; without one its card's number and its own tell which it is.
std::string ToolCards::identity_of(const ToolDevice& device) const {
  if (!device.uuid.empty()) return device.uuid;
  if (!device.bus_id.empty()) return sysfs_bus_id(device.bus_id);
  if (device.sub_index)
    return fmt::format("{}:{}/{}", tool_, text_of(device.index), text_of(*device.sub_index));
  if (std::holds_alternative<std::string>(device.index) && !text_of(device.index).empty())
    return fmt::format("{}:{}", tool_, text_of(device.index));
  return {};
}

std::vector<ToolCards::Card> ToolCards::join(std::vector<ToolDevice>& devices, SteadyTime at) {
  std::vector<Card> cards;
  std::vector<std::string> identities;
  identities.reserve(devices.size());
  for (const auto& device : devices) identities.push_back(identity_of(device));
  const std::set<std::string> different(identities.begin(), identities.end());
  if (std::all_of(devices.begin(), devices.end(), has_own_number))
    cards = by_number(devices);
  else if (different.size() == devices.size() && !different.contains(""))
    cards = by_identity(devices, identities);
  else
    return by_place(devices, at);
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (!devices[i].bus_id.empty()) by_bus_[sysfs_bus_id(devices[i].bus_id)] = cards[i];
  return cards;
}

std::vector<ToolCards::Card> ToolCards::by_number(const std::vector<ToolDevice>& devices) {
  std::vector<Card> cards;
  cards.reserve(devices.size());
  for (const auto& device : devices) {
    // What a tool says of a card that it can't reach any more is an address, not the card's name.
    const auto* known =
        device.uuid.empty() && !device.bus_id.empty() ? at_bus(sysfs_bus_id(device.bus_id)) : nullptr;
    const auto number = static_cast<int>(std::get<std::int64_t>(device.index));
    // When a card is lost its tool may number those behind it anew: each keeps the number it had.
    if (known != nullptr)
      cards.push_back(*known);
    else
      cards.push_back({device.uuid, device.uuid.empty() ? number : index_for(device.uuid, number)});
  }
  return cards;
}

std::vector<ToolCards::Card> ToolCards::by_identity(const std::vector<ToolDevice>& devices,
                                                    const std::vector<std::string>& identities) {
  std::vector<Card> cards;
  cards.reserve(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i)
    cards.push_back({identities[i], index_for(identities[i], static_cast<int>(i))});
  return cards;
}

int ToolCards::index_for(const std::string& identity, int wanted) {
  if (const auto known = indices_.find(identity); known != indices_.end()) return known->second;
  while (taken_.contains(wanted)) ++wanted;
  taken_.insert(wanted);
  indices_.emplace(identity, wanted);
  return wanted;
}

std::vector<ToolCards::Card> ToolCards::by_place(std::vector<ToolDevice>& devices, SteadyTime at) {
  const bool measures = std::any_of(devices.begin(), devices.end(),
                                    [](const auto& device) { return device.power.has_value(); });
  // A first answer without any power may be no table of cards; a machine that stays as it is now has these.
  if (measures && (rows_ == 0 || at - rows_seen_at_ > kMissedFor)) rows_ = devices.size();
  if (devices.size() == rows_) {
    rows_seen_at_ = at;
  } else if (rows_ > 0) {
    const auto reason =
        fmt::format("{} rows where there were {}, without an identity: which is which isn't known",
                    devices.size(), rows_);
    devices.assign(rows_, ToolDevice{});
    for (auto& device : devices) device.reason = reason;
  }
  std::vector<Card> cards;
  cards.reserve(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) cards.push_back({devices[i].uuid, static_cast<int>(i)});
  return cards;
}

const ToolCards::Card* ToolCards::at_bus(const std::string& bus_id) const {
  const auto found = by_bus_.find(bus_id);
  return found == by_bus_.end() ? nullptr : &found->second;
}

/// Its number may be another card's from now on.
void ToolCards::forget(const std::string& identity) {
  const auto known = indices_.find(identity);
  if (known == indices_.end()) return;
  taken_.erase(known->second);
  indices_.erase(known);
}

void ToolCards::add_missing(std::vector<Reading>& readings, SteadyTime at) {
  const auto answered = readings.size();
  const bool named = std::any_of(readings.begin(), readings.end(),
                                 [](const Reading& reading) { return !reading.uuid.empty(); });
  std::set<std::string> here;
  for (std::size_t i = 0; i < answered; ++i) {
    here.insert(key_of(readings[i]));
    // A card without a name among named ones gets one later: it is missed by that name only.
    if (!named || !readings[i].uuid.empty()) seen_.insert_or_assign(key_of(readings[i]), readings[i]);
  }
  std::erase_if(seen_, [&](const auto& card) {
    if (at - card.second.at <= kMissedFor && !(named && card.second.uuid.empty())) return false;
    forget(card.second.uuid);
    return true;
  });
  for (const auto& [key, card] : seen_) {
    if (here.contains(key)) continue;
    auto& missing = readings.emplace_back(card);
    forget_values(missing);
    missing.reason = kMissing;
    missing.at = at;
  }
}

}  // namespace tidewatt::sensors
