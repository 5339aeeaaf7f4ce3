#include "tools/nvidia_smi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "tidewatt/units/text.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::int64_t kMaxCards = 4096;

// Beginnings and middles of the one-line answers when the tool has nothing to show.
constexpr std::array<std::string_view, 10> kFailures{"NVIDIA-SMI has failed",
                                                     "couldn't communicate with the NVIDIA driver",
                                                     "Failed to initialize NVML",
                                                     "No devices were found",
                                                     "Unable to determine the device handle",
                                                     "Failed to properly shut down NVML",
                                                     "is not a valid field",
                                                     "Insufficient Permissions",
                                                     "GPU is lost",
                                                     "command not found"};

bool has_data(std::string_view text) {
  return contains(text, "Pwr:Usage/Cap") || contains(text, "NVSMI LOG") || contains(text, "<gpu");
}

// What the tool says beside its output, before it, behind it or between two rows: no row of any card.
bool is_notice(std::string_view line) {
  static constexpr std::array<std::string_view, 8> kBeginnings{
      "warning", "error:", "note:", "info:", "unable to ", "failed to ", "nvrm:", "infoROM is corrupted"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view beginning) {
    return same_ignoring_case(line.substr(0, beginning.size()), beginning);
  });
}

// A card that fell off the bus, as a notice names it: "for GPU0000:03:00.0: ...", "for GPU1: 0000:03:00.0:
// ...".
struct LostCard {
  std::string bus_id;  ///< empty = not told
  std::optional<std::int64_t> number;
};

// The text without what tells the domain's width: "0000:03:00.0" and "00000000:03:00.0" are one place.
std::string place_of(std::string_view bus_id) {
  const auto colon = bus_id.find(':');
  if (colon == std::string_view::npos) return lower(bus_id);
  const auto first = bus_id.find_first_not_of('0');
  return lower(bus_id.substr(std::min(first, colon)));
}

std::optional<LostCard> lost_card_in(std::string_view line) {
  const bool lost = contains(line, "Unable to determine the device handle") ||
                    contains(line, "GPU is lost") || contains(line, "fallen off the bus");
  if (!lost) return std::nullopt;
  LostCard card;
  for (auto word : words_of(line)) {
    while (word.ends_with(':') || word.ends_with('.') || word.ends_with(',')) word.remove_suffix(1);
    if (same_ignoring_case(word.substr(0, 3), "GPU")) word.remove_prefix(3);
    if (contains(word, ":") && contains(word, ".") &&
        word.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos)
      card.bus_id = word;
    else if (const auto number = parse_int64(word); number && *number >= 0 && *number < kMaxCards)
      card.number = number;
  }
  return card;
}

// Rows before the notice that tell of the same card are of an earlier turn of a loop, where there is a loop;
// elsewhere they are another card's.
void add_lost(ToolReadings& readings, const std::vector<LostCard>& lost, bool in_loop) {
  std::set<std::int64_t> numbers;
  std::set<std::string> places;
  for (const auto& device : readings.devices) {
    if (const auto* number = std::get_if<std::int64_t>(&device.index)) numbers.insert(*number);
    if (!device.bus_id.empty()) places.insert(place_of(device.bus_id));
  }
  std::set<std::string> told;
  for (const auto& card : lost) {
    if (!card.bus_id.empty() && !told.insert(place_of(card.bus_id)).second) continue;
    ToolDevice device;
    device.reason = "tool_prints_" + (card.bus_id.empty() ? std::string{"GPU is lost"}
                                                          : "Unable to determine the device handle");
    const bool has_row = !card.bus_id.empty() && places.contains(place_of(card.bus_id));
    if (has_row && in_loop) {
      const auto before = std::find_if(
          readings.devices.begin(), readings.devices.end(),
          [&](const ToolDevice& known) { return place_of(known.bus_id) == place_of(card.bus_id); });
      before->power.reset();
      before->average.reset();
      before->reason = device.reason;
      continue;
    }
    if (!has_row) device.bus_id = card.bus_id;
    std::int64_t number = card.number && !numbers.contains(*card.number) ? *card.number : 0;
    while (numbers.contains(number)) ++number;
    numbers.insert(number);
    device.index = number;
    readings.devices.push_back(std::move(device));
  }
}

bool has_rows_twice(std::string_view text, const ToolReadings& readings) {
  std::size_t rows = 0;
  for (const auto line : lines_of(text))
    if (const auto first = trim(line); !first.empty() && contains(first, ",")) ++rows;
  return rows > 2 * readings.devices.size();
}

Result<ToolReadings> parse_without_notices(std::string_view command, std::string_view text) {
  const auto lines = lines_of(text);
  std::size_t first = 0;
  while (first < lines.size() && trim(lines[first]).empty()) ++first;
  if (first == lines.size())
    return fail(ErrorCode::invalid_input, "nvidia-smi printed nothing: its GPUs are unknown",
                "run nvidia-smi by hand and look at its exit status");
  auto head = trim(lines[first]);
  if (!has_data(text))
    for (std::size_t i = first; i < lines.size(); ++i)
      for (const auto failure : kFailures)
        // In CSV "[GPU is lost]" and "[Insufficient Permissions]" are cells of one GPU, not the tool's
        // failure.
        if (const auto at = lines[i].find(failure); at != std::string_view::npos &&
                                                    (at == 0 || lines[i][at - 1] != '[') &&
                                                    !contains(lines[i], ", ["))
          return fail(ErrorCode::invalid_input,
                      fmt::format("nvidia-smi failed: {}", trim(lines[i]).substr(0, 200)),
                      "the node's GPUs are unknown until it works");
  if (contains(text, "<nvidia_smi_log")) return parse_nvidia_query_xml(text);
  if (head.starts_with('#')) return parse_nvidia_dmon(text);
  if (contains(text, "Pwr:Usage/Cap")) return parse_nvidia_table(text);
  if (contains(text, "NVSMI LOG") || contains(text, "Attached GPUs")) return parse_nvidia_query_text(text);
  if (!nvidia_query_fields(command).empty() || contains(head, "power.") || contains(head, ", "))
    return parse_nvidia_csv(command, text);
  return layout_error("nvidia-smi", first + 1, "its table, -q text, -q -x XML, a CSV query or dmon", head);
}

}  // namespace

Result<ToolReadings> parse_nvidia_smi(std::string_view command, std::string_view text) {
  // One card that can't be reached, or a corrupted infoROM, is a line among the others' rows.
  std::string rows;
  std::vector<LostCard> lost;
  bool any_row = false;
  bool any_notice = false;
  const auto lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = trim(lines[i]);
    if (is_notice(line)) {
      any_notice = true;
      if (auto card = lost_card_in(line); card && lost.size() < kMaxCards) lost.push_back(*std::move(card));
      continue;
    }
    any_row = any_row || !line.empty();
    rows += lines[i];
    if (i + 1 < lines.size() || text.ends_with('\n')) rows += '\n';
  }
  if (!any_notice || !any_row) return parse_without_notices(command, text);
  auto readings = parse_without_notices(command, rows);
  if (!readings) {
    // The notice says more than what it left of the output, if it says why.
    auto whole = parse_without_notices(command, text);
    const bool says_why = !whole && contains(whole.error().message, " failed: ");
    return says_why ? whole : readings;
  }
  if (lost.empty()) return readings;
  const auto total = readings->total;
  add_lost(*readings, lost, has_rows_twice(rows, *readings));
  add_up(*readings);
  if (!total) readings->total.reset();
  return readings;
}

}  // namespace tidewatt::metering::tools
