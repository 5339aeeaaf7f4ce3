// Which series mean energy or tokens, and whose. Everything else a Prometheus sends is left alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "tidewatt/remote_write/write_request.h"

namespace tidewatt::remote_write {

/// Where a device's figure comes from, the best first.
enum class Family : std::uint8_t { dcgm, kepler, node_rapl };
std::string_view to_string(Family family);

/// A power in watts or a counter in joules, of one device.
struct EnergySeries {
  Family family = Family::dcgm;
  std::string cluster;
  std::string node;  ///< empty = no label names it
  std::string domain;
  int index = 0;
  std::string uuid;
  std::string model;
  std::string task_id;  ///< "namespace/pod" of who holds it; empty = nobody named
  bool counter = false;
  double scale = 1;    ///< from the series' unit to watts or joules
  std::string part{};  ///< parts of one counter add up ("dynamic", "idle"); empty = it is whole
};

enum class TokenSide : std::uint8_t { prompt, completion };

/// A counter of tokens of one server of a model.
struct TokenSeries {
  TokenSide side = TokenSide::prompt;
  std::string cluster;
  std::string task_id;   ///< "namespace/pod", or the label task_id
  std::string group_id;  ///< the label task_group; empty = the task's own
  std::string identity;  ///< tells the counter from others, the same from either Prometheus of a pair
};

using Meaning = std::variant<std::monostate, EnergySeries, TokenSeries>;

/// Rules in words: docs/operate/prometheus.md.
Meaning meaning_of(const Series& series);

}  // namespace tidewatt::remote_write
