// The part of MetaX's MX-SML that is used, declared by us from the facts of its public header MxSml.h.
#pragma once

namespace tidewatt::sensors::mxsml {

using Return = unsigned;  // a C enum
inline constexpr Return kSuccess = 0;
inline constexpr Return kNoDevice = 2;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kInvalidDevice = 6;

inline constexpr unsigned kHotspot = 0;
inline constexpr unsigned kBrandN = 1;
inline constexpr unsigned kVirtualFunction = 2;
inline constexpr unsigned kUsageDla = 0;
inline constexpr unsigned kUsageXcore = 4;
inline constexpr unsigned kMostWays = 8;  // two or three are documented

struct DeviceInfo {
  unsigned device_id;
  unsigned type;
  char bdf[32];
  unsigned gpu_id, node_id;
  char uuid[96];
  unsigned brand, mode;
  char name[32];
};
/// One of the board's supplies.
struct Way {
  unsigned voltage;  // mV
  unsigned current;  // mA
  unsigned power;    // mW
};
struct MemoryInfo {  // KiB
  long visible_total, visible_used, total, used, xtt_total, xtt_used;
};
static_assert(sizeof(DeviceInfo) == 184 && sizeof(Way) == 12 && sizeof(MemoryInfo) == 48);

struct Api {
  Return (*init)() = nullptr;
  unsigned (*count)() = nullptr;
  Return (*device)(unsigned, DeviceInfo*) = nullptr;
  Return (*power)(unsigned, unsigned* ways, Way*) = nullptr;
  Return (*limit)(unsigned, unsigned* milliwatts) = nullptr;
  Return (*temperature)(unsigned, unsigned sensor, int* hundredths) = nullptr;
  Return (*usage)(unsigned, unsigned part, int* percent) = nullptr;
  Return (*memory)(unsigned, MemoryInfo*) = nullptr;
  const char* (*error_text)(Return) = nullptr;
};

}  // namespace tidewatt::sensors::mxsml
