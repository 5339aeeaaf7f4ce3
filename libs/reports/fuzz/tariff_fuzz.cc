// Whatever stands in money.tariff: no crash, one-line errors, and at each hour of a week one of the prices
// given.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/reports/tariff.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt::reports;
  constexpr double kHighest = 1000;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto tariff = Tariff::parse(text);
  if (!tariff) {
    if (tariff.error().to_string().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const double base = tariff->price({0, 0});
  for (int weekday = 0; weekday < 7; ++weekday)
    for (int hour = 0; hour < 24; ++hour) {
      const double price = tariff->price({weekday, hour});
      if (!(std::abs(price) <= kHighest)) std::abort();
      if (tariff->flat() && price != base) std::abort();
    }
  return 0;
}
