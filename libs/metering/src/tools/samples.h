// A tool in a loop prints sample after sample: the last one counts, and none of them is added to another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

/// Which devices are the same one, in constant time. By uuid where both have one and no other bus address,
/// else by bus address where both have one, else by number; a processor's socket is never a card.
class DevicePlaces {
 public:
  /// Place of the device known before that is this one; npos = none.
  [[nodiscard]] std::size_t find(const std::vector<ToolDevice>& devices, const ToolDevice& device) const;
  void add(const ToolDevice& device, std::size_t place);
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

 private:
  std::unordered_map<std::string, std::size_t> by_uuid_, by_bus_, by_number_;
};

/// The samples of one text, oldest first. A last one that is cut off leaves the one before it standing. One
/// that lacks a device of the samples before says nothing of it: that device is unknown. Samples that share
/// no device at all are several outputs of one moment and stand side by side.
/// @param last_is_cut  the last text is known to lack its end
/// @error as `parse` of the last text that isn't cut off
template <class Parse>
Result<ToolReadings> read_samples(const std::vector<std::string_view>& texts, bool last_is_cut,
                                  const Parse& parse);

/// True if a device may have lost its power to the end of the text.
bool has_cut_device(const ToolReadings& readings);

/// What the samples up to now say: see read_samples.
class JoinedSamples {
 public:
  explicit JoinedSamples(ToolReadings first);
  void add(ToolReadings next);
  ToolReadings known;

 private:
  DevicePlaces places_;
};
/// Beyond it no sample is joined any more: the text is no node's.
inline constexpr std::size_t kMaxJoined = 8192;

template <class Parse>
Result<ToolReadings> read_samples(const std::vector<std::string_view>& texts, bool last_is_cut,
                                  const Parse& parse) {
  std::optional<JoinedSamples> joined;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool last = i + 1 == texts.size();
    if (joined && ((last && last_is_cut) || joined->known.devices.size() > kMaxJoined)) break;
    Result<ToolReadings> next = parse(texts[i]);
    if (!next) {
      const bool cut = last && next.error().message.find(": truncated: ") != std::string::npos;
      if (joined && cut) break;
      if (!last) continue;  // a turn that failed; the next one replaces it
      return next;
    }
    if (last && joined && has_cut_device(*next)) break;
    if (joined)
      joined->add(*std::move(next));
    else
      joined.emplace(*std::move(next));
  }
  if (!joined) return fail(ErrorCode::invalid_input, "no sample in the output", "run the tool again");
  return std::move(joined->known);
}

}  // namespace tidewatt::metering::tools
