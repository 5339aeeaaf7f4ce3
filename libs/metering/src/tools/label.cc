#include "tools/label.h"

#include <algorithm>
#include <array>
#include <unordered_map>

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
constexpr auto kOtherBounds = std::to_array<std::string_view>(
    {"min",         "minimum",     "minpower",    "tdp",
     "tgp",         "tbp",         "rated",       "rating",
     "default",     "requested",   "request",     "pending",
     "threshold",   "budget",      "allowed",     "critical",
     "crit",        "target",      "range",       "ceiling",
     "provisioned", "allocated",   "supported",   "nominal",
     "peak",        "slowdown",    "shutdown",    "available",
     "valid",       "envelope",    "design",      "setting",
     "typical",     "recommended", "recommend",   "warn",
     "warning",     "thr",         "thresh",      "alarm",
     "throttle",    "hysteresis",  "hyst",        "highest",
     "lowest",      "pk",          "upper",       "lower",
     "capping",     "capped",      "ceil",        "constraint",
     "constraints", "quota",       "budgeted",    "allowance",
     "sustained",   "programmed",  "configured",  "reserved",
     "guaranteed",  "headroom",    "remaining",   "loss",
     "losses",      "high",        "low",         "boost",
     "turbo",       "setpoint",    "preset",      "desired",
     "goal",        "permitted",   "bound",       "bounds",
     "worst",       "grenze",      "grenzwert",   "obergrenze",
     "untergrenze", "plafond",     "l\u00EDmite", "\u043F\u0440\u0435\u0434\u0435\u043B"});
// Trackers and peaks that the firmware holds the power to.
constexpr std::array<std::string_view, 3> kTrackers{"ppt", "edpp", "edp"};
// Names with "power" in them that are no power of the device.
constexpr auto kForeign = std::to_array<std::string_view>(
    {"energy", "state", "states", "management", "mode", "voltage", "volt", "temperature", "temp", "cable",
     "factor", "cycles", "smoothing", "brake", "profile", "saving", "on", "off", "status", "joule", "joules",
     "slope", "module", "memory", "ubb", "baseboard", "node", "profiles", "policy", "overdrive",
     "utilization", "accumulated", "acc", "tracking", "violation", "counter", "supply", "supplies", "saved",
     "savings", "idle", "level", "levels", "previous", "prev", "percent", "percentage", "pct", "dbm", "dbw",
     "va", "kva", "vah", "btu", "btuh", "apparent", "reactive", "ratio", "amps", "wh",
     // what was, what may be, and numbers about a power
     "last", "hour", "hours", "minute", "minutes", "day", "days", "week", "month", "history", "historical",
     "yesterday", "today", "since", "delta", "diff", "difference", "change", "deviation", "stddev",
     "variance", "error", "errors", "predicted", "prediction", "forecast", "expected", "estimate",
     "estimated", "modelled", "modeled", "simulated", "trend", "offset", "per", "perf", "efficiency", "good",
     "fault", "failure", "failures", "cycle", "gate", "gated", "gating", "redundancy", "price", "cost"});
// Parts of a card: what one of them draws is less than what the card draws.
constexpr auto kParts = std::to_array<std::string_view>(
    {"core",   "cores",   "hbm",   "dram",   "vram",  "ddr",     "gddr",    "mem",     "memory", "soc",
     "engine", "engines", "media", "uncore", "cache", "ram",     "sram",    "fan",     "fans",   "pcie",
     "nvlink", "link",    "links", "aicore", "aicpu", "decoder", "encoder", "display", "vector", "tensor",
     "rail",   "rails",   "phase", "vr",     "vrm",   "io",      "shader",  "die"});
// What is as wide as a card or wider: it counts where nothing else names the card's power.
constexpr auto kWider = std::to_array<std::string_view>({"board", "boards", "carrier", "brd"});
// Words that change nothing of which power is meant.
constexpr auto kPlain = std::to_array<std::string_view>(
    {"gpu",       "gpus",      "card",       "cards",    "device",    "devices",     "dev",
     "npu",       "xpu",       "aip",        "dcu",      "hcu",       "gcu",         "mlu",
     "ipu",       "tpu",       "vpu",        "apu",      "adapter",   "accelerator", "chip",
     "asic",      "socket",    "package",    "pkg",      "graphics",  "processor",   "value",
     "values",    "reading",   "readings",   "sensor",   "measured",  "present",     "measurement",
     "actual",    "input",     "in",         "dc",       "ac",        "main",        "of",
     "the",       "by",        "is",         "at",       "to",        "for",         "and",
     "w",         "mw",        "uw",         "kw",       "milliwatt", "milliwatts",  "kilowatt",
     "kilowatts", "microwatt", "microwatts", "real",     "time",      "metric",      "metrics",
     "telemetry", "info",      "data",       "mtbl",     "report",    "reported",    "active",
     "unit",      "units",     "id",         "physical", "electrical"});
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

// Chinese and Japanese run their words together: a name is cut into these, longest first. Anything that is
// left over may turn the power into a limit, as the wall in \u529F\u7387\u5899 does.
enum class Sense { power, instant, draw, average, bound, part, foreign, plain };
struct Morpheme {
  std::string_view text;
  Sense sense;
};
constexpr auto kMorphemes = std::to_array<Morpheme>({
    {"\u52A0\u901F\u5361", Sense::plain},  // accelerator
    {"\u529F\u8017\u5899", Sense::bound},  // power wall
    {"\u529F\u7387\u5899", Sense::bound},  // power wall
    {"\u6D88\u8D39\u7535\u529B", Sense::power},
    {"\u6D88\u8CBB\u96FB\u529B", Sense::power},
    {"\u529F\u8017", Sense::power},
    {"\u529F\u7387", Sense::power},
    {"\u7535\u529B", Sense::power},
    {"\u96FB\u529B", Sense::power},
    {"\u5B9E\u65F6", Sense::instant},
    {"\u5BE6\u6642", Sense::instant},
    {"\u5373\u65F6", Sense::instant},
    {"\u5373\u6642", Sense::instant},
    {"\u77AC\u65F6", Sense::instant},
    {"\u77AC\u6642", Sense::instant},
    {"\u5F53\u524D", Sense::instant},
    {"\u7576\u524D", Sense::instant},
    {"\u76EE\u524D", Sense::instant},
    {"\u73B0\u5728", Sense::instant},
    {"\u73FE\u5728", Sense::instant},
    {"\u6D88\u8017", Sense::draw},
    {"\u4F7F\u7528", Sense::draw},
    {"\u5B9E\u9645", Sense::draw},
    {"\u5BE6\u969B", Sense::draw},
    {"\u8FD0\u884C", Sense::draw},
    {"\u5E73\u5747", Sense::average},
    {"\u5E73\u5747\u503C", Sense::average},
    {"\u4E0A\u9650", Sense::bound},
    {"\u4E0B\u9650", Sense::bound},
    {"\u9650\u5236", Sense::bound},
    {"\u9650\u503C", Sense::bound},
    {"\u9650\u989D", Sense::bound},
    {"\u6781\u9650", Sense::bound},
    {"\u989D\u5B9A", Sense::bound},
    {"\u984D\u5B9A", Sense::bound},
    {"\u5B9A\u683C", Sense::bound},
    {"\u6700\u5927", Sense::bound},
    {"\u6700\u5C0F", Sense::bound},
    {"\u6700\u9AD8", Sense::bound},
    {"\u6700\u4F4E", Sense::bound},
    {"\u5CF0\u503C", Sense::bound},
    {"\u9608\u503C", Sense::bound},
    {"\u95BE\u503C", Sense::bound},
    {"\u95E8\u9650", Sense::bound},
    {"\u9ED8\u8BA4", Sense::bound},
    {"\u9810\u8A2D", Sense::bound},
    {"\u9884\u8BBE", Sense::bound},
    {"\u7F3A\u7701", Sense::bound},
    {"\u8BBE\u8BA1", Sense::bound},
    {"\u8BBE\u5B9A", Sense::bound},
    {"\u8BBE\u7F6E", Sense::bound},
    {"\u6807\u79F0", Sense::bound},
    {"\u5178\u578B", Sense::bound},
    {"\u544A\u8B66", Sense::bound},
    {"\u8B66\u544A", Sense::bound},
    {"\u76EE\u6807", Sense::bound},
    {"\u9884\u7B97", Sense::bound},
    {"\u5C01\u9876", Sense::bound},
    {"\u5BB9\u91CF", Sense::bound},
    {"\u5899", Sense::bound},
    {"\u7246", Sense::bound},
    {"\u6838\u5FC3", Sense::part},
    {"\u5185\u6838", Sense::part},
    {"\u663E\u5B58", Sense::part},
    {"\u5185\u5B58", Sense::part},
    {"\u5B58\u50A8", Sense::part},
    {"\u5F15\u64CE", Sense::part},
    {"\u98CE\u6247", Sense::part},
    {"\u9884\u6D4B", Sense::foreign},
    {"\u9884\u4F30", Sense::foreign},
    {"\u4F30\u8BA1", Sense::foreign},
    {"\u8BEF\u5DEE", Sense::foreign},
    {"\u5386\u53F2", Sense::foreign},
    {"\u4E0A\u6B21", Sense::foreign},
    {"\u56E0\u6570", Sense::foreign},
    {"\u72B6\u6001", Sense::foreign},
    {"\u6A21\u5F0F", Sense::foreign},
    {"\u6A21\u7EC4", Sense::foreign},
    {"\u6574\u5361", Sense::plain},
    {"\u5355\u5361", Sense::plain},
    {"\u82AF\u7247", Sense::plain},
    {"\u663E\u5361", Sense::plain},
    {"\u8BBE\u5907", Sense::plain},
    {"\u8F93\u5165", Sense::plain},
    {"\u8BFB\u6570", Sense::plain},
    {"\u74E6", Sense::plain},
    {"\u503C", Sense::plain},
    {"\u5361", Sense::plain},
});

bool is_lower(char c) { return (c >= 'a' && c <= 'z'); }
bool is_upper(char c) { return (c >= 'A' && c <= 'Z'); }
bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool is_digit(char c) { return (c >= '0' && c <= '9'); }

// "limit1", "max2": a number behind a word changes nothing of it.
std::string_view without_number(std::string_view word) {
  while (word.size() > 1 && is_digit(word.back())) word.remove_suffix(1);
  return word;
}

// What the words of a name say, all of them together.
struct Senses {
  bool power = false, foreign = false, part = false, instant = false, draw = false, average = false,
       limit = false, maximum = false, other_bound = false, enforced = false, tracker = false,
       wider = false,   ///< "board", "total"
      strange = false;  ///< a word that isn't known: it may say anything
};

enum Bit : unsigned {
  kIsPower = 1U << 0U,
  kIsForeign = 1U << 1U,
  kIsPart = 1U << 2U,
  kIsInstant = 1U << 3U,
  kIsDraw = 1U << 4U,
  kIsAverage = 1U << 5U,
  kIsLimit = 1U << 6U,
  kIsMaximum = 1U << 7U,
  kIsOtherBound = 1U << 8U,
  kIsEnforced = 1U << 9U,
  kIsTracker = 1U << 10U,
  kIsWider = 1U << 11U,
  kIsPlain = 1U << 12U
};

using Dictionary = std::unordered_map<std::string_view, unsigned>;

const Dictionary& dictionary() {
  static const Dictionary all = [] {
    Dictionary words;
    const auto add = [&](const auto& list, unsigned bit) {
      for (const auto word : list) words[word] |= bit;
    };
    add(kPower, kIsPower);
    add(kForeign, kIsForeign);
    add(kParts, kIsPart);
    add(kInstant, kIsInstant);
    add(kDraw, kIsDraw);
    add(kAverage, kIsAverage);
    add(kLimits, kIsLimit);
    add(kMaxima, kIsMaximum);
    add(kOtherBounds, kIsOtherBound);
    add(kTrackers, kIsTracker);
    add(kWider, kIsWider);
    add(kWholes, kIsWider);
    add(kPlain, kIsPlain);
    words["enforced"] |= kIsEnforced;
    words["pl"] |= kIsLimit;
    return words;
  }();
  return all;
}

/// @return whether the word is known
bool take_one(std::string_view word, Senses& senses) {
  const auto found = dictionary().find(word);
  auto bits = found == dictionary().end() ? 0U : found->second;
  if (word.starts_with("max") || word.ends_with("max")) bits |= kIsMaximum;
  if (contains(word, "limit") || word.ends_with("lim") || word.ends_with("lmt")) bits |= kIsLimit;
  const auto has = [bits](Bit bit) { return (bits & bit) != 0; };
  senses.power |= has(kIsPower);
  senses.foreign |= has(kIsForeign);
  senses.part |= has(kIsPart);
  senses.instant |= has(kIsInstant);
  senses.draw |= has(kIsDraw);
  senses.average |= has(kIsAverage);
  senses.limit |= has(kIsLimit);
  senses.maximum |= has(kIsMaximum);
  senses.other_bound |= has(kIsOtherBound);
  senses.enforced |= has(kIsEnforced);
  senses.tracker |= has(kIsTracker);
  senses.wider |= has(kIsWider);
  return bits != 0 || is_digit(word.front());
}

void take(std::string_view written, Senses& senses) {
  const auto word = without_number(written);
  bool known = take_one(word, senses);
  // "pwrpeak" and "peakpower" are two words written as one.
  for (const std::string_view power : {"power", "pwr", "watts", "watt"}) {
    if (word.size() <= power.size()) continue;
    for (const auto& [glued, rest] :
         {std::pair{word.starts_with(power), word.substr(power.size())},
          std::pair{word.ends_with(power), word.substr(0, word.size() - power.size())}})
      if (glued) {
        const bool rest_known = take_one(rest, senses);
        known = known || rest_known;
      }
  }
  senses.strange = senses.strange || !known;
}

void take_sense(Sense sense, Senses& senses) {
  senses.power |= sense == Sense::power;
  senses.instant |= sense == Sense::instant;
  senses.draw |= sense == Sense::draw;
  senses.average |= sense == Sense::average;
  senses.other_bound |= sense == Sense::bound;
  senses.part |= sense == Sense::part;
  senses.foreign |= sense == Sense::foreign;
}

// A drawn table is full of characters that are none of these: their first bytes tell it without a call.
bool begins_with(std::string_view word, std::string_view morpheme) {
  return word.size() >= morpheme.size() && word[0] == morpheme[0] && word[1] == morpheme[1] &&
         word[2] == morpheme[2] && word.starts_with(morpheme);
}

void take_beyond_ascii(std::string_view word, Senses& senses) {
  if (is_one_of(word, kOtherBounds)) {
    senses.other_bound = true;
    return;
  }
  while (!word.empty()) {
    if (!is_beyond_ascii(word.front())) {
      const auto end = std::find_if(word.begin(), word.end(), is_beyond_ascii) - word.begin();
      take(word.substr(0, static_cast<std::size_t>(end)), senses);
      word.remove_prefix(static_cast<std::size_t>(end));
      continue;
    }
    const Morpheme* longest = nullptr;
    for (const auto& morpheme : kMorphemes)
      if (begins_with(word, morpheme.text) &&
          (longest == nullptr || morpheme.text.size() > longest->text.size()))
        longest = &morpheme;
    if (longest != nullptr) take_sense(longest->sense, senses);
    senses.strange |= longest == nullptr;
    std::size_t used = longest != nullptr ? longest->text.size() : 1;
    while (longest == nullptr && used < word.size() &&
           (static_cast<unsigned char>(word[used]) & 0xC0U) == 0x80U)
      ++used;
    word.remove_prefix(used);
  }
}

// Most words of a text say nothing of power: seen without cutting them into words.
bool may_speak_of_power(std::string_view name) {
  if (std::any_of(name.begin(), name.end(), is_beyond_ascii)) return true;
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
  for (std::size_t i = 1; i < words.size(); ++i)  // "SoC" is one word
    if (words[i - 1] == "so" && words[i] == "c") {
      words[i - 1] = "soc";
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    }
  return words;
}

bool qualifies_next(std::string_view word) {
  const auto label = judge_label(word, true);
  if (judge_label(word).power) return false;
  Senses senses;
  for (const auto& part : label_words(word)) take(part, senses);
  static constexpr std::array<std::string_view, 2> kFans{"fan", "fans"};
  static constexpr std::array<std::string_view, 5> kAround{"module", "ubb", "node", "predicted", "last"};
  const bool fan = is_one_of(lower(word), kFans);  // its speed, a column of its own
  return !fan && (label.bound || names_a_part(word) || senses.wider || is_one_of(lower(word), kAround));
}

bool names_a_part(std::string_view heading) {
  for (const auto& word : label_words(heading)) {
    if (is_one_of(without_number(word), kParts)) return true;
    Senses senses;
    take_beyond_ascii(word, senses);
    if (senses.part) return true;
  }
  return false;
}

Label judge_label(std::string_view name, bool in_power_section) {
  Label label;
  label.unit = unit_in(name);
  if (!in_power_section && label.unit.empty() && !may_speak_of_power(name)) return label;
  const auto words = label_words(name);
  Senses senses;
  senses.foreign = has_other_unit(name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool real_time = words[i] == "real" && i + 1 < words.size() && words[i + 1] == "time";
    senses.instant = senses.instant || real_time;
    if (std::any_of(words[i].begin(), words[i].end(), is_beyond_ascii))
      take_beyond_ascii(words[i], senses);
    else
      take(words[i], senses);
  }
  // A sensor that is called "PPT" and nothing else reads the draw.
  const bool other_bound = senses.other_bound || (senses.tracker && (senses.power || !label.unit.empty()));
  label.bound = senses.limit || senses.maximum || other_bound || senses.enforced;
  label.averaged = senses.average;
  // Under a heading "Power" a key says by itself whether it is a draw or a limit: "Usage", "Cap"; others
  // ("Level") are neither. So does a name with a unit of power and without the word: "Usage (W)". What else
  // has that unit ("Plafond (W)") may be a limit in any language.
  const bool says_which = senses.instant || senses.draw || senses.average || label.bound;
  label.power = !senses.foreign && !senses.part &&
                (senses.power || ((in_power_section || !label.unit.empty()) && says_which));
  if (!label.power) return label;
  if (!label.bound) {
    label.draw_rank = senses.instant ? 4 : senses.average ? 2 : senses.draw ? 3 : 1;
    if (!senses.strange) label.draw_rank += senses.wider ? kWiderTier : kPlainTier;
  } else if (!other_bound) {
    label.limit_rank = senses.enforced ? 2 : senses.maximum ? 1 : 3;
  }
  return label;
}

}  // namespace tidewatt::metering::tools
