// Usual board power limits (maximum of the default setting). The documents behind the rows are not cited yet:
// nothing may be booked or promised by them, and history of the same model replaces them.
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
};

// Special forms stand before the general one.
constexpr std::array kCardLimits{
    // NVIDIA data sheets: B200 (DGX B200), H200, H100 (SXM, NVL, PCIe), A100, V100, L40S, L40, L4, A40, A30,
    // A10, T4, RTX
    CardLimit{"B200", 1000},
    CardLimit{"H200 NVL", 600},
    CardLimit{"H200", 700},
    CardLimit{"H100 PCIE", 350},
    CardLimit{"H100 NVL", 400},
    CardLimit{"H100", 700},
    CardLimit{"H800 PCIE", 350},
    CardLimit{"H800", 700},
    CardLimit{"H20", 400},
    CardLimit{"A100 PCIE 80GB", 300},
    CardLimit{"A100 PCIE", 250},
    CardLimit{"A100", 400},
    CardLimit{"A800 PCIE", 300},
    CardLimit{"A800", 400},
    CardLimit{"V100 PCIE", 250},
    CardLimit{"V100", 300},
    CardLimit{"L40S", 350},
    CardLimit{"L40", 300},
    CardLimit{"L4", 72},
    CardLimit{"A40", 300},
    CardLimit{"A30", 165},
    CardLimit{"A10", 150},
    CardLimit{"T4", 70},
    CardLimit{"RTX 4090", 450},
    CardLimit{"RTX 3090", 350},
    // AMD data sheets: Instinct MI300X, MI325X, MI250X, MI250, MI210, MI100
    CardLimit{"MI325X", 1000},
    CardLimit{"MI300X", 750},
    CardLimit{"MI250X", 560},
    CardLimit{"MI250", 560},
    CardLimit{"MI210", 300},
    CardLimit{"MI100", 300},
    // Intel data sheets: Gaudi 2 and 3 (HL-225, HL-325), Data Center GPU Max 1550
    CardLimit{"HL-325", 900},
    CardLimit{"HL-225", 600},
    CardLimit{"MAX 1550", 600},
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
