// Whatever a service answers: a spec, a state, or an error.
#include <cstdint>

#include "tidewatt/popol/devol_client.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  (void)tidewatt::popol::parse_spec(text);
  (void)tidewatt::popol::parse_state(text);
  return 0;
}
