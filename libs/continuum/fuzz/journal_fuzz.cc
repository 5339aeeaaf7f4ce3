// Whatever bytes a journal holds: decisions that come out the same, or an error.
#include <cstdint>

#include "tidewatt/continuum/record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)tidewatt::continuum::replay({reinterpret_cast<const char*>(data), size});
  return 0;
}
