#include "tidewatt/k8s/tolerance.h"

#include <algorithm>
#include <array>

namespace tidewatt::k8s {
namespace {

constexpr std::array kAll{Tolerance::immediate, Tolerance::daily, Tolerance::weekly, Tolerance::monthly};

bool same_ignoring_case(std::string_view lower_case, std::string_view text) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::equal(lower_case.begin(), lower_case.end(), text.begin(), text.end(),
                    [&](char expected, char c) { return expected == lower(c); });
}

}  // namespace

std::string_view to_string(Tolerance tolerance) {
  switch (tolerance) {
    case Tolerance::immediate:
      return "immediate";
    case Tolerance::daily:
      return "daily";
    case Tolerance::weekly:
      return "weekly";
    case Tolerance::monthly:
      break;
  }
  return "monthly";
}

std::optional<Tolerance> tolerance_from(std::string_view label) {
  const auto* found = std::find_if(kAll.begin(), kAll.end(),
                                   [&](Tolerance one) { return same_ignoring_case(to_string(one), label); });
  return found == kAll.end() ? std::nullopt : std::optional{*found};
}

Milliseconds slack_of(Tolerance tolerance) {
  using std::chrono::hours;
  switch (tolerance) {
    case Tolerance::immediate:
      return Milliseconds{0};
    case Tolerance::daily:
      return hours{24};
    case Tolerance::weekly:
      return hours{24 * 7};
    case Tolerance::monthly:
      break;
  }
  return hours{24 * 30};
}

}  // namespace tidewatt::k8s
