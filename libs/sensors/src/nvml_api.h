// NVIDIA's management library, opened at run time.
#pragma once

#include <memory>
#include <string>

#include "nvml_abi.h"
#include "tidewatt/base/result.h"

namespace tidewatt::sensors::nvml {

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
  // void*: the layout depends on the driver
  Return (*compute_processes)(Device, unsigned*, void*) = nullptr;
  Return (*graphics_processes)(Device, unsigned*, void*) = nullptr;
  Return (*mps_processes)(Device, unsigned*, void*) = nullptr;
  Return (*mig_count)(Device, unsigned*) = nullptr;
  Return (*mig_device)(Device, unsigned, Device*) = nullptr;
  Return (*gpu_instance)(Device, unsigned*) = nullptr;
  Return (*compute_instance)(Device, unsigned*) = nullptr;
  Return (*attributes)(Device, Attributes*) = nullptr;
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
