#include "tools/label.h"

#include <algorithm>
#include <array>

#include "tidewatt/units/text.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

constexpr std::array<std::string_view, 8> kPower{"power",   "pwr",    "watts",    "watt",
                                                 "wattage", "powers", "avgpower", "curpower"};
constexpr std::array<std::string_view, 10> kLimits{
    "cap", "capa", "caps", "capability", "capacity", "powercap", "powerlimit", "limit", "limits", "pwrcap"};
constexpr std::array<std::string_view, 3> kMaxima{"max", "maximum", "maxpower"};
constexpr std::array<std::string_view, 67> kOtherBounds{
    "min",       "minimum",    "minpower",   "tdp",         "tgp",        "tbp",         "rated",
    "rating",    "default",    "requested",  "request",     "pending",    "threshold",   "budget",
    "allowed",   "critical",   "crit",       "target",      "range",      "ceiling",     "provisioned",
    "allocated", "supported",  "nominal",    "peak",        "slowdown",   "shutdown",    "available",
    "valid",     "envelope",   "design",     "setting",     "typical",    "recommended", "recommend",
    "warn",      "warning",    "thr",        "thresh",      "alarm",      "throttle",    "hysteresis",
    "hyst",      "highest",    "lowest",     "pk",          "upper",      "lower",       "capping",
    "capped",    "ceil",       "constraint", "constraints", "quota",      "budgeted",    "allowance",
    "sustained", "programmed", "configured", "reserved",    "guaranteed", "headroom",    "remaining",
    "loss",      "losses",     "high",       "low"};
// Trackers and peaks that the firmware holds the power to, and the same words in Chinese.
constexpr std::array<std::string_view, 3> kTrackers{"ppt", "edpp", "edp"};
constexpr std::array<std::string_view, 6> kBoundsInChinese{"\u4E0A\u9650", "\u4E0B\u9650", "\u9650\u5236",
                                                           "\u989D\u5B9A", "\u6700\u5927", "\u9608\u503C"};
// Names with "power" in them that are no power of the device.
constexpr std::array<std::string_view, 60> kForeign{
    "energy",      "state",     "states",      "management",  "mode",       "voltage",   "volt",
    "temperature", "temp",      "cable",       "factor",      "cycles",     "smoothing", "brake",
    "profile",     "saving",    "on",          "off",         "status",     "joule",     "joules",
    "slope",       "module",    "memory",      "ubb",         "baseboard",  "node",      "profiles",
    "policy",      "overdrive", "utilization", "accumulated", "acc",        "tracking",  "violation",
    "counter",     "supply",    "supplies",    "saved",       "savings",    "idle",      "level",
    "levels",      "previous",  "prev",        "percent",     "percentage", "pct",       "dbm",
    "dbw",         "va",        "kva",         "vah",         "btu",        "btuh",      "apparent",
    "reactive",    "ratio",     "amps",        "wh"};
// Units in brackets that are no watts. What else stands there says which power it is: "(Avg)", "(Socket)".
constexpr std::array<std::string_view, 35> kOtherUnits{
    "%",   "va",  "kva", "var", "kvar", "btu/h", "btu/hr", "btuh", "btu", "dbm", "db", "dbw",
    "a",   "ma",  "v",   "mv",  "c",    "f",     "k",      "j",    "kj",  "mj",  "wh", "kwh",
    "mwh", "mhz", "ghz", "hz",  "s",    "ms",    "rpm",    "mb",   "mib", "gb",  "gib"};
constexpr std::array<std::string_view, 8> kInstant{"instant", "instantaneous", "instantly", "realtime",
                                                   "current", "cur",           "curr",      "now"};
constexpr std::array<std::string_view, 9> kDraw{"draw",     "usage", "use",         "used",  "consumption",
                                                "consumed", "drawn", "dissipation", "usages"};
constexpr std::array<std::string_view, 5> kAverage{"avg", "average", "averaged", "mean", "ave"};

constexpr std::array<std::string_view, 20> kWholes{"total",  "totals",   "sum",       "overall", "aggregate",
                                                   "system", "node",     "chassis",   "server",  "host",
                                                   "rack",   "platform", "baseboard", "machine", "cluster",
                                                   "all",    "combined", "psu",       "psus",    "blade"};

bool is_lower(char c) { return (c >= 'a' && c <= 'z'); }
bool is_upper(char c) { return (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return (c >= '0' && c <= '9'); }

// "pwrpeak" and "peakpower" are two words written as one: what is glued to the power is a word as well.
std::vector<std::string> with_parts(std::vector<std::string> words) {
  std::vector<std::string> parts;
  for (const auto& word : words)
    for (const std::string_view power : {"power", "pwr", "watts", "watt"}) {
      if (word.size() <= power.size()) continue;
      if (word.starts_with(power)) parts.push_back(word.substr(power.size()));
      if (word.ends_with(power)) parts.push_back(word.substr(0, word.size() - power.size()));
    }
  words.insert(words.end(), parts.begin(), parts.end());
  return words;
}

// Most words of a text say nothing of power: seen without cutting them into words.
bool may_speak_of_power(std::string_view name) {
  for (std::size_t i = 0; i + 3 <= name.size(); ++i)
    for (const std::string_view part : {"pow", "pwr", "wat"})
      if (same_ignoring_case(name.substr(i, 3), part)) return true;
  return false;
}

// "power_usage_mw", "gpu.power.kw", "powerMilliwatts": the unit as the last word. Letters have lost their
// case there; a megawatt is no unit of a device.
std::string_view suffix_unit(std::string_view name) {
  // A value, as "355 W", is no name.
  if (!name.empty() && std::string_view{"0123456789.+-"}.find(name.front()) != std::string_view::npos)
    return {};
  const auto at = name.find_last_of("_.- ");
  auto last = at == std::string_view::npos ? std::string{} : lower(name.substr(at + 1));
  if (last.empty()) {
    const auto words = label_words(name);
    if (words.size() > 1) last = words.back();
    if (last == "w") return {};  // "powerW" may be anything
  }
  if (last == "mw" || last == "milliwatt" || last == "milliwatts") return "mW";
  if (last == "uw" || last == "microwatt" || last == "microwatts") return "uW";
  if (last == "kw" || last == "kilowatt" || last == "kilowatts") return "kW";
  if (last == "w" || last == "watt" || last == "watts") return "W";
  return {};
}

// "Power (mW)", "power.draw [W]", "Power(W)": the unit in the last brackets.
std::string_view unit_in(std::string_view name) {
  name = trim(name);
  if (name.size() < 3) return {};
  const char close = name.back();
  if (close != ')' && close != ']') return suffix_unit(name);
  const auto open = name.rfind(close == ')' ? '(' : '[');
  if (open == std::string_view::npos) return {};
  const auto unit = trim(name.substr(open + 1, name.size() - open - 2));
  return is_watt_unit(unit) ? unit : std::string_view{};
}

// "Power (VA)", "Power [BTU/h]", "power usage %": a number of something else.
bool has_other_unit(std::string_view name) {
  name = trim(name);
  if (name.find('%') != std::string_view::npos) return true;
  if (name.empty() || (name.back() != ')' && name.back() != ']')) return false;
  const auto open = name.rfind(name.back() == ')' ? '(' : '[');
  if (open == std::string_view::npos) return false;
  const auto unit = trim(name.substr(open + 1, name.size() - open - 2));
  return !is_watt_unit(unit) && is_one_of(lower(unit), kOtherUnits);
}

}  // namespace

bool names_a_whole(std::string_view name) {
  for (const auto& written : label_words(name)) {
    std::string_view word = written;
    while (word.size() > 1 && is_digit(word.back())) word.remove_suffix(1);
    if (is_one_of(word, kWholes)) return true;
  }
  return false;
}

bool is_watt_unit(std::string_view unit) {
  return unit == "W" || unit == "w" || unit == "mW" || unit == "kW" || unit == "KW" || unit == "MW" ||
         unit == "uW" || unit == "\xC2\xB5W" || unit == "\xCE\xBCW" || unit == "Watts" || unit == "watts" ||
         unit == "Watt";
}

std::vector<std::string> label_words(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  char before = ' ';
  for (const char c : name) {
    const bool letter = is_lower(c) || is_upper(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
    if (!word.empty() && (!letter || (is_upper(c) && is_lower(before)))) {
      words.push_back(lower(word));
      word.clear();
    }
    if (letter) word += c;
    before = c;
  }
  if (!word.empty()) words.push_back(lower(word));
  return words;
}

Label judge_label(std::string_view name, bool in_power_section) {
  Label label;
  label.unit = unit_in(name);
  if (!in_power_section && label.unit.empty() && !may_speak_of_power(name)) return label;
  const auto words = with_parts(label_words(name));
  bool foreign = has_other_unit(name);
  bool instant = false;
  bool draw = false;
  bool limit = false;
  bool maximum = false;
  bool other_bound = false;
  bool enforced = false;
  bool tracker = false;
  bool named = !label.unit.empty();
  for (std::size_t i = 0; i < words.size(); ++i) {
    // "limit1", "max2", "maxlimit", "pwrmax": a number behind a word and words written as one mean the same.
    std::string_view word = words[i];
    while (word.size() > 1 && is_digit(word.back())) word.remove_suffix(1);
    maximum = maximum || word.starts_with("max") || word.ends_with("max");
    limit =
        limit || contains(word, "limit") || word.ends_with("lim") || word.ends_with("lmt") || word == "pl";
    named = named || is_one_of(word, kPower);
    foreign = foreign || is_one_of(word, kForeign);
    instant = instant || is_one_of(word, kInstant) ||
              (word == "real" && i + 1 < words.size() && words[i + 1] == "time");
    draw = draw || is_one_of(word, kDraw);
    label.averaged = label.averaged || is_one_of(word, kAverage);
    limit = limit || is_one_of(word, kLimits);
    maximum = maximum || is_one_of(word, kMaxima);
    enforced = enforced || word == "enforced";
    other_bound = other_bound || is_one_of(word, kOtherBounds) ||
                  std::any_of(kBoundsInChinese.begin(), kBoundsInChinese.end(),
                              [&](std::string_view bound) { return contains(word, bound); });
    tracker = tracker || is_one_of(word, kTrackers);
  }
  // A sensor that is called "PPT" and nothing else reads the draw.
  other_bound = other_bound || (tracker && named);
  label.bound = limit || maximum || other_bound || enforced;
  // Under a heading "Power" a key says by itself whether it is a draw or a limit: "Usage", "Cap"; others
  // ("Level") are neither.
  label.power =
      !foreign && (named || (in_power_section && (instant || draw || label.averaged || label.bound)));
  if (!label.power) return label;
  if (!label.bound) {
    label.draw_rank = instant ? 4 : label.averaged ? 2 : draw ? 3 : 1;
  } else if (!other_bound) {
    label.limit_rank = enforced ? 2 : maximum ? 1 : 3;
  }
  return label;
}

}  // namespace tidewatt::metering::tools
