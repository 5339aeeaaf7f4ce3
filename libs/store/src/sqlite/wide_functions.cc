#include "wide_functions.h"

#include <sqlite3.h>

#include <cstring>
#include <optional>

namespace tidewatt::store {
namespace {

using Int = WideMicrojoules::Int;

std::optional<WideMicrojoules> parse(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return WideMicrojoules(Microjoules{sqlite3_value_int64(value)});
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
      return WideMicrojoules::parse({text, static_cast<std::size_t>(sqlite3_value_bytes(value))});
    }
    default:
      return std::nullopt;
  }
}

void refuse(sqlite3_context* context) {
  sqlite3_result_error(context, "an energy must be an integer or decimal text", -1);
}

void step(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  // sqlite aligns this to 8, a 128-bit integer wants 16: hence the copies.
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  void* state = sqlite3_aggregate_context(context, sizeof(Int));
  if (state == nullptr) return sqlite3_result_error_nomem(context);
  const auto value = parse(values[0]);
  if (!value) return refuse(context);
  Int sum = 0;
  std::memcpy(&sum, state, sizeof sum);
  if (__builtin_add_overflow(sum, value->raw(), &sum))
    return sqlite3_result_error(context, "wide_sum: beyond 128 bits", -1);
  std::memcpy(state, &sum, sizeof sum);
}

void finish(sqlite3_context* context) {
  const void* state = sqlite3_aggregate_context(context, 0);
  Int sum = 0;
  if (state != nullptr) std::memcpy(&sum, state, sizeof sum);
  const auto text = WideMicrojoules::from_raw(sum).to_string();
  sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

void add(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  const auto a = parse(values[0]);
  const auto b = parse(values[1]);
  if (!a || !b) return refuse(context);
  const auto sum = *a + *b;
  const auto narrow = static_cast<sqlite3_int64>(sum.raw());
  if (narrow == sum.raw()) return sqlite3_result_int64(context, narrow);
  const auto text = sum.to_string();
  sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

}  // namespace

int add_wide_functions(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const int code =
      sqlite3_create_function_v2(db, "wide_sum", 1, kFlags, nullptr, nullptr, step, finish, nullptr);
  if (code != SQLITE_OK) return code;
  return sqlite3_create_function_v2(db, "wide_add", 2, kFlags, nullptr, add, nullptr, nullptr, nullptr);
}

WideMicrojoules wide_from(sqlite3_value* value) { return parse(value).value_or(WideMicrojoules{}); }

}  // namespace tidewatt::store
