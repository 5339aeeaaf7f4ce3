// HL-ML's symbols. Power in milliwatts, energy in millijoules.
#include <cstdint>
#include <cstdio>

#include "../src/hlml_abi.h"
#include "fake_cards.h"

using namespace tidewatt::sensors::hlml;

extern "C" {

FakeVendor fake_vendor;

static FakeVendorCard& card_of(void* device) {
  return fake_vendor.cards[reinterpret_cast<std::uintptr_t>(device) - 1];
}

unsigned hlml_init() {
  ++fake_vendor.inits;
  return static_cast<unsigned>(fake_vendor.init_code);
}
unsigned hlml_shutdown() {
  ++fake_vendor.stops;
  return 0;
}
unsigned hlml_device_get_count(unsigned* count) {
  *count = fake_vendor.count;
  return 0;
}
unsigned hlml_device_get_handle_by_index(unsigned i, void** device) {
  *device = reinterpret_cast<void*>(std::uintptr_t{i} + 1);
  return 0;
}
unsigned hlml_device_get_power_usage(void* device, unsigned* power) {
  auto& card = card_of(device);
  ++card.touched;
  if (card.power_code == 0) *power = static_cast<unsigned>(card.power);
  return static_cast<unsigned>(card.power_code);
}
unsigned hlml_device_get_power_management_default_limit(void* device, unsigned* limit) {
  *limit = static_cast<unsigned>(card_of(device).limit);
  return 0;
}
unsigned hlml_device_get_total_energy_consumption(void* device, unsigned long long* energy) {
  *energy = card_of(device).energy;
  return 0;
}
unsigned hlml_device_get_uuid(void* device, char* text, unsigned length) {
  std::snprintf(text, length, "HL-%02x", card_of(device).bus);
  return 0;
}
unsigned hlml_device_get_name(void*, char* text, unsigned length) {
  std::snprintf(text, length, "HL-225");
  return 0;
}
unsigned hlml_device_get_pci_info(void* device, PciInfo* info) {
  std::snprintf(info->bus_id, sizeof info->bus_id, "0000:%02x:00.0", card_of(device).bus);
  return 0;
}
unsigned hlml_device_get_utilization_rates(void*, Utilization* utilization) {
  utilization->aip = 42;
  return 0;
}
unsigned hlml_device_get_temperature(void*, unsigned, unsigned* celsius) {
  *celsius = 51;
  return 0;
}

}  // extern "C"
