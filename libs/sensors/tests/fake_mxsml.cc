// MX-SML's symbols. Power in milliwatts, on three supplies. special: 1 = a virtual function.
#include <cstdio>

#include "../src/mxsml_abi.h"
#include "fake_cards.h"

using namespace tidewatt::sensors::mxsml;

extern "C" {

FakeVendor fake_vendor;

unsigned mxSmlInit() {
  ++fake_vendor.inits;
  return static_cast<unsigned>(fake_vendor.init_code);
}
unsigned mxSmlGetDeviceCount() { return fake_vendor.count; }
unsigned mxSmlGetDeviceInfo(unsigned i, DeviceInfo* info) {
  std::snprintf(info->bdf, sizeof info->bdf, "0000:%02x:00.0", fake_vendor.cards[i].bus);
  std::snprintf(info->uuid, sizeof info->uuid, "GPU-mx-%u", i);
  std::snprintf(info->name, sizeof info->name, "MXC500");
  info->brand = 2;
  info->mode = fake_vendor.cards[i].special == 1 ? kVirtualFunction : 0;
  return 0;
}
unsigned mxSmlGetBoardPowerInfo(unsigned i, unsigned* size, Way* ways) {
  auto& card = fake_vendor.cards[i];
  ++card.touched;
  if (card.power_code != 0) return static_cast<unsigned>(card.power_code);
  const auto whole = static_cast<unsigned>(card.power);
  *size = 3;
  ways[0] = {12'000, 1000, whole == 0xFFFFFFFFU ? whole : whole / 2};
  ways[1] = {12'000, 1000, whole == 0xFFFFFFFFU ? 5 : whole / 4};
  ways[2] = {12'000, 1000, whole == 0xFFFFFFFFU ? 5 : whole - whole / 2 - whole / 4};
  return 0;
}
unsigned mxSmlGetBoardPowerLimit(unsigned i, unsigned* limit) {
  *limit = static_cast<unsigned>(fake_vendor.cards[i].limit);
  return 0;
}
unsigned mxSmlGetTemperatureInfo(unsigned, unsigned, int* value) {
  *value = 5100;
  return 0;
}
unsigned mxSmlGetDeviceIpUsage(unsigned, unsigned part, int* percent) {
  *percent = part == kUsageXcore ? 42 : 7;
  return 0;
}
const char* mxSmlGetErrorString(unsigned) { return "fake error"; }

}  // extern "C"
