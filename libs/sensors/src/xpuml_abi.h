// The part of Kunlunxin's XPUML that is used, declared by us from the facts of its public header xpuml.h.
#pragma once

namespace tidewatt::sensors::xpuml {

using Return = unsigned;  // a C enum
inline constexpr Return kSuccess = 0;

using Device = void*;

struct PciInfo {
  unsigned domain, bus, device, function, pci_device_id, pci_subsystem_id;
  char bus_id[32];
  unsigned long long reserved[9];
};
struct Attributes {
  int arch, board, model;
  unsigned clusters, sdnn, dma, decoders, encoders, image, max_vf;
  unsigned long long memory_mib, l3_mib;
  unsigned long long serial[2];
  unsigned long long reserved[7];
};
struct Utilization {
  unsigned xpu, memory;  // percent
  unsigned long long reserved[15];
};
struct Memory {  // bytes
  unsigned long long page, total, free, used, l3_page, l3_total, l3_free, l3_used;
  unsigned long long reserved[8];
};
static_assert(sizeof(PciInfo) == 128 && sizeof(Attributes) == 128 && sizeof(Utilization) == 128 &&
              sizeof(Memory) == 128);

struct Api {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*count)(unsigned*) = nullptr;
  Return (*device)(unsigned, Device*) = nullptr;
  Return (*power)(Device, unsigned* milliwatts) = nullptr;
  Return (*name)(Device, char*, unsigned) = nullptr;
  Return (*pci)(Device, PciInfo*) = nullptr;
  Return (*attributes)(Device, Attributes*) = nullptr;
  Return (*utilization)(Device, Utilization*) = nullptr;
  Return (*memory)(Device, Memory*) = nullptr;
};

}  // namespace tidewatt::sensors::xpuml
