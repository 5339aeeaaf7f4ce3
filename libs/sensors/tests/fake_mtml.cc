// MTML's symbols. Power in milliwatts. card 0's special counts how often its handle was made.
#include <cstdint>
#include <cstdio>

#include "../src/mtml_abi.h"
#include "fake_cards.h"

using namespace tidewatt::sensors::mtml;

extern "C" {

FakeVendor fake_vendor;

static unsigned index_of(void* device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

unsigned mtmlLibraryInit(void** library) {
  ++fake_vendor.inits;
  *library = &fake_vendor;
  return static_cast<unsigned>(fake_vendor.init_code);
}
unsigned mtmlLibraryShutDown(void*) {
  ++fake_vendor.stops;
  return 0;
}
unsigned mtmlLibraryCountDevice(void*, unsigned* count) {
  *count = fake_vendor.count;
  return 0;
}
unsigned mtmlLibraryInitDeviceByIndex(void*, unsigned i, void** device) {
  ++fake_vendor.cards[i].special;
  *device = reinterpret_cast<void*>(std::uintptr_t{i} + 1);
  return 0;
}
unsigned mtmlDeviceGetPowerUsage(void* device, unsigned* power) {
  auto& card = fake_vendor.cards[index_of(device)];
  ++card.touched;
  if (card.power_code == 0) *power = static_cast<unsigned>(card.power);
  return static_cast<unsigned>(card.power_code);
}
unsigned mtmlDeviceGetUUID(void* device, char* text, unsigned length) {
  std::snprintf(text, length, "MT-%u", index_of(device));
  return 0;
}
unsigned mtmlDeviceGetName(void*, char* text, unsigned length) {
  std::snprintf(text, length, "MTT S4000");
  return 0;
}
unsigned mtmlDeviceGetPciInfo(void* device, PciInfo* info) {
  std::snprintf(info->sbdf, sizeof info->sbdf, "00000000:%02x:00.0", fake_vendor.cards[index_of(device)].bus);
  return 0;
}
unsigned mtmlDeviceInitGpu(void* device, void** gpu) {
  *gpu = device;
  return 0;
}
unsigned mtmlGpuGetUtilization(void*, unsigned* percent) {
  *percent = 42;
  return 0;
}
unsigned mtmlGpuGetTemperature(void*, unsigned* celsius) {
  *celsius = 51;
  return 0;
}

}  // extern "C"
