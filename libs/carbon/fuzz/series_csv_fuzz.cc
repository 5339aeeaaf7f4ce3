// Whatever a series file holds: no crash, sane hours, one-line errors and notes.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/carbon/hourly_series.h"

namespace {

void check(const std::vector<std::string>& notes) {
  for (const auto& note : notes)
    if (note.empty() || note.find('\n') != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt::carbon;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto read = read_series_csv(text, "ci")) {
    check(read->notes);
    if (read->series.hours.empty() || !read->series.hours.back()) std::abort();
    for (const auto& hour : read->series.hours)
      if (hour && !(*hour >= 0 && *hour <= 1e5)) std::abort();
    if (stuck_hours(read->series).size() != read->series.hours.size()) std::abort();
  } else if (read.error().to_string().find('\n') != std::string::npos) {
    std::abort();
  }
  if (const auto read = read_weather_csv(text)) {
    check(read->notes);
    for (const auto& column : read->table.columns)
      if (column.size() != read->table.columns.front().size()) std::abort();
  }
  return 0;
}
