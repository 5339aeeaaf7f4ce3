// Whatever the file of epochs holds: no crash, one-line errors, and a prediction that is finite, ordered and
// not negative.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/tasks/epoch_csv.h"
#include "tidewatt/tasks/prediction.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt::tasks;
  const auto table = read_epoch_csv({reinterpret_cast<const char*>(data), size});
  if (!table) {
    if (table.error().to_string().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  for (const std::int64_t horizon : {std::int64_t{1}, std::int64_t{100}, std::int64_t{1'000'000'000}}) {
    const auto said = predict_energy(table->epochs, horizon);
    if (!said) continue;
    const double low = said->low.value();
    const double energy = said->energy.value();
    const double high = said->high.value();
    if (!std::isfinite(high) || low < 0 || low > energy || energy > high) std::abort();
    if (said->seconds && !(said->seconds->value() >= 0 && std::isfinite(said->seconds->value())))
      std::abort();
  }
  return 0;
}
