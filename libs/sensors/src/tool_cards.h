// Which card a row of a tool's answer is, from one answer to the next. Rows are joined by what they say of
// themselves, never by their place: one lost card would move all behind it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/metering/reading.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::sensors {

class ToolCards {
 public:
  explicit ToolCards(std::string_view tool) : tool_(tool) {}

  struct Card {
    std::string uuid;  ///< empty = the tool gives no identity
    int index = 0;
  };

  /// Index and identity of each device, in order. Where rows have no identity and there are more or fewer
  /// than before, all are made unknown until they are as many again or an hour has passed.
  std::vector<Card> join(std::vector<metering::ToolDevice>& devices, SteadyTime at);

  /// Adds what was in an earlier answer and isn't in this one, as unknown.
  void add_missing(std::vector<metering::Reading>& readings, SteadyTime at);

  /// The card at a PCI address, as sysfs writes it; nullptr = none was seen there.
  [[nodiscard]] const Card* at_bus(const std::string& bus_id) const;

 private:
  [[nodiscard]] std::string identity_of(const metering::ToolDevice& device) const;
  std::vector<Card> by_number(const std::vector<metering::ToolDevice>& devices);
  std::vector<Card> by_identity(const std::vector<metering::ToolDevice>& devices,
                                const std::vector<std::string>& identities);
  std::vector<Card> by_place(std::vector<metering::ToolDevice>& devices, SteadyTime at);
  int index_for(const std::string& identity, int wanted);
  void forget(const std::string& identity);

  std::string tool_;
  std::map<std::string, Card> by_bus_;
  std::map<std::string, int> indices_;  ///< of identities
  std::set<int> taken_;
  std::size_t rows_ = 0;  ///< of answers without identities
  SteadyTime rows_seen_at_{};
  std::map<std::string, metering::Reading> seen_;
};

}  // namespace tidewatt::sensors
