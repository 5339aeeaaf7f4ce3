// A management library with the real one's symbols and a state that tests set.
#include "fake_nvml.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "../src/nvml_abi.h"

using namespace tidewatt::sensors::nvml;

extern "C" {

FakeNvml fake_nvml;

// For a process that can't set the state: FAKE_NVML_CARDS cards of 300 W, and FAKE_NVML_TROUBLE names a file
// with what goes wrong at the next look at a card's power.
__attribute__((constructor)) static void from_environment() {
  const char* cards = std::getenv("FAKE_NVML_CARDS");
  if (cards == nullptr) return;
  static char uuids[8][16];
  static char bus_ids[8][24];
  std::puts("fake NVML: loaded");  // libraries do print
  fake_nvml.count = static_cast<unsigned>(std::strtoul(cards, nullptr, 10)) & 0xFU;
  if (fake_nvml.count > 8) fake_nvml.count = 8;
  for (unsigned i = 0; i < fake_nvml.count; ++i) {
    std::snprintf(uuids[i], sizeof uuids[i], "GPU-%u", i);
    std::snprintf(bus_ids[i], sizeof bus_ids[i], "00000000:%02X:00.0", 0x80 + i);
    fake_nvml.cards[i] = {uuids[i], bus_ids[i], 0, 0, 0, 300'000, 300'000, 700'000, 0, 0};
  }
  fake_nvml.process_stride = 24;
}

static void make_trouble() {
  const char* path = std::getenv("FAKE_NVML_TROUBLE");
  std::FILE* file = path != nullptr ? std::fopen(path, "r") : nullptr;
  if (file == nullptr) return;
  char what[16] = {};
  const bool told = std::fscanf(file, "%15s", static_cast<char*>(what)) == 1;
  std::fclose(file);
  if (!told) return;
  const auto is = [&](const char* name) { return std::strcmp(static_cast<const char*>(what), name) == 0; };
  if (is("segv")) std::raise(SIGSEGV);
  if (is("abort")) std::abort();
  if (is("exit")) std::exit(3);
  if (is("print")) std::puts("NVML: garbage\nok");
  if (is("print")) std::fflush(stdout);
  while (is("hang")) std::this_thread::sleep_for(std::chrono::milliseconds{100});
}

static unsigned long long millijoules_since_boot(unsigned milliwatts) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return static_cast<unsigned long long>(ms) * milliwatts / 1000;
}

static FakeCard& card(Device device) { return fake_nvml.cards[reinterpret_cast<std::uintptr_t>(device) - 1]; }

int nvmlInit_v2() {
  ++fake_nvml.inits;
  return fake_nvml.init_code;
}
int nvmlShutdown() {
  ++fake_nvml.shutdowns;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = fake_nvml.count;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  ++fake_nvml.cards[index].touched;
  *device = reinterpret_cast<Device>(static_cast<std::uintptr_t>(index) + 1);
  return 0;
}
int nvmlDeviceGetUUID(Device device, char* text, unsigned length) {
  std::snprintf(text, length, "%s", card(device).uuid);
  return 0;
}
int nvmlDeviceGetName(Device, char* text, unsigned length) {
  std::snprintf(text, length, "%s", "Fake Card");
  return 0;
}
int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
  std::snprintf(pci->bus_id, sizeof pci->bus_id, "%s", card(device).bus_id);
  return 0;
}
int nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  ++card(device).touched;
  make_trouble();
  while (fake_nvml.hang) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  if (card(device).power_code == 0) *milliwatts = card(device).power_mw;
  return card(device).power_code;
}
int nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoules) {
  if (card(device).energy_code == 0)
    *millijoules =
        card(device).energy_mj != 0 ? card(device).energy_mj : millijoules_since_boot(card(device).power_mw);
  return card(device).energy_code;
}
int nvmlDeviceGetFieldValues(Device device, int count, FieldValue* fields) {
  make_trouble();
  for (int i = 0; i < count; ++i) {
    fields[i].status = fields[i].field_id == kFieldPowerInstant ? card(device).instant_code : kNotSupported;
    fields[i].value_type = kUint;
    fields[i].value.ui = card(device).instant_mw;  // written even when the status is an error: stale memory
  }
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* milliwatts) {
  *milliwatts = card(device).limit_mw;
  return 0;
}
int nvmlDeviceGetUtilizationRates(Device, Utilization* util) {
  util->gpu = 42;
  util->memory = 7;
  return fake_nvml.util_code;
}
int nvmlDeviceGetMemoryInfo(Device, Memory* memory) {
  *memory = {1000, 400, 600};
  return 0;
}
int nvmlDeviceGetTemperature(Device, int, unsigned* celsius) {
  *celsius = 51;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Device, unsigned long long* reasons) {
  *reasons = 4;
  return 0;
}
static int list(FakeProcessList& list, Device device, unsigned* count, void* out) {
  ++list.calls;
  if (list.code != 0) return list.code;
  const unsigned there = device == reinterpret_cast<Device>(std::uintptr_t{1}) ? list.count : 0;
  const unsigned room = *count;
  *count = there;
  if (room < there) return kInsufficientSize;
  const unsigned stride = fake_nvml.process_stride;
  for (unsigned i = 0; i < there; ++i) {
    const auto& p = list.processes[i];
    unsigned char* entry = static_cast<unsigned char*>(out) + std::size_t{i} * stride;
    std::memset(entry, 0, stride);
    std::memcpy(entry, &p.pid, 4);
    std::memcpy(entry + 8, &p.memory, 8);
    if (stride >= 24) std::memcpy(entry + 16, &p.gpu_instance, 8);
  }
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, void* out) {
  return list(fake_nvml.compute, device, count, out);
}
int nvmlDeviceGetGraphicsRunningProcesses_v2(Device device, unsigned* count, void* out) {
  return list(fake_nvml.graphics, device, count, out);
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(Device device, unsigned* count, void* out) {
  return list(fake_nvml.mps, device, count, out);
}
int nvmlDeviceGetMaxMigDeviceCount(Device, unsigned* count) {
  *count = 8;
  return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(Device, unsigned index, Device* part) {
  if (fake_nvml.mig_slices[index] == 0) return 6;  // not found
  *part = &fake_nvml.mig_slices[index];
  return 0;
}
int nvmlDeviceGetGpuInstanceId(Device part, unsigned* id) {
  *id = static_cast<unsigned>(static_cast<unsigned*>(part) - fake_nvml.mig_slices) + 1;
  return 0;
}
int nvmlDeviceGetComputeInstanceId(Device, unsigned* id) {
  *id = 0;
  return 0;
}
int nvmlDeviceGetAttributes_v2(Device part, Attributes* attributes) {
  *attributes = {};
  attributes->compute_instance_slices = *static_cast<unsigned*>(part);
  return 0;
}
const char* nvmlErrorString(int code) {
  return code == kGpuIsLost ? "GPU is lost" : code == kNotSupported ? "Not Supported" : "Unknown Error";
}

}  // extern "C"
