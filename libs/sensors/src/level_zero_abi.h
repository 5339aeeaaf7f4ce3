// The part of Level Zero's system management (Sysman) that is used, declared by us from the facts of its
// public headers ze_api.h and zes_api.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidewatt::sensors::level_zero {

using Return = unsigned;  // a C enum
inline constexpr Return kSuccess = 0;
inline constexpr Return kDeviceLost = 0x70000001;
inline constexpr Return kLowPowerState = 0x70000007;
inline constexpr Return kNoPermission = 0x70010000;
inline constexpr Return kUninitialized = 0x78000001;
inline constexpr Return kUnsupportedFeature = 0x78000003;
inline constexpr std::uint32_t kInitGpuOnly = 1;
inline constexpr std::uint32_t kIntegrated = 1;  // of CoreProperties::flags
inline constexpr unsigned kCoreDeviceProperties = 3;

using Driver = void*;
using Device = void*;
using Power = void*;

enum StructureType : unsigned { kDeviceProperties = 1, kPciProperties = 2, kPowerProperties = 0xD };

struct CoreProperties {
  unsigned type;
  void* next;
  unsigned kind;
  std::uint32_t vendor_id, device_id, flags, subdevice_id, core_clock;
  std::uint64_t max_allocation;
  std::uint32_t max_contexts, max_queue_priority, threads_per_unit, simd_width, units_per_subslice,
      subslices_per_slice, slices;
  std::uint64_t timer_resolution;
  std::uint32_t timestamp_bits, kernel_timestamp_bits;
  std::uint8_t uuid[16];
  char name[256];
};
struct DeviceProperties {
  unsigned type;
  void* next;
  CoreProperties core;
  std::uint32_t subdevices;
  char serial[64], board[64], brand[64], model[64], vendor[64], driver[64];
};
struct PciProperties {
  unsigned type;
  void* next;
  std::uint32_t domain, bus, device, function;
  std::int32_t link_generation, link_width;
  std::int64_t max_bandwidth;
  std::uint8_t has_bandwidth, has_packets, has_replays;
};
struct PowerProperties {
  unsigned type;
  void* next;
  std::uint8_t on_subdevice;
  std::uint32_t subdevice_id;
  std::uint8_t can_control, has_threshold;
  std::int32_t default_limit, min_limit, max_limit;  // mW, -1 = not known
};
struct EnergyCounter {
  std::uint64_t energy;     // microjoules
  std::uint64_t timestamp;  // microseconds of the counter's own clock, when the energy was captured
};
struct SustainedLimit {
  std::uint8_t enabled;
  std::int32_t power;     // mW
  std::int32_t interval;  // ms
};
static_assert(sizeof(CoreProperties) == 368 && sizeof(DeviceProperties) == 776 &&
              sizeof(PciProperties) == 56 && sizeof(PowerProperties) == 40 && sizeof(EnergyCounter) == 16 &&
              sizeof(SustainedLimit) == 12);

struct Api {
  // either the first three, or with ZES_ENABLE_SYSMAN in the environment the second three
  Return (*sysman_init)(std::uint32_t flags) = nullptr;
  Return (*sysman_drivers)(std::uint32_t*, Driver*) = nullptr;
  Return (*sysman_devices)(Driver, std::uint32_t*, Device*) = nullptr;
  Return (*core_init)(std::uint32_t flags) = nullptr;
  Return (*core_drivers)(std::uint32_t*, Driver*) = nullptr;
  Return (*core_devices)(Driver, std::uint32_t*, Device*) = nullptr;

  Return (*device_properties)(Device, DeviceProperties*) = nullptr;
  Return (*pci_properties)(Device, PciProperties*) = nullptr;
  Return (*card_power)(Device, Power*) = nullptr;
  Return (*power_domains)(Device, std::uint32_t*, Power*) = nullptr;
  Return (*power_properties)(Power, PowerProperties*) = nullptr;
  Return (*energy)(Power, EnergyCounter*) = nullptr;
  Return (*limits)(Power, SustainedLimit*, void* burst, void* peak) = nullptr;
};

}  // namespace tidewatt::sensors::level_zero
