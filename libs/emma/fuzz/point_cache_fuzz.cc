// Whatever lies in the cache's folder: no crash, one-line errors, and what is taken is written and read the
// same.
#include "../src/point_cache.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt;
  const carbon::SeriesIdentity series{"DE", carbon::SignalKind::average, carbon::SignalBoundary::life_cycle,
                                      carbon::SignalBasis::consumption};
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto points = emma::parse_cache(text, series);
  if (!points) {
    if (points.error().to_string().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  carbon::SignalBook book{series};
  for (const auto& point : *points) book.restore(point);
  for (const auto& stored : book.everything())
    if (!(stored.point.intensity.value() >= 0) || stored.point.end <= stored.point.start) std::abort();
  const auto now = UtcTime{Milliseconds{1'773'144'000'000}};
  for (const auto& hour : book.hourly(now).hours)
    if (hour && !(*hour >= 0)) std::abort();
  const auto written = emma::cache_text(book);
  const auto again = emma::parse_cache(written, series);
  if (!again) std::abort();
  carbon::SignalBook same{series};
  for (const auto& point : *again) same.restore(point);
  if (emma::cache_text(same) != written) std::abort();
  return 0;
}
