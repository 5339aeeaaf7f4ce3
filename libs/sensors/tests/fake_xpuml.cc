// XPUML's symbols. Power in milliwatts. special: the board's serial number, 0 = one of its own.
#include <cstdint>
#include <cstdio>

#include "../src/xpuml_abi.h"
#include "fake_cards.h"

using namespace tidewatt::sensors::xpuml;

extern "C" {

FakeVendor fake_vendor;

static FakeVendorCard& card_of(void* device) {
  return fake_vendor.cards[reinterpret_cast<std::uintptr_t>(device) - 1];
}

unsigned xpumlInit() {
  ++fake_vendor.inits;
  return static_cast<unsigned>(fake_vendor.init_code);
}
unsigned xpumlShutdown() {
  ++fake_vendor.stops;
  return 0;
}
unsigned xpumlDeviceGetCount(unsigned* count) {
  *count = fake_vendor.count;
  return 0;
}
unsigned xpumlDeviceGetHandleByIndex(unsigned i, void** device) {
  *device = reinterpret_cast<void*>(std::uintptr_t{i} + 1);
  return 0;
}
unsigned xpumlDeviceGetPowerUsage(void* device, unsigned* power) {
  auto& card = card_of(device);
  ++card.touched;
  if (card.power_code == 0) *power = static_cast<unsigned>(card.power);
  return static_cast<unsigned>(card.power_code);
}
unsigned xpumlDeviceGetName(void*, char* text, unsigned length) {
  std::snprintf(text, length, "P800");
  return 0;
}
unsigned xpumlDeviceGetPciInfo(void* device, PciInfo* info) {
  std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", card_of(device).bus);
  return 0;
}
unsigned xpumlDeviceGetAttributes(void* device, Attributes* attributes) {
  const auto& card = card_of(device);
  attributes->serial[0] = card.special != 0 ? static_cast<unsigned>(card.special) : card.bus;
  return 0;
}
unsigned xpumlDeviceGetUtilizationRates(void*, Utilization* utilization) {
  utilization->xpu = 42;
  return 0;
}

}  // extern "C"
