// EFML's symbols. Power in watts.
#include <cstdint>
#include <cstdio>

#include "../src/efml_abi.h"
#include "fake_cards.h"

using namespace tidewatt::sensors::efml;

extern "C" {

FakeVendor fake_vendor;

unsigned EfmlInit(bool) {
  ++fake_vendor.inits;
  return static_cast<unsigned>(fake_vendor.init_code);
}
void EfmlShutdown() { ++fake_vendor.stops; }
unsigned EfmlGetDevCount(std::uint32_t* count) {
  *count = fake_vendor.count;
  return 0;
}
unsigned EfmlGetDevPwr(std::uint32_t i, PowerInfo* info) {
  auto& card = fake_vendor.cards[i];
  ++card.touched;
  if (card.power_code != 0) return static_cast<unsigned>(card.power_code);
  *info = {static_cast<float>(card.limit), static_cast<float>(card.power)};
  return 0;
}
unsigned EfmlGetDevInfo(std::uint32_t i, DeviceInfo* info) {
  *info = {};
  info->bus = fake_vendor.cards[i].bus;
  std::snprintf(info->name, sizeof info->name, "S60");
  return 0;
}
unsigned EfmlGetDevUuid(std::uint32_t i, char* text) {
  std::snprintf(text, 16, "EF-%u", i);
  return 0;
}
unsigned EfmlGetDevDtuUsage(std::uint32_t, float* percent) {
  *percent = 42;
  return 0;
}

}  // extern "C"
