// The part of Huawei's DCMI that is used, declared by us from the facts of its public header
// dcmi_interface_api.h.
#pragma once

namespace tidewatt::sensors::dcmi {

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kDeviceNotExist = -8008;
inline constexpr Return kNotReady = -8012;
inline constexpr Return kNotSupported = -8255;

inline constexpr int kMostCards = 64;
inline constexpr int kNpu = 0;  // unit type
inline constexpr int kVdie = 1;
inline constexpr int kUsageAicore = 2;

struct ChipInfo {
  unsigned char type[32], name[32], version[32];
  unsigned cores;
  char later_versions[64];
};
struct PcieInfo {
  unsigned vendor, subvendor, device_id, subdevice_id;
  int domain;
  unsigned bus, device, function;
  unsigned char reserved[32];
};
struct DieId {
  unsigned words[5];
};
static_assert(sizeof(PcieInfo) == 64);

struct Api {
  Return (*init)() = nullptr;
  Return (*cards)(int* count, int* list, int room) = nullptr;
  Return (*devices)(int card, int* count) = nullptr;
  Return (*type)(int card, int device, int* unit) = nullptr;
  Return (*power)(int card, int device, int* tenths) = nullptr;  // 0.1 W
  Return (*chip)(int card, int device, ChipInfo*) = nullptr;
  Return (*pcie)(int card, int device, PcieInfo*) = nullptr;
  Return (*die)(int card, int device, int kind, DieId*) = nullptr;
  Return (*temperature)(int card, int device, int* celsius) = nullptr;
  Return (*usage)(int card, int device, int part, unsigned* percent) = nullptr;
};

}  // namespace tidewatt::sensors::dcmi
