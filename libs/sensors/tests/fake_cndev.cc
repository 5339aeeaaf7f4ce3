// CNDev's symbols. Power in watts.
#include <cstdint>
#include <cstring>

#include "../src/cndev_abi.h"
#include "fake_cards.h"

using namespace tidewatt::sensors::cndev;

extern "C" {

FakeVendor fake_vendor;

unsigned cndevInit(int) {
  ++fake_vendor.inits;
  return static_cast<unsigned>(fake_vendor.init_code);
}
unsigned cndevRelease() {
  ++fake_vendor.stops;
  return 0;
}
unsigned cndevGetDeviceCount(CardInfo* info) {
  if (info->version != kVersion) return 3;
  info->number = fake_vendor.count;
  return 0;
}
unsigned cndevGetDeviceHandleByIndex(int index, std::int32_t* handle) {
  *handle = 100 + index;
  return 0;
}
unsigned cndevGetPowerInfo(PowerInfo* info, std::int32_t handle) {
  auto& card = fake_vendor.cards[handle - 100];
  ++card.touched;
  if (info->version != kVersion) return 3;
  if (card.power_code != 0) return static_cast<unsigned>(card.power_code);
  info->usage = static_cast<int>(card.power);
  info->cap = static_cast<int>(card.limit);
  info->machine = 9999;
  info->thermal_design = 777;
  return 0;
}
unsigned cndevGetUUID(Uuid* uuid, std::int32_t handle) {
  std::memset(uuid->text, 0, sizeof uuid->text);
  std::memcpy(uuid->text, handle == 100 ? "MLU-aa" : "MLU-bb", 6);
  return 0;
}
unsigned cndevGetPCIeInfo(PcieInfo* info, std::int32_t handle) {
  info->bus = fake_vendor.cards[handle - 100].bus;
  return 0;
}
const char* cndevGetCardNameStringByDevId(std::int32_t) { return "MLU590"; }
const char* cndevGetErrorString(unsigned) { return "fake error"; }

}  // extern "C"
