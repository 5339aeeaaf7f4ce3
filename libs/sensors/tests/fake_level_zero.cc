// Level Zero's Sysman symbols. Energy in microjoules, its clock in microseconds. special: 1 = a part of the
// CPU; 2 = no card domain, the device's own domain behind one of a tile; 3 = tile domains only.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "../src/level_zero_abi.h"
#include "fake_cards.h"

using namespace tidewatt::sensors::level_zero;

extern "C" {

FakeVendor fake_vendor;

static unsigned index_of(void* handle) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(handle) & 0xFU) - 1;
}
static void* handle_of(unsigned index, unsigned kind) {
  return reinterpret_cast<void*>(std::uintptr_t{kind} << 8U | (index + 1));
}

unsigned zesInit(std::uint32_t) {
  ++fake_vendor.inits;
  return static_cast<unsigned>(fake_vendor.init_code);
}
unsigned zesDriverGet(std::uint32_t* count, void** drivers) {
  *count = 1;
  drivers[0] = &fake_vendor;
  return 0;
}
unsigned zesDeviceGet(void*, std::uint32_t* count, void** devices) {
  *count = fake_vendor.count;
  for (unsigned i = 0; i < *count; ++i) devices[i] = handle_of(i, 1);
  return 0;
}
unsigned zesDeviceGetProperties(void* device, DeviceProperties* properties) {
  const auto i = index_of(device);
  std::snprintf(properties->core.name, sizeof properties->core.name, "Fake Data Center GPU");
  std::memset(properties->core.uuid, static_cast<int>(0xa0 + i), sizeof properties->core.uuid);
  properties->core.flags = fake_vendor.cards[i].special == 1 ? kIntegrated : 0;
  return 0;
}
unsigned zesDevicePciGetProperties(void* device, PciProperties* pci) {
  pci->bus = fake_vendor.cards[index_of(device)].bus;
  return 0;
}
unsigned zesDeviceGetCardPowerDomain(void* device, void** power) {
  const auto i = index_of(device);
  if (fake_vendor.cards[i].special >= 2) return kUnsupportedFeature;
  *power = handle_of(i, 2);
  return 0;
}
unsigned zesDeviceEnumPowerDomains(void* device, std::uint32_t* count, void** domains) {
  const auto i = index_of(device);
  domains[0] = handle_of(i, 3);
  domains[1] = handle_of(i, fake_vendor.cards[i].special == 3 ? 3 : 2);
  *count = 2;
  return 0;
}
unsigned zesPowerGetProperties(void* power, PowerProperties* properties) {
  properties->on_subdevice = reinterpret_cast<std::uintptr_t>(power) >> 8U == 3 ? 1 : 0;
  return 0;
}
unsigned zesPowerGetEnergyCounter(void* power, EnergyCounter* counter) {
  auto& card = fake_vendor.cards[index_of(power)];
  ++card.touched;
  if (card.power_code != 0) return static_cast<unsigned>(card.power_code);
  *counter = {card.energy, card.clock};
  return 0;
}
unsigned zesPowerGetLimits(void* power, SustainedLimit* limit, void*, void*) {
  *limit = {1, static_cast<std::int32_t>(fake_vendor.cards[index_of(power)].limit), 1000};
  return 0;
}

}  // extern "C"
