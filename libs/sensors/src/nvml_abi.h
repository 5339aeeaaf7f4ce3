// The part of NVIDIA's management library that is used, declared by us from the facts of its documented
// binary interface (names, numbers, layouts). No vendor header is needed to build.
#pragma once

namespace tidewatt::sensors::nvml {

using Return = int;  // a C enum
inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;
inline constexpr Return kInsufficientSize = 7;
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
/// A running process as the driver writes it, behind the first call's shorter form (pid, memory) and some
/// drivers' longer one: which it is can only be told from how far they write.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;  // bytes
  unsigned gpu_instance;           // kNoInstance without MIG
  unsigned compute_instance;
};
inline constexpr unsigned kNoInstance = 0xFFFFFFFFU;
inline constexpr unsigned kProcessStrides[] = {16, 24, 32};

/// Of a MIG device.
struct Attributes {
  unsigned multiprocessors, copy_engines, decoders, encoders, jpeg_engines, flow_engines;
  unsigned gpu_instance_slices, compute_instance_slices;
  unsigned long long memory_mib;
};
enum ValueType { kDouble = 0, kUint = 1, kUlong = 2, kUlonglong = 3, kSigned = 4, kInt = 5, kUshort = 6 };

inline constexpr unsigned kFieldPowerInstant = 186;  // mW, scope 0 = the GPU
inline constexpr int kTemperatureGpu = 0;

static_assert(sizeof(FieldValue) == 40 && sizeof(PciInfo) == 68 && sizeof(Memory) == 24 &&
              sizeof(ProcessInfo) == 24 && sizeof(Attributes) == 40);

}  // namespace tidewatt::sensors::nvml
