#include "tools/box_layout.h"

#include <algorithm>
#include <functional>

#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

bool is_unit_alone(std::string_view word) {
  return word.size() > 2 && (word.front() == '(' || word.front() == '[') &&
         is_watt_unit(word.substr(1, word.size() - 2));
}

// "Pwr: Usage/Cap" and "Power (W)" are one label.
std::vector<std::string_view> labels_of(std::string_view cell) {
  const auto words = words_of(cell);
  std::vector<std::string_view> labels;
  for (const auto word : words) {
    const bool continues =
        !labels.empty() &&
        ((labels.back().ends_with(':') && contains(lower(word), "usage")) || is_unit_alone(word));
    if (continues) {
      const auto begin = static_cast<std::size_t>(labels.back().data() - cell.data());
      const auto end = static_cast<std::size_t>(word.data() - cell.data()) + word.size();
      labels.back() = cell.substr(begin, end - begin);
    } else {
      labels.push_back(word);
    }
  }
  return labels;
}

bool is_label(std::string_view word, std::string_view label) { return same_ignoring_case(word, label); }

bool names_device(const BoxTable& table, std::string_view label) {
  return std::any_of(table.index_labels.begin(), table.index_labels.end(),
                     [&](std::string_view wanted) { return is_label(label, wanted); });
}

// Before all other draws of its tier.
constexpr int kPairRank = 5;

// "Pwr:Usage/Cap", "Pwr(Usage/Cap)", with what qualifies it: "Board Pwr:Usage/Cap".
std::optional<BoxPowerPlace> power_place(std::string_view word) {
  BoxPowerPlace place;
  const auto low = lower(word);
  const auto pair = low.find("usage/cap");
  if (pair != kNowhere || low == "power-usage") {
    const auto of = judge_label(word.substr(0, pair));
    if (of.draw_rank == 0) return std::nullopt;
    place.pair = true;
    place.label.draw_rank = tier_of(of.draw_rank) * kWiderTier + kPairRank;
    return place;
  }
  place.label = judge_label(word);
  if (place.label.draw_rank == 0 && place.label.limit_rank == 0) return std::nullopt;
  return place;
}

bool is_one_blank_behind(std::string_view before, std::string_view label) {
  return before.data() + before.size() + 1 == label.data();
}

// Where all names stand one blank apart each has a column of its own.
bool is_single_spaced(const std::vector<std::string_view>& labels) {
  return labels.size() > 2 &&
         std::adjacent_find(labels.begin(), labels.end(), std::not_fn(is_one_blank_behind)) == labels.end();
}

// The word before, one blank apart, may say which power is meant.
std::string_view with_qualifier(std::string_view cell, const std::vector<std::string_view>& labels,
                                std::size_t at) {
  if (at == 0 || is_single_spaced(labels) || !is_one_blank_behind(labels[at - 1], labels[at]) ||
      !qualifies_next(labels[at - 1]))
    return labels[at];
  const auto begin = static_cast<std::size_t>(labels[at - 1].data() - cell.data());
  const auto end = static_cast<std::size_t>(labels[at].data() - cell.data()) + labels[at].size();
  return cell.substr(begin, end - begin);
}

}  // namespace

BoxLayout box_layout_of(const BoxTable& table, const std::vector<std::string_view>& header) {
  BoxLayout layout;
  for (std::size_t line = 0; line < header.size(); ++line) {
    const auto cells = cells_of(header[line], '|');
    layout.cells.push_back(cells.size());
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      const auto labels = labels_of(cells[cell]);
      for (std::size_t word = 0; word < labels.size(); ++word) {
        const BoxPlace here{line, cell, word, labels.size()};
        const auto label = labels[word];
        if (!layout.has_index && names_device(table, label)) {
          layout.index = here;
          layout.has_index = true;
          continue;
        }
        if (layout.has_index && !layout.second && line == layout.index.line && names_device(table, label))
          layout.second = here;
        if (!table.part_label.empty() && !layout.part && is_label(label, table.part_label))
          layout.part = here;
        const auto low = lower(label);
        if (!layout.name && (low == "name" || low == "gpu-name" || low == "model")) layout.name = here;
        if (!layout.bus && (low == "bus-id" || low == "bdf" || low == "pcie")) layout.bus = here;
        auto power = power_place(label);
        if (power) power = power_place(with_qualifier(cells[cell], labels, word));
        if (!power) continue;
        static_cast<BoxPlace&>(*power) = here;
        if (power->label.draw_rank == 0) {
          if (!layout.limit || power->label.limit_rank > layout.limit->label.limit_rank) layout.limit = power;
        } else if (!layout.has_power || power->label.draw_rank > layout.power.label.draw_rank) {
          layout.power = *power;
          layout.has_power = true;
          layout.rivals.clear();
        } else if (power->label.draw_rank == layout.power.label.draw_rank) {
          layout.rivals.push_back(*power);
        }
      }
    }
  }
  return layout;
}

}  // namespace tidewatt::metering::tools
