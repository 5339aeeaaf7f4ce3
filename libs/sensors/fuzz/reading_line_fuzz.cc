// Whatever a probe process answers: no crash, one-line errors, and what was understood is written back the
// same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/sensors/isolated.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt::sensors;
  const auto look = look_from_answer({reinterpret_cast<const char*>(data), size});
  if (!look) return 0;
  const auto line = to_answer(look);
  if (line.find('\n') != std::string::npos) std::abort();
  const auto again = look_from_answer(line);
  if (!again || to_answer(again) != line) std::abort();
  return 0;
}
