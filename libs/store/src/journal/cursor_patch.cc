#include "cursor_patch.h"

#include <algorithm>

#include "../codec.h"

namespace tidewatt::store {
namespace {

/// Shorter equal stretches between two differences aren't worth their two lengths.
constexpr std::size_t kWorthwhile = 4;

}  // namespace

// A patch is pairs (bytes kept from the same place, literal bytes that stand there instead), for equal
// lengths only: a changed length moves everything behind it, and is rare (a holder came or went).
bool make_patch(std::string_view before, std::string_view after, std::string& out) {
  if (before.size() != after.size()) return false;
  const auto start = out.size();
  ByteWriter w(out);
  std::size_t at = 0;
  while (at < after.size()) {
    const auto differs =
        static_cast<std::size_t>(std::mismatch(before.begin() + static_cast<std::ptrdiff_t>(at), before.end(),
                                               after.begin() + static_cast<std::ptrdiff_t>(at))
                                     .first -
                                 before.begin());
    std::size_t end = differs;
    for (std::size_t equal = 0, i = differs; i < after.size() && equal < kWorthwhile; ++i) {
      equal = before[i] == after[i] ? equal + 1 : 0;
      if (equal == 0) end = i + 1;
    }
    w.u64(differs - at);
    w.text(after.substr(differs, end - differs));
    at = end;
    if (out.size() - start >= after.size()) {
      out.resize(start);
      return false;
    }
  }
  return true;
}

Result<std::string> patched(std::string_view before, std::string_view patch) {
  std::string after;
  after.reserve(before.size());
  ByteReader r(patch);
  while (!r.finished() && r.ok()) {
    const auto kept = r.u64();
    if (kept > before.size() - after.size()) break;
    after.append(before.substr(after.size(), kept));
    const auto literal = r.text();
    if (literal.size() > before.size() - after.size()) break;
    after.append(literal);
  }
  if (!r.finished() || after.size() != before.size())
    return fail(ErrorCode::corrupt, "a journal row's cursor patch doesn't fit the cursor before it",
                "restore the latest backup");
  return after;
}

}  // namespace tidewatt::store
