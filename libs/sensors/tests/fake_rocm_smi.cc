// ROCm SMI's symbols. Power in microwatts; the counter's resolution is 15.3 uJ. special: 1 = an older
// library's card, which has an average only.
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "fake_cards.h"

extern "C" {

FakeVendor fake_vendor;

unsigned rsmi_init(std::uint64_t) {
  ++fake_vendor.inits;
  return static_cast<unsigned>(fake_vendor.init_code);
}
unsigned rsmi_shut_down() {
  ++fake_vendor.stops;
  return 0;
}
unsigned rsmi_num_monitor_devices(std::uint32_t* count) {
  *count = fake_vendor.count;
  return 0;
}
unsigned rsmi_dev_power_get(std::uint32_t i, std::uint64_t* power, unsigned* type) {
  auto& card = fake_vendor.cards[i];
  ++card.touched;
  *power = card.power_code == 0 ? card.power : 12345678;  // stale memory
  *type = card.special == 1 ? 0 : 1;
  return static_cast<unsigned>(card.power_code);
}
unsigned rsmi_dev_power_ave_get(std::uint32_t, std::uint32_t, std::uint64_t*) { return 2; }
unsigned rsmi_dev_power_cap_get(std::uint32_t i, std::uint32_t, std::uint64_t* cap) {
  *cap = fake_vendor.cards[i].limit;
  return 0;
}
unsigned rsmi_dev_energy_count_get(std::uint32_t i, std::uint64_t* count, float* resolution,
                                   std::uint64_t* time) {
  *count = fake_vendor.cards[i].energy;
  *resolution = 15.3F;
  *time = 1;
  return 0;
}
unsigned rsmi_dev_unique_id_get(std::uint32_t i, std::uint64_t* id) {
  *id = 0x18f28a86b3c0e900ULL + i;
  return 0;
}
unsigned rsmi_dev_name_get(std::uint32_t, char* text, std::size_t length) {
  std::snprintf(text, length, "Fake Instinct");
  return 0;
}
unsigned rsmi_dev_pci_id_get(std::uint32_t i, std::uint64_t* bdf) {
  *bdf = std::uint64_t{fake_vendor.cards[i].bus} << 8U | 3ULL << 28U;
  return 0;
}
unsigned rsmi_dev_busy_percent_get(std::uint32_t, std::uint32_t* percent) {
  *percent = 42;
  return 0;
}
unsigned rsmi_dev_memory_usage_get(std::uint32_t, int, std::uint64_t* used) {
  *used = 600;
  return 0;
}
unsigned rsmi_dev_temp_metric_get(std::uint32_t, std::uint32_t sensor, int, std::int64_t* value) {
  if (sensor == 0) return 2;
  *value = 51000;
  return 0;
}
unsigned rsmi_status_string(unsigned code, const char** text) {
  *text = code == 2 ? "RSMI_STATUS_NOT_SUPPORTED: not supported\nmore" : "error";
  return 0;
}

}  // extern "C"
