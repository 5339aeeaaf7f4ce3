#include "shown.h"

namespace tidewatt::tasks {
namespace {

constexpr std::size_t kMostShown = 40;

}  // namespace

std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMostShown)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return text.size() > kMostShown ? out + "..." : out;
}

}  // namespace tidewatt::tasks
