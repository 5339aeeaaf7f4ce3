// Whatever a caller sends: no crash, one-line errors, and answers that name each node once.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/k8s_json/extender.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static tidewatt::k8s_json::ExtenderReader reader;
  const auto args = reader.read({reinterpret_cast<const char*>(data), size});
  if (!args) {
    if (args.error().to_string().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const std::vector<std::optional<std::string>> none(args->nodes.size());
  const std::vector<int> zeros(args->nodes.size(), 0);
  const auto answer = filter_answer(*args, none);
  (void)prioritize_answer(*args, zeros);
  if (!args->by_name) return 0;
  tidewatt::k8s_json::ExtenderReader again;
  const auto same = again.read(answer);
  if (!same || same->nodes.size() != args->nodes.size()) std::abort();
  return 0;
}
