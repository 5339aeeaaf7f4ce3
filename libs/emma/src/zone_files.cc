#include "zone_files.h"

#include <fmt/format.h>

#include "point_cache.h"
#include "tidewatt/base/log.h"

namespace tidewatt::emma {
namespace {

constexpr std::size_t kLargestCache = 64U << 20U;

}  // namespace

std::string ZoneFiles::path_of(const std::string& zone) const {
  return fmt::format("{}/{}.json", folder_, zone);
}

void ZoneFiles::load(Zone& zone) const {
  if (!kept()) return;
  const auto text = files_.read_text(path_of(zone.settings.zone), kLargestCache);
  if (!text) return;
  auto points = parse_cache(*text, zone.settings.identity);
  if (!points) {
    log::warning("a zone's carbon signals are begun anew",
                 {{"zone", zone.settings.zone}, {"error", points.error().to_string()}});
    return;
  }
  for (auto& point : *points) zone.book.restore(std::move(point));
}

void ZoneFiles::store(const std::string& zone, const std::string& text) {
  auto written = files_.make_folders(folder_);
  if (written) written = files_.write_atomically(path_of(zone), text);
  if (!written)
    log::warning("carbon signals can't be kept on disk",
                 {{"zone", zone}, {"error", written.error().to_string()}});
}

}  // namespace tidewatt::emma
