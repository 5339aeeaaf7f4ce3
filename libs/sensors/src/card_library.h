// What one vendor's management library has to tell, and the source around it that all of them share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "library_sources.h"
#include "tidewatt/base/result.h"
#include "tidewatt/metering/plausibility.h"
#include "tidewatt/sensors/source.h"

namespace tidewatt::sensors {

/// How a look at a card went.
enum class Look {
  done,
  no_news,  ///< nothing new since the last look: the card is left out this time
  lost,     ///< the card is gone; look for cards again
  stale     ///< the driver went away under us: begin anew
};

/// Indices are those of the library, 0 .. count - 1. Not thread-safe.
class CardLibrary {
 public:
  virtual ~CardLibrary() = default;
  /// Opens the library and starts it.
  /// @error not_found, invalid_input as SharedLibrary; unavailable the library doesn't start
  virtual Status start() = 0;
  virtual void stop() = 0;
  /// @error unavailable
  virtual Result<unsigned> count() = 0;
  /// PCI address in any spelling, without waking the card; empty = not told.
  virtual std::string bus_id(unsigned index) = 0;
  /// Sets uuid and model where told. Asked once per card.
  virtual void identify(unsigned index, Reading& reading) = 0;
  /// Sets power or a reason (put_power), limit, util, memory, health.
  /// @param microjoules  the energy counter, where there is one
  virtual Look measure(unsigned index, Reading& reading, std::optional<std::uint64_t>& microjoules) = 0;
};

struct CardVendor {
  std::string_view source;      ///< "rocm-smi-lib"
  std::string_view vendor;      ///< "amd"
  std::string_view pci_vendor;  ///< "0x1002"
};

/// The loop around a library: it is started when a card is awake, cards are counted anew now and then, a
/// suspended one is not touched, a lost one stays listed as unknown.
std::unique_ptr<Source> make_card_source(CardVendor vendor, std::unique_ptr<CardLibrary> library,
                                         std::shared_ptr<const FileSystem> files,
                                         std::shared_ptr<const Clock> clock);

/// Judges a raw power and puts it, or the reason against it. The limit is in the reading already.
void put_power(Reading& reading, std::uint64_t raw, double watts_per_unit);
void put_limit(Reading& reading, std::uint64_t raw, double watts_per_unit);
void put_percent(Reading& reading, std::uint64_t percent);
void put_temperature(Reading& reading, double celsius);
/// A C text that may lack its end.
template <std::size_t N>
std::string bounded(const char (&text)[N]) {
  std::size_t length = 0;
  while (length < N && text[length] != '\0') ++length;
  return {static_cast<const char*>(text), length};
}

}  // namespace tidewatt::sensors
