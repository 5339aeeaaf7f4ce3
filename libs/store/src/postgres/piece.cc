#include "piece.h"

#include "../codec.h"

namespace tidewatt::store::pg {
namespace {

constexpr std::uint8_t kRowVersion = 1;

}  // namespace

void begin_row(std::string& row) {
  row.clear();
  ByteWriter(row).byte(kRowVersion);
}

void append_piece(std::string& row, std::uint64_t from, const Changes& changes, std::string& scratch) {
  scratch.clear();
  encode(changes, scratch);
  ByteWriter w(row);
  w.u64(from);
  w.text(scratch);
}

Status read_row(std::string_view row, const std::function<Status(std::uint64_t, Changes&&)>& take) {
  ByteReader r(row);
  if (const auto version = r.byte(); version != kRowVersion)
    return fail(ErrorCode::corrupt, "a journal row has version " + std::to_string(version),
                "was it written by a newer tidewatt?");
  while (r.ok() && !r.finished()) {
    const auto from = r.u64();
    const auto bytes = r.text();
    if (!r.ok()) break;
    TW_TRY(auto changes, decode_changes(bytes));
    if (changes.cursors.size() != 1)
      return fail(ErrorCode::corrupt, "a journal row's piece moves no cursor", "restore the latest backup");
    TW_TRY_STATUS(take(from, std::move(changes)));
  }
  if (!r.finished())
    return fail(ErrorCode::corrupt, "a journal row is truncated or garbled", "restore the latest backup");
  return {};
}

}  // namespace tidewatt::store::pg
