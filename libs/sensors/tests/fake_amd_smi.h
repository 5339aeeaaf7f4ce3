// AMD SMI's symbols with the structures of the version that FAKE_POWER_INFO names. Power in watts. special: 1
// = a card with an average only.
#include <cstdint>
#include <cstdio>

#include "../src/amd_smi_abi.h"
#include "fake_cards.h"

using tidewatt::sensors::amd_smi::EngineUsage;
using PowerInfo = tidewatt::sensors::amd_smi::FAKE_POWER_INFO;

extern "C" {

FakeVendor fake_vendor;

static FakeVendorCard& card_of(void* handle) {
  return fake_vendor.cards[reinterpret_cast<std::uintptr_t>(handle) - 1];
}

unsigned amdsmi_init(std::uint64_t) {
  ++fake_vendor.inits;
  return static_cast<unsigned>(fake_vendor.init_code);
}
unsigned amdsmi_shut_down() {
  ++fake_vendor.stops;
  return 0;
}
// One socket a card, as on real machines.
unsigned amdsmi_get_socket_handles(std::uint32_t* count, void** handles) {
  *count = fake_vendor.count;
  for (unsigned i = 0; handles != nullptr && i < *count; ++i)
    handles[i] = reinterpret_cast<void*>(std::uintptr_t{i} + 1);
  return 0;
}
unsigned amdsmi_get_processor_handles(void* socket, std::uint32_t* count, void** handles) {
  *count = 1;
  if (handles != nullptr) handles[0] = socket;
  return 0;
}
unsigned amdsmi_get_power_info(void* handle, void* out) {
  auto* info = static_cast<PowerInfo*>(out);
  auto& card = card_of(handle);
  ++card.touched;
  if (card.power_code != 0) return static_cast<unsigned>(card.power_code);
  *info = {};
  info->current_socket_power = card.special == 1 ? 0xFFFF : static_cast<std::uint32_t>(card.power);
  info->average_socket_power = card.special == 1 ? static_cast<std::uint32_t>(card.power) : 0xFFFF;
  info->power_limit = static_cast<std::uint32_t>(card.limit);
  return 0;
}
unsigned amdsmi_get_energy_count(void* handle, std::uint64_t* count, float* resolution, std::uint64_t*) {
  *count = card_of(handle).energy;
  *resolution = 15.3F;
  return 0;
}
unsigned amdsmi_get_gpu_device_bdf(void* handle, std::uint64_t* bdf) {
  *bdf = std::uint64_t{card_of(handle).bus} << 8U;
  return 0;
}
unsigned amdsmi_get_gpu_device_uuid(void* handle, unsigned* length, char* text) {
  *length = static_cast<unsigned>(
      std::snprintf(text, 38, "%02xff74a1-0000-1000-806f-aabbccddeeff", card_of(handle).bus));
  return 0;
}
unsigned amdsmi_get_gpu_activity(void*, EngineUsage* usage) {
  usage->gfx = 42;
  return 0;
}
unsigned amdsmi_status_code_to_string(unsigned, const char** text) {
  *text = "AMDSMI_STATUS_NOT_SUPPORTED";
  return 0;
}

}  // extern "C"
