// Usual board power limits (maximum of the default setting), each with the public document that states it.
// A model whose limit no such document states stands in no row: it needs a limit or a history of its own.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tidewatt/tasks/estimate.h"

namespace tidewatt::tasks {
namespace {

struct CardLimit {
  std::string_view words;  ///< all must be words of the model's name; the first row that fits counts
  double watts;
  std::string_view stated_by;
};

// Special forms stand before the general one.
constexpr std::array kCardLimits{
    CardLimit{"B200", 1000, "Vultr docs, NVIDIA HGX B200 hardware overview (2026-03): TDP 1000W"},
    CardLimit{"H200 NVL", 600, "One Stop Systems, article on 675 W add-in cards: H200 NVL at 600 W"},
    CardLimit{"H200", 700, "Haink, comparison of H100, H200, B200, B300: H200 SXM5 700W TDP"},
    CardLimit{"H100 PCIE", 350, "NVIDIA product brief PB-11133-001_v02 (2022-11): maximum TDP 350 W"},
    CardLimit{"H100 NVL", 400, "One Stop Systems, article on 675 W add-in cards: H100 NVL at 400 W"},
    CardLimit{"H100", 700, "Hawkvelt, NVIDIA H100 models (2024-08): SXM5 up to 700W"},
    CardLimit{"A100 PCIE 80GB", 300, "Thunder Compute, NVIDIA A100 specifications: TDP 300 W"},
    CardLimit{"A100 PCIE", 250, "Thunder Compute, NVIDIA A100 specifications: 40 GB, TDP 250 W"},
    CardLimit{"A100", 400,
              "NVIDIA A100 data sheet (nvidia-1758950-r4), as quoted by G. Lockwood: 400 W maximum"},
    CardLimit{"L40S", 350, "NVIDIA L40/L40S data sheet as printed by Mullet: max power consumption 350W"},
    CardLimit{"L40", 300, "the same: 300W"},
    CardLimit{"L4", 72, "PC Part DB, NVIDIA L4: thermal design power (TDP) of 72 W"},
    CardLimit{"T4", 70, "Lenovo ThinkSystem ST650 V2 manual, technical rules for GPU: Tesla T4 TDP 70W"},
    CardLimit{"MI300X", 750, "MLPerf Inference v4.1, AMD system description: MI300X-NPS1-SPX-192GB-750W"},
    CardLimit{"HL-325L", 900,
              "The Register (2024-04-12) on Intel's Gaudi 3 white paper: HL-325L and HL-335 900 watts"},
};

/// Upper-case words: "NVIDIA A100-SXM4-80GB" is NVIDIA, A100, SXM4, 80GB; a name that has a hyphen itself is
/// kept whole too.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  const auto add = [&](std::string& word) {
    if (!word.empty()) words.push_back(word);
    word.clear();
  };
  std::string whole;
  std::string part;
  for (const char c : text) {
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    const bool letter = (upper >= 'A' && upper <= 'Z') || (upper >= '0' && upper <= '9');
    if (letter) {
      whole += upper;
      part += upper;
      continue;
    }
    add(part);
    if (c == '-')
      whole += c;
    else
      add(whole);
  }
  add(part);
  add(whole);
  return words;
}

}  // namespace

std::optional<Watts> card_power_limit(std::string_view model) {
  constexpr std::size_t kLongestModel = 256;
  const auto have = words_of(model.substr(0, kLongestModel));
  for (const auto& row : kCardLimits) {
    std::string_view rest = row.words;
    bool fits = true;
    while (!rest.empty() && fits) {
      const auto blank = rest.find(' ');
      fits = std::find(have.begin(), have.end(), rest.substr(0, blank)) != have.end();
      rest = blank == std::string_view::npos ? std::string_view{} : rest.substr(blank + 1);
    }
    if (fits) return Watts{row.watts};
  }
  return std::nullopt;
}

}  // namespace tidewatt::tasks
