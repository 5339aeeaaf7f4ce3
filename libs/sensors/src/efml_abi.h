// The part of Enflame's EFML that is used, declared by us from the facts of its public header efml.h.
#pragma once

#include <cstdint>

namespace tidewatt::sensors::efml {

using Return = unsigned;  // a C enum
inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kDriverNotLoaded = 6;
inline constexpr Return kNoDevice = 12;
inline constexpr unsigned kTextSize = 128;

struct DeviceInfo {
  char name[kTextSize];
  std::uint32_t vendor_id, device_id, domain, bus, device, function, logic_id;
};
struct PowerInfo {
  float capability;   // W: the limit stands first
  float consumption;  // W
};
static_assert(sizeof(DeviceInfo) == 156 && sizeof(PowerInfo) == 8);

struct Api {
  Return (*init)(bool no_driver) = nullptr;
  void (*shutdown)() = nullptr;
  Return (*count)(std::uint32_t*) = nullptr;
  Return (*power)(std::uint32_t, PowerInfo*) = nullptr;
  Return (*info)(std::uint32_t, DeviceInfo*) = nullptr;
  Return (*uuid)(std::uint32_t, char*) = nullptr;
  Return (*usage)(std::uint32_t, float* percent) = nullptr;
  Return (*error_text)(Return, char*) = nullptr;
};

}  // namespace tidewatt::sensors::efml
