// Whatever a run's folder holds: a one-line refusal, or what is written back reads as the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/runner/files.h"

namespace {

template <class Parse>
void check(Parse parse, std::string_view text) {
  const auto read = parse(text);
  if (!read) {
    if (read.error().to_string().find('\n') != std::string::npos) std::abort();
    return;
  }
  const auto again = tidewatt::runner::to_text(*read);
  const auto same = parse(again);
  if (!same || tidewatt::runner::to_text(*same) != again) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check(tidewatt::runner::parse_order, text);
  check(tidewatt::runner::parse_record, text);
  check(tidewatt::runner::parse_plan, text);
  return 0;
}
