// The part of ROCm SMI that is used, declared by us from the facts of its public header rocm_smi.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidewatt::sensors::rocm_smi {

using Return = unsigned;  // a C enum
inline constexpr Return kSuccess = 0;
inline constexpr Return kNotSupported = 2;
inline constexpr Return kInitError = 8;

inline constexpr std::uint32_t kEdgeTemperature = 0;
inline constexpr std::uint32_t kJunctionTemperature = 1;
inline constexpr int kCurrentTemperature = 0;
inline constexpr int kVram = 0;
inline constexpr unsigned kInvalidPower = 0xFFFFFFFFU;  // of the type that rsmi_dev_power_get sets

struct Api {
  Return (*init)(std::uint64_t flags) = nullptr;
  Return (*shut_down)() = nullptr;
  Return (*count)(std::uint32_t*) = nullptr;
  Return (*power_cap)(std::uint32_t, std::uint32_t sensor, std::uint64_t* microwatts) = nullptr;
  // one of these three
  Return (*power)(std::uint32_t, std::uint64_t* microwatts, unsigned* type) = nullptr;
  Return (*socket_power)(std::uint32_t, std::uint64_t* microwatts) = nullptr;
  Return (*average_power)(std::uint32_t, std::uint32_t sensor, std::uint64_t* microwatts) = nullptr;
  // the counter times the resolution is in microjoules, the time in nanoseconds
  Return (*energy)(std::uint32_t, std::uint64_t* counter, float* resolution, std::uint64_t* time) = nullptr;
  Return (*unique_id)(std::uint32_t, std::uint64_t*) = nullptr;
  Return (*name)(std::uint32_t, char*, std::size_t) = nullptr;
  Return (*pci_id)(std::uint32_t, std::uint64_t*) = nullptr;
  Return (*busy)(std::uint32_t, std::uint32_t* percent) = nullptr;
  Return (*memory_used)(std::uint32_t, int type, std::uint64_t* bytes) = nullptr;
  Return (*temperature)(std::uint32_t, std::uint32_t sensor, int metric,
                        std::int64_t* millidegrees) = nullptr;
  Return (*status_text)(Return, const char**) = nullptr;
};

/// domain in bits 63-32, partition in 31-28, bus in 15-8, device in 7-3, function in 2-0
constexpr std::uint32_t domain_of(std::uint64_t bdf) { return static_cast<std::uint32_t>(bdf >> 32U); }
constexpr unsigned bus_of(std::uint64_t bdf) { return static_cast<unsigned>(bdf >> 8U) & 0xFFU; }
constexpr unsigned device_of(std::uint64_t bdf) { return static_cast<unsigned>(bdf >> 3U) & 0x1FU; }
constexpr unsigned function_of(std::uint64_t bdf) { return static_cast<unsigned>(bdf) & 0x7U; }

}  // namespace tidewatt::sensors::rocm_smi
