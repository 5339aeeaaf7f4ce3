// The part of NVIDIA's management library that is used, declared by us from the facts of its documented
// binary interface (names, numbers, layouts). No vendor header is needed to build.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tidewatt/base/result.h"

namespace tidewatt::sensors::nvml {

using Return = int;  // a C enum
inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;
inline constexpr Return kDriverNotLoaded = 9;
inline constexpr Return kGpuIsLost = 15;
inline constexpr Return kLibraryMismatch = 18;

using Device = void*;

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct Utilization {
  unsigned gpu, memory;  // percent
};
struct Memory {
  unsigned long long total, free, used;  // bytes
};
union Value {
  double d;
  int si;
  unsigned ui;
  unsigned long ul;
  unsigned long long ull;
  long long sll;
  unsigned short us;
};
struct FieldValue {
  unsigned field_id;
  unsigned scope_id;
  long long timestamp;
  long long latency_us;
  int value_type;
  Return status;  // of this field alone: the call may succeed while it failed
  Value value;
};
enum ValueType { kDouble = 0, kUint = 1, kUlong = 2, kUlonglong = 3, kSigned = 4, kInt = 5, kUshort = 6 };

inline constexpr unsigned kFieldPowerInstant = 186;  // mW, scope 0 = the GPU
inline constexpr int kTemperatureGpu = 0;

static_assert(sizeof(FieldValue) == 40 && sizeof(PciInfo) == 68 && sizeof(Memory) == 24);

/// The functions found; a missing optional one is nullptr and its value unknown.
struct Api {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*count)(unsigned*) = nullptr;
  Return (*handle)(unsigned, Device*) = nullptr;
  Return (*power)(Device, unsigned*) = nullptr;
  // optional from here on
  Return (*uuid)(Device, char*, unsigned) = nullptr;
  Return (*name)(Device, char*, unsigned) = nullptr;
  Return (*pci)(Device, PciInfo*) = nullptr;
  Return (*energy)(Device, unsigned long long*) = nullptr;
  Return (*fields)(Device, int, FieldValue*) = nullptr;
  Return (*limit)(Device, unsigned*) = nullptr;
  Return (*utilization)(Device, Utilization*) = nullptr;
  Return (*memory)(Device, Memory*) = nullptr;
  Return (*temperature)(Device, int, unsigned*) = nullptr;
  Return (*throttle)(Device, unsigned long long*) = nullptr;
  const char* (*error_text)(Return) = nullptr;

  /// "GPU is lost (NVML 15)"
  [[nodiscard]] std::string explain(Return code) const;
};

/// The opened library; destruction closes it.
class Library {
 public:
  /// @error not_found when it can't be opened, with the loader's words; invalid_input when a needed symbol is
  /// missing
  static Result<std::unique_ptr<Library>> open(const std::string& path);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();
  [[nodiscard]] const Api& api() const { return api_; }

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_;
  Api api_;
};

}  // namespace tidewatt::sensors::nvml
