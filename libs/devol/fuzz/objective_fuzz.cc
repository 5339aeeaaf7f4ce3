// Whatever a service says it promises: an objective or an error; an objective's text reads back as itself.
#include <cstdint>
#include <cstdlib>

#include "tidewatt/devol/objective.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt::devol;
  const auto objective = parse_objective({reinterpret_cast<const char*>(data), size});
  if (!objective) {
    if (objective.error().hint.empty()) std::abort();
    return 0;
  }
  const auto again = parse_objective(to_text(*objective));
  if (!again || *again != *objective) std::abort();
  return 0;
}
