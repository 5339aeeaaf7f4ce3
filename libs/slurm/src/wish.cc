#include "tidewatt/slurm/wish.h"

namespace tidewatt::slurm {
namespace {

constexpr std::string_view kMark = "carbon:";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

std::string_view letters_at(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_letter(text[n])) ++n;
  return text.substr(0, n);
}

}  // namespace

std::optional<Wish> wish_of(std::string_view comment) {
  for (auto at = comment.find(kMark); at != std::string_view::npos; at = comment.find(kMark, at + 1)) {
    if (at > 0 && is_word(comment[at - 1])) continue;
    auto rest = comment.substr(at + kMark.size());
    const auto name = letters_at(rest);
    if (name.empty()) continue;
    const auto tolerance = k8s::tolerance_from(name);
    if (!tolerance) return std::nullopt;
    rest.remove_prefix(name.size());
    return Wish{*tolerance, rest.starts_with(':') && letters_at(rest.substr(1)) == "requeue"};
  }
  return std::nullopt;
}

}  // namespace tidewatt::slurm
