// Whatever the kernel's texts about a process hold: no crash, ids that may travel, and a name the same from
// the path as from the line that has it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tidewatt/attribution/cgroup_path.h"
#include "tidewatt/attribution/cpu_time.h"
#include "tidewatt/attribution/process.h"
#include "tidewatt/attribution/relabel.h"

namespace {

void check(const std::optional<tidewatt::attribution::Workload>& workload) {
  if (!workload) return;
  if (workload->task_id.empty() || workload->task_id.size() > 256 || workload->account_path.empty())
    std::abort();
  for (const char c : workload->task_id)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt::attribution;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check(workload_of_process(text));
  const auto workload = workload_of_path(text);
  check(workload);
  if (workload) {
    const auto same = workload_of_path(workload->account_path);
    if (!same || same->task_id != workload->task_id || same->account_path != workload->account_path)
      std::abort();
  }
  (void)parse_process_stat(text);
  (void)environment_value(text, "SLURM_JOB_ID");
  (void)parse_cpu_stat(text);
  (void)parse_cpuacct_usage(text);
  const auto cut = text.find('\n');
  if (cut != std::string_view::npos) {
    const auto relabel = Relabel::parse({std::string(text.substr(0, cut))});
    const auto other = workload_of_path(text.substr(cut + 1));
    if (relabel && other)
      if (const auto name = relabel->name_of(*other); name && name->size() > 256) std::abort();
  }
  return 0;
}
