// Sorting of lists: numbers and texts, unknown last in both directions, ties by the rows' own order.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core.h"

namespace tidewatt::api {

/// monostate = unknown
using SortValue = std::variant<std::monostate, double, std::string>;
inline SortValue sort_value(std::optional<double> value) { return value ? SortValue{*value} : SortValue{}; }

struct SortOrder {
  std::string key;
  bool descending = false;
};
/// ?sort=key or -key, one of `keys`.
inline Result<SortOrder> sort_order(const Call& call, std::initializer_list<std::string_view> keys,
                                    std::string_view fallback) {
  const std::string text = call.parameter("sort", fallback);
  SortOrder order;
  order.descending = text.starts_with('-');
  order.key = text.substr(order.descending ? 1 : 0);
  if (std::find(keys.begin(), keys.end(), order.key) != keys.end()) return order;
  std::string known;
  for (const auto key : keys) known += (known.empty() ? "" : ", ") + std::string{key};
  return fail(ErrorCode::invalid_input, fmt::format("sort={} is no key of this list", text),
              "known: " + known);
}

template <class Row, class ValueOf>
void sort_rows(std::vector<Row>& rows, const SortOrder& order, ValueOf value_of) {
  std::vector<std::pair<SortValue, Row>> keyed;
  keyed.reserve(rows.size());
  for (auto& row : rows) {
    auto value = value_of(row, order.key);
    keyed.emplace_back(std::move(value), std::move(row));
  }
  std::stable_sort(keyed.begin(), keyed.end(), [&order](const auto& a, const auto& b) {
    const bool a_unknown = a.first.index() == 0;
    const bool b_unknown = b.first.index() == 0;
    if (a_unknown || b_unknown) return !a_unknown && b_unknown;
    return order.descending ? b.first < a.first : a.first < b.first;
  });
  rows.clear();
  for (auto& entry : keyed) rows.push_back(std::move(entry.second));
}

inline bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [lower](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

}  // namespace tidewatt::api
