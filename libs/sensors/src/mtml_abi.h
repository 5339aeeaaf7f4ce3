// The part of Moore Threads' MTML that is used, declared by us from the facts of its public header mtml.h.
#pragma once

namespace tidewatt::sensors::mtml {

using Return = unsigned;  // a C enum
inline constexpr Return kSuccess = 0;
inline constexpr Return kDriverNotLoaded = 1;
inline constexpr Return kNotSupported = 4;
inline constexpr Return kNotFound = 7;

using Library = void*;
using Device = void*;
using Gpu = void*;

struct PciInfo {
  char sbdf[32];
  unsigned segment, bus, device, pci_device_id, pci_subsystem_id, bus_width;
  float max_speed, current_speed;
  unsigned max_width, current_width, max_generation, current_generation;
  int reserved[6];
};
static_assert(sizeof(PciInfo) == 104);

struct Api {
  Return (*init)(Library*) = nullptr;
  Return (*shut_down)(Library) = nullptr;
  Return (*count)(Library, unsigned*) = nullptr;
  Return (*device)(Library, unsigned, Device*) = nullptr;
  Return (*power)(Device, unsigned* milliwatts) = nullptr;
  Return (*uuid)(Device, char*, unsigned) = nullptr;
  Return (*name)(Device, char*, unsigned) = nullptr;
  Return (*pci)(Device, PciInfo*) = nullptr;
  Return (*gpu)(Device, Gpu*) = nullptr;
  Return (*utilization)(Gpu, unsigned* percent) = nullptr;
  Return (*temperature)(Gpu, unsigned* celsius) = nullptr;
  const char* (*error_text)(Return) = nullptr;
};

}  // namespace tidewatt::sensors::mtml
