#include "tools/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tidewatt/metering/beat.h"
#include "tidewatt/units/text.h"
#include "tools/draws.h"
#include "tools/label.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

std::size_t indent_of(std::string_view line) {
  std::size_t indent = 0;
  for (const char c : line) {
    if (c == ' ')
      ++indent;
    else if (c == '\t')
      indent += 4;
    else
      break;
  }
  return indent;
}

bool is_decoration(std::string_view line) {
  return line.starts_with("===") || line.starts_with("---") || line.starts_with('+') || line.starts_with('#');
}

// " : " splits before ":": values and keys hold colons of their own (times, PCI addresses).
std::pair<std::string_view, std::optional<std::string_view>> split(std::string_view line) {
  auto at = line.find(" : ");
  std::size_t width = 3;
  if (at == std::string_view::npos) {
    at = line.find(": ");
    width = 2;
  }
  if (at == std::string_view::npos) {
    if (!line.ends_with(':')) return {line, std::nullopt};
    return {trim(line.substr(0, line.size() - 1)), std::nullopt};
  }
  return {trim(line.substr(0, at)), trim(line.substr(at + width))};
}

bool speaks_of_power(const std::vector<std::string_view>& section) {
  return std::any_of(section.begin(), section.end(), [](std::string_view heading) {
    const auto words = label_words(heading);
    return std::any_of(words.begin(), words.end(),
                       [](const std::string& word) { return word == "power" || word == "pwr"; });
  });
}

// Parts and wholes of other things, and sections whose numbers are limits.
bool has_word(const std::vector<std::string_view>& section, std::initializer_list<std::string_view> wanted) {
  for (const auto heading : section)
    for (const auto& word : label_words(heading))
      if (std::find(wanted.begin(), wanted.end(), std::string_view{word}) != wanted.end()) return true;
  return false;
}

}  // namespace

std::string_view Block::value(std::string_view key) const {
  for (const auto& field : fields)
    if (same_ignoring_case(field.key, key)) return field.value;
  return {};
}

std::optional<DeviceHeading> device_heading(std::string_view line, std::string_view word) {
  if (!same_ignoring_case(line.substr(0, word.size()), word)) return std::nullopt;
  auto rest = line.substr(word.size());
  if (rest.empty()) return std::nullopt;
  const char next = rest.front();
  const bool digit = next >= '0' && next <= '9';
  if (!digit && next != ' ' && next != ':' && next != '[' && next != '#') return std::nullopt;
  while (!rest.empty() &&
         (rest.front() == ' ' || rest.front() == ':' || rest.front() == '[' || rest.front() == '#'))
    rest.remove_prefix(1);
  const auto end = rest.find_first_of(" ]");
  const auto name = rest.substr(0, end);
  const auto is_address = [](std::string_view text) {
    return text.size() >= 7 && contains(text, ":") &&
           text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  };
  // "GPU 0 Utilization: 3 %" is a field, not a heading.
  const auto behind = end == std::string_view::npos ? std::string_view{} : trim(rest.substr(end + 1));
  if (!behind.empty() && !is_address(behind)) return std::nullopt;
  if (const auto number = parse_int64(name); number && *number >= 0) return DeviceHeading{number};
  if (is_address(name)) return DeviceHeading{};
  return std::nullopt;
}

std::vector<Block> blocks_of(std::string_view text, IsDevice is_device) {
  const auto lines = lines_of(text);
  std::vector<Block> blocks;
  std::vector<std::pair<std::size_t, std::string_view>> headings;  // indent, name
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = trim(lines[i]);
    if (line.empty() || is_decoration(line)) continue;
    const auto indent = indent_of(lines[i]);
    if (const auto device = is_device(line, indent)) {
      Block block;
      block.index = device->number.value_or(static_cast<std::int64_t>(blocks.size()));
      block.heading = line;
      block.line = i + 1;
      block.socket = device->socket;
      blocks.push_back(std::move(block));
      headings.clear();
      continue;
    }
    while (!headings.empty() && headings.back().first >= indent) headings.pop_back();
    const auto [key, value] = split(line);
    if (!value) {
      headings.emplace_back(indent, key);
      if (!blocks.empty()) blocks.back().headings.push_back(key);
      continue;
    }
    if (blocks.empty()) continue;
    Field field{{}, key, *value, i + 1, i + 1 < lines.size() || text.ends_with('\n')};
    for (const auto& [level, heading] : headings) field.section.push_back(heading);
    blocks.back().fields.push_back(std::move(field));
    // "Power: N/A" may stand where a section would.
  }
  return blocks;
}

namespace {

// Parts of the device, what it is a part of, and what is no power.
bool is_not_the_device(const std::vector<std::string_view>& section) {
  return has_word(section, {"memory", "module", "process", "processes", "cable", "energy"}) ||
         std::any_of(section.begin(), section.end(), names_a_part);
}

std::string path_of(const Field& field) {
  std::string path = lower(field.key);
  for (const auto heading : field.section) path += "/" + lower(heading);
  return path;
}

// Keys of the block's draws, with the headings above them.
std::set<std::string> draws_of(const Block& block) {
  std::set<std::string> keys;
  for (const auto& field : block.fields) {
    if (judge_label(field.key, speaks_of_power(field.section)).draw_rank == 0 ||
        is_not_the_device(field.section))
      continue;
    keys.insert(path_of(field));
  }
  return keys;
}

// Why the last device of a text may have lost its draw, or the better one of two; empty = it hasn't.
std::string cut_in(const std::vector<Block>& blocks) {
  const auto& block = blocks.back();
  if (block.fields.empty()) return fmt::format("{}: nothing follows line {}", kTruncated, block.line);
  if (blocks.size() > 1) {
    const auto before = draws_of(blocks[blocks.size() - 2]);
    const auto here = draws_of(block);
    // One that has other fields is another kind of device.
    if (!std::includes(before.begin(), before.end(), here.begin(), here.end())) return {};
    for (const auto& key : before)
      if (!here.contains(key))
        return fmt::format("{}: '{}' is missing here, the device before has it", kTruncated,
                           key.substr(0, key.find('/')));
  }
  return {};
}

std::string cut_at_end(const Block& block, const ToolDevice& last) {
  if (block.fields.empty()) return {};
  const auto& end = block.fields.back();
  const auto label = judge_label(end.key, speaks_of_power(end.section));
  if (last.power && last.averaged && label.draw_rank > 0 && label.averaged)
    return fmt::format("{}: the text ends with an average, what may follow it is missing", kTruncated);
  return {};
}

bool is_draw(const Field& field) {
  return judge_label(field.key, speaks_of_power(field.section)).draw_rank > 0 &&
         !is_not_the_device(field.section);
}

// A draw that stands above the first heading and below it too: a heading is lost, and a device with it.
std::optional<std::size_t> headless_draw(const std::vector<std::string_view>& lines,
                                         const std::vector<Block>& blocks) {
  for (std::size_t i = 0; i + 1 < blocks[0].line; ++i) {
    const auto [key, value] = split(trim(lines[i]));
    if (!value || judge_label(key, true).draw_rank == 0 || names_a_whole(key)) continue;
    for (const auto& field : blocks[0].fields)
      if (same_ignoring_case(field.key, key) && is_draw(field)) return i;
  }
  return std::nullopt;
}

std::string heading_kind(std::string_view heading) {
  std::string kind;
  for (const char c : heading.substr(0, heading.find_first_of(":[#(")))
    if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) kind += c;
  return lower(kind);
}

// "Chip 0" below "Card 0", and below "Card 1" again, is another chip and no later sample of the first. The
// line of the second; 0 = there is none.
std::size_t other_parent(const std::vector<Block>& blocks) {
  const auto outer = heading_kind(blocks[0].heading);
  std::string_view parent;
  std::map<std::string_view, std::string_view> parents;
  for (const auto& block : blocks) {
    if (heading_kind(block.heading) == outer) {
      parent = block.heading;
      continue;
    }
    const auto [first, is_new] = parents.emplace(block.heading, parent);
    if (!is_new && first->second != parent) return block.line;
  }
  return 0;
}

// Cards and chips, say: whether one contains the other isn't said. Sockets are told apart by their domain.
bool has_several_kinds(const std::vector<Block>& blocks) {
  std::set<std::string> kinds;
  for (const auto& block : blocks)
    if (!block.socket) kinds.insert(heading_kind(block.heading));
  return kinds.size() > 1;
}

// The same within a block: another device's draw below this one's heading. A line printed twice is one line.
std::string second_draw_in(const Block& block) {
  std::map<std::string, const Field*> seen;
  for (const auto& field : block.fields) {
    if (!is_draw(field)) continue;
    const auto [first, is_new] = seen.emplace(path_of(field), &field);
    if (is_new || (first->second->line + 1 == field.line && first->second->value == field.value)) continue;
    return fmt::format("garbled: lines {} and {} both print '{}' below one heading", first->second->line,
                       field.line, field.key);
  }
  return {};
}

// "Attached GPUs : 8" before the first device.
std::optional<std::int64_t> announced(std::string_view text) {
  for (const auto line : lines_of(text)) {
    const auto [key, value] = split(trim(line));
    const auto words = label_words(key);
    if (value && words.size() == 2 && words[0] == "attached") return parse_int64(*value);
  }
  return std::nullopt;
}

// A message between the lines, or lost blanks, part a field from its section: what stands around it still
// says that limits are meant.
bool speaks_of_limits(const Block& block) {
  if (has_word(block.headings, {"limit", "limits"})) return true;
  return !block.socket && std::any_of(block.fields.begin(), block.fields.end(), [](const Field& field) {
    const auto label = judge_label(field.key);
    return (label.power && label.bound && !speaks_of_power(field.section)) ||
           has_word({field.key}, {"slowdown", "shutdown"});
  });
}

}  // namespace

bool read_power_fields(const Block& block, const PowerRules& rules, ToolDevice& device) {
  std::vector<Draw> draws;
  int best_limit = 0;
  bool any = false;
  std::string cut;
  const bool limits_here = rules.limits_as_draws == LimitsAsDraws::always ||
                           (rules.limits_as_draws == LimitsAsDraws::beside_limits && speaks_of_limits(block));
  for (const auto& field : block.fields) {
    const bool in_power = speaks_of_power(field.section);
    auto label = judge_label(field.key, in_power);
    if (!label.power || is_not_the_device(field.section)) continue;
    if (std::any_of(field.section.begin(), field.section.end(), names_a_whole)) continue;
    const auto unit = label.unit.empty() ? rules.default_unit : label.unit;
    if (label.draw_rank > 0 && (has_word(field.section, {"limit", "limits"}) || (limits_here && !in_power))) {
      // Under "LIMIT" the draw's own words name the limit in force.
      label.limit_rank = 3;
      label.draw_rank = 0;
    }
    if (label.draw_rank > 0) {
      if (!rules.draw_in_section.empty() && !has_word(field.section, {rules.draw_in_section})) continue;
      any = true;
      if (!field.complete && may_be_cut(field.value)) {
        cut = fmt::format("{}: line {} ends within its number", kTruncated, field.line);
        continue;
      }
      draws.push_back({label.draw_rank, field.key, {field.value, label.averaged, unit}});
    } else {
      any = true;
      if (label.limit_rank > best_limit && parse_watts(field.value, unit).watts) {
        best_limit = label.limit_rank;
        set_limit(device, field.value, unit);
      }
    }
  }
  draws = best_draws(std::move(draws));
  for (const auto& draw : draws) {
    if (draw.candidate.averaged && !device.average) {
      ToolDevice judged;
      judged.power_limit = device.power_limit;
      set_power(judged, {draw.candidate}, "");
      device.average = judged.power;
    }
  }
  set_best_power(device, draws,
                 !cut.empty() ? cut
                 : any        ? "no_power_reading_in_this_command"
                              : "no power field");
  if (!cut.empty() && !device.power) device.reason = cut;
  return any;
}

Result<ToolReadings> parse_sections(std::string_view tool, std::string_view text, IsDevice is_device,
                                    const PowerRules& rules) {
  const auto lines = lines_of(text);
  const auto blocks = blocks_of(text, is_device);
  if (blocks.empty())
    return layout_error(tool, 1, "a line that begins a device",
                        lines.empty() ? std::string_view{} : trim(lines[0]));
  if (const auto line = headless_draw(lines, blocks))
    return layout_error(tool, *line + 1, "a line that begins a device above its draw", trim(lines[*line]));
  if (const auto line = other_parent(blocks))
    return layout_error(tool, line, "headings that name each device once", trim(lines[line - 1]));
  const bool mixed = has_several_kinds(blocks);
  ToolReadings readings;
  bool any = false;
  std::map<std::string_view, std::size_t> places;
  const auto why = cut_in(blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    auto block = blocks[i];
    ToolDevice device;
    device.index = block.index;
    if (mixed && !block.socket) device.index = std::string{block.heading};  // "GPU 0" isn't "Chip 0"
    if (block.socket) device.domain = kDomainCpuPackage;
    // A line for all devices at the end stands in the last one's block.
    if (blocks.size() > 1)
      std::erase_if(block.fields, [](const Field& field) { return names_a_whole(field.key); });
    for (const std::string_view key : {"Product Name", "Dev Name", "Model Name", "Name"})
      if (device.name.empty()) device.name = block.value(key);
    for (const std::string_view key : {"GPU UUID", "UUID", "Dev UUID"})
      if (device.uuid.empty()) device.uuid = block.value(key);
    any = read_power_fields(block, rules, device) || any;
    std::string cut;
    if (i + 1 == blocks.size()) cut = why.empty() ? cut_at_end(block, device) : why;
    if (cut.empty() && (device.power || device.reason.starts_with(kAmbiguous))) cut = second_draw_in(block);
    if (!cut.empty()) {
      device.power.reset();
      device.average.reset();
      device.reason = std::move(cut);
    }
    const auto [place, is_new] = places.emplace(block.heading, readings.devices.size());
    if (is_new) {
      readings.devices.push_back(std::move(device));
    } else if (!device.reason.starts_with(kTruncated)) {  // else the sample before stands
      device.index = readings.devices[place->second].index;
      readings.devices[place->second] = std::move(device);
    }
  }
  if (!any)
    return layout_error(tool, blocks[0].line, "a field with the device's power below its heading",
                        blocks[0].heading);
  add_up(readings);
  if (mixed) readings.total.reset();
  const auto count = announced(text);
  if (is_open(text) || (count && *count > static_cast<std::int64_t>(readings.devices.size())))
    readings.total.reset();
  return readings;
}

}  // namespace tidewatt::metering::tools
