// The part of AMD SMI that is used, declared by us from the facts of its public header amdsmi.h. Its
// structures change with the library's major version, which is also the number in its file name.
#pragma once

#include <cstdint>

namespace tidewatt::sensors::amd_smi {

using Return = unsigned;  // a C enum
inline constexpr Return kSuccess = 0;
inline constexpr Return kNotSupported = 2;
inline constexpr Return kNotInit = 32;
inline constexpr Return kNotFound = 31;
inline constexpr Return kDriverNotLoaded = 34;
inline constexpr std::uint64_t kInitGpus = 1U << 1U;
inline constexpr unsigned kUuidSize = 38;

using Socket = void*;
using Processor = void*;

/// Of version 24: watts and millivolts.
struct PowerInfo24 {
  std::uint32_t current_socket_power;
  std::uint32_t average_socket_power;
  std::uint32_t gfx_voltage, soc_voltage, mem_voltage;
  std::uint32_t power_limit;
  std::uint32_t reserved[11];
};
/// Of version 26.
struct PowerInfo26 {
  std::uint64_t socket_power;
  std::uint32_t current_socket_power;
  std::uint32_t average_socket_power;
  std::uint64_t gfx_voltage, soc_voltage, mem_voltage;
  std::uint32_t power_limit;
  std::uint64_t reserved[18];
};
struct EngineUsage {
  std::uint32_t gfx, umc, mm;  // percent
  std::uint32_t reserved[13];
};
static_assert(sizeof(PowerInfo24) == 68 && sizeof(PowerInfo26) == 192 && sizeof(EngineUsage) == 64);

struct Api {
  Return (*init)(std::uint64_t flags) = nullptr;
  Return (*shut_down)() = nullptr;
  Return (*sockets)(std::uint32_t*, Socket*) = nullptr;
  Return (*processors)(Socket, std::uint32_t*, Processor*) = nullptr;
  Return (*power)(Processor, void* info) = nullptr;  // the layout depends on the version
  Return (*energy)(Processor, std::uint64_t* counter, float* resolution, std::uint64_t* time) = nullptr;
  Return (*bdf)(Processor, std::uint64_t*) = nullptr;
  Return (*uuid)(Processor, unsigned* length, char*) = nullptr;
  Return (*activity)(Processor, EngineUsage*) = nullptr;
  Return (*status_text)(Return, const char**) = nullptr;
};

/// function in bits 2-0, device in 7-3, bus in 15-8, domain in 63-16
constexpr std::uint64_t domain_of(std::uint64_t bdf) { return bdf >> 16U; }
constexpr unsigned bus_of(std::uint64_t bdf) { return static_cast<unsigned>(bdf >> 8U) & 0xFFU; }
constexpr unsigned device_of(std::uint64_t bdf) { return static_cast<unsigned>(bdf >> 3U) & 0x1FU; }
constexpr unsigned function_of(std::uint64_t bdf) { return static_cast<unsigned>(bdf) & 0x7U; }

}  // namespace tidewatt::sensors::amd_smi
