// What the name of a line, column or key says about its number. Words decide, never places: a name with cap,
// limit, max, rated, tdp, default or enforced in it is never current power.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidewatt::metering::tools {

inline constexpr int kWiderTier = 10;
inline constexpr int kPlainTier = 20;

struct Label {
  bool power = false;  ///< speaks of watts at all
  bool bound = false;  ///< a limit, rating, default, minimum or maximum: never the draw
  /// 4 instantaneous or current, 3 draw or usage, 2 average, 1 plain "power"; 0 = no draw. More by kPlainTier
  /// where all words of the name are known, by kWiderTier where one of them is the board's or a sum's.
  int draw_rank = 0;
  /// 3 "limit" or "cap" alone, 2 enforced, 1 maximum, 0 = no limit in force (minimum, default, rated ...).
  int limit_rank = 0;
  bool averaged = false;
  std::string_view unit;  ///< "W" from "Power (W)"; empty = none in the name
};

/// How sure it is that a draw of this rank is the device's. Of several only those of the best tier count: a
/// name with a word that nobody knows, or the board's power, is none where another column has the device's.
constexpr int tier_of(int draw_rank) { return draw_rank / kWiderTier; }

/// @param in_power_section  the section above speaks of power, so that "Usage" alone means its draw
Label judge_label(std::string_view name, bool in_power_section = false);

/// "total", "System 0", "node1", "chassis": a sum over the devices beside it, or what they stand in. Never
/// added to them.
bool names_a_whole(std::string_view name);

/// "HBM", "core", "Media Engine": what is read below such a heading is not the device's.
bool names_a_part(std::string_view heading);

/// True for a word that says of which power the name behind it speaks, one blank apart: "HBM", "Board",
/// "Peak".
bool qualifies_next(std::string_view word);

/// Lower-case words of a name: "PwrCap" = pwr cap, "gpu.power_draw [W]" = gpu power draw w.
std::vector<std::string> label_words(std::string_view name);

/// "W", "mW", "kW", "uW" and the like.
bool is_watt_unit(std::string_view unit);

}  // namespace tidewatt::metering::tools
