// A line of the carbon market's journal, as stores keep it: numbered without gaps, each key once, never
// changed. What it says is known to who writes it.
#pragma once

#include <cstdint>
#include <string>

#include "tidewatt/units/time.h"

namespace tidewatt::ledger {

struct MarketEntry {
  std::int64_t seq = 0;  ///< from 1
  std::string key;
  UtcTime at{};
  std::string body;  ///< UTF-8
  friend bool operator==(const MarketEntry&, const MarketEntry&) = default;
};

enum class MarketAppend : std::uint8_t {
  appended,   ///< durable now; also where the very same entry stands already
  seq_taken,  ///< it isn't the number behind the last one
  key_known,  ///< another entry has this key
};

}  // namespace tidewatt::ledger
