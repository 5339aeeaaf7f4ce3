// The part of Habana's HL-ML that is used, declared by us from the facts of its public header hlml.h.
#pragma once

namespace tidewatt::sensors::hlml {

using Return = unsigned;  // a C enum
inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kDriverNotLoaded = 9;
inline constexpr Return kLost = 15;
inline constexpr unsigned kTemperatureOnChip = 0;

using Device = void*;

struct PciInfo {
  unsigned bus;
  char bus_id[15];
  unsigned device, domain, pci_device_id;
  char link_speed[10], link_width[10];
  char later_versions[64];
};
struct Utilization {
  unsigned aip;  // percent
};
struct Memory {
  unsigned long long free, total, used;  // bytes
};

struct Api {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*count)(unsigned*) = nullptr;
  Return (*device)(unsigned, Device*) = nullptr;
  Return (*power)(Device, unsigned* milliwatts) = nullptr;
  Return (*limit)(Device, unsigned* milliwatts) = nullptr;
  Return (*energy)(Device, unsigned long long* millijoules) = nullptr;  // since the driver was loaded
  Return (*uuid)(Device, char*, unsigned) = nullptr;
  Return (*name)(Device, char*, unsigned) = nullptr;
  Return (*pci)(Device, PciInfo*) = nullptr;
  Return (*utilization)(Device, Utilization*) = nullptr;
  Return (*memory)(Device, Memory*) = nullptr;
  Return (*temperature)(Device, unsigned sensor, unsigned* celsius) = nullptr;
};

}  // namespace tidewatt::sensors::hlml
