// The part of Cambricon's CNDev that is used, declared by us from the facts of its public header cndev.h. Its
// structures grow at their end from version to version; the caller says which one it knows.
#pragma once

#include <cstdint>

namespace tidewatt::sensors::cndev {

using Return = unsigned;  // a C enum
inline constexpr Return kSuccess = 0;
inline constexpr Return kNoDriver = 1;
inline constexpr Return kUninitialized = 4;
inline constexpr Return kInvalidDevice = 6;
inline constexpr Return kNotSupported = 10;
inline constexpr int kVersion = 5;

using Device = std::int32_t;

struct CardInfo {
  int version;
  unsigned number;
};
struct PowerInfo {
  int version;
  int usage;  // W
  int cap;    // W
  int usage_decimal;
  int machine;  // W of the whole machine
  int cap_decimal;
  std::uint16_t thermal_design, instantaneous, instantaneous_decimal;
  char later_versions[64];
};
struct Uuid {
  int version;
  std::uint8_t text[37];
  std::uint64_t ncs;
  char later_versions[64];
};
struct PcieInfo {
  int version;
  unsigned subsystem_id, device_id;
  std::uint16_t vendor, subsystem_vendor;
  unsigned domain, bus, device, function;
  const char* physical_slot;
  int slot;
  char later_versions[64];
};

struct Api {
  Return (*init)(int reserved) = nullptr;
  Return (*release)() = nullptr;
  Return (*count)(CardInfo*) = nullptr;
  Return (*handle)(int index, Device*) = nullptr;  // older libraries take the index itself
  Return (*power)(PowerInfo*, Device) = nullptr;
  Return (*uuid)(Uuid*, Device) = nullptr;
  Return (*pcie)(PcieInfo*, Device) = nullptr;
  const char* (*name)(Device) = nullptr;
  const char* (*error_text)(Return) = nullptr;
};

}  // namespace tidewatt::sensors::cndev
