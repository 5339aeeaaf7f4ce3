#include "nvml_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tidewatt::sensors::nvml {
namespace {

template <class F>
void find(void* handle, F*& function, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* symbol = ::dlsym(handle, name)) {
      function = reinterpret_cast<F*>(symbol);
      return;
    }
}

}  // namespace

std::string Api::explain(Return code) const {
  const char* text = error_text != nullptr ? error_text(code) : nullptr;
  return fmt::format("{} (NVML {})", text != nullptr ? text : "error", code);
}

Result<std::unique_ptr<Library>> Library::open(const std::string& path) {
  // LOCAL: other vendors' libraries may export the same names.
  void* handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return fail(ErrorCode::not_found, fmt::format("NVML can't be opened: {}", why != nullptr ? why : path),
                "install NVIDIA's driver, or mount its library into the container");
  }
  std::unique_ptr<Library> library{new Library(handle)};
  Api& api = library->api_;
  find(handle, api.init, {"nvmlInit_v2", "nvmlInit"});
  find(handle, api.shutdown, {"nvmlShutdown"});
  find(handle, api.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  find(handle, api.handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  find(handle, api.power, {"nvmlDeviceGetPowerUsage"});
  find(handle, api.uuid, {"nvmlDeviceGetUUID"});
  find(handle, api.name, {"nvmlDeviceGetName"});
  find(handle, api.pci, {"nvmlDeviceGetPciInfo_v3"});
  find(handle, api.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(handle, api.fields, {"nvmlDeviceGetFieldValues"});
  find(handle, api.limit, {"nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"});
  find(handle, api.utilization, {"nvmlDeviceGetUtilizationRates"});
  find(handle, api.memory, {"nvmlDeviceGetMemoryInfo"});
  find(handle, api.temperature, {"nvmlDeviceGetTemperature"});
  find(handle, api.throttle,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(handle, api.compute_processes,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
        "nvmlDeviceGetComputeRunningProcesses"});
  find(handle, api.graphics_processes,
       {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2",
        "nvmlDeviceGetGraphicsRunningProcesses"});
  find(handle, api.mps_processes,
       {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2",
        "nvmlDeviceGetMPSComputeRunningProcesses"});
  find(handle, api.mig_count, {"nvmlDeviceGetMaxMigDeviceCount"});
  find(handle, api.mig_device, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  find(handle, api.gpu_instance, {"nvmlDeviceGetGpuInstanceId"});
  find(handle, api.compute_instance, {"nvmlDeviceGetComputeInstanceId"});
  find(handle, api.attributes, {"nvmlDeviceGetAttributes_v2"});
  find(handle, api.error_text, {"nvmlErrorString"});
  if (api.init == nullptr || api.shutdown == nullptr || api.count == nullptr || api.handle == nullptr ||
      api.power == nullptr)
    return fail(ErrorCode::invalid_input, fmt::format("{}: lacks NVML's basic functions", path),
                "is it NVIDIA's libnvidia-ml.so.1?");
  return library;
}

Library::~Library() { ::dlclose(handle_); }

}  // namespace tidewatt::sensors::nvml
