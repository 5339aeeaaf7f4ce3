// DCMI's symbols. Power in tenths of a watt. Each card has one NPU and its microcontroller; with card 0's
// special at 1, card 0 has two dies, of which the second has no value of its own.
#include <cstdio>

#include "../src/dcmi_abi.h"
#include "fake_cards.h"

using namespace tidewatt::sensors::dcmi;

extern "C" {

FakeVendor fake_vendor;

int dcmi_init() {
  ++fake_vendor.inits;
  return fake_vendor.init_code;
}
int dcmi_get_card_list(int* count, int* list, int) {
  *count = static_cast<int>(fake_vendor.count);
  for (int i = 0; i < *count; ++i) list[i] = i;
  return 0;
}
int dcmi_get_device_num_in_card(int card, int* count) {
  *count = fake_vendor.cards[card].special == 1 ? 3 : 2;
  return 0;
}
int dcmi_get_device_type(int card, int device, int* unit) {
  *unit = device == (fake_vendor.cards[card].special == 1 ? 2 : 1) ? 1 : kNpu;
  return 0;
}
int dcmi_get_device_power_info(int card, int device, int* tenths) {
  auto& state = fake_vendor.cards[card];
  ++state.touched;
  if (state.power_code != 0) return state.power_code;
  *tenths = device == 0 ? static_cast<int>(state.power) : 0x7FFFFFFF;
  return 0;
}
int dcmi_get_device_chip_info(int, int, ChipInfo* info) {
  std::snprintf(reinterpret_cast<char*>(info->name), sizeof info->name, "910B2C");
  return 0;
}
int dcmi_get_device_pcie_info_v2(int card, int, PcieInfo* info) {
  info->bus = fake_vendor.cards[card].bus;
  return 0;
}
int dcmi_get_device_die_v2(int card, int device, int, DieId* die) {
  die->words[0] = static_cast<unsigned>(card * 16 + device + 1);
  return 0;
}
int dcmi_get_device_temperature(int, int, int* celsius) {
  *celsius = 51;
  return 0;
}
int dcmi_get_device_utilization_rate(int, int, int, unsigned* percent) {
  *percent = 42;
  return 0;
}

}  // extern "C"
