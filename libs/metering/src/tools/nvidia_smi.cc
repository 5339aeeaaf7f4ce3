#include "tools/nvidia_smi.h"

#include <fmt/format.h>

#include <array>

#include "tidewatt/units/text.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

// Beginnings and middles of the one-line answers when the tool has nothing to show.
constexpr std::array<std::string_view, 10> kFailures{"NVIDIA-SMI has failed",
                                                     "couldn't communicate with the NVIDIA driver",
                                                     "Failed to initialize NVML",
                                                     "No devices were found",
                                                     "Unable to determine the device handle",
                                                     "Failed to properly shut down NVML",
                                                     "is not a valid field",
                                                     "Insufficient Permissions",
                                                     "GPU is lost",
                                                     "command not found"};

bool has_data(std::string_view text) {
  return contains(text, "Pwr:Usage/Cap") || contains(text, "NVSMI LOG") || contains(text, "<gpu");
}

}  // namespace

Result<ToolReadings> parse_nvidia_smi(std::string_view command, std::string_view text) {
  const auto lines = lines_of(text);
  std::size_t first = 0;
  while (first < lines.size() && trim(lines[first]).empty()) ++first;
  if (first == lines.size())
    return fail(ErrorCode::invalid_input, "nvidia-smi printed nothing: its GPUs are unknown",
                "run nvidia-smi by hand and look at its exit status");
  const auto head = trim(lines[first]);
  if (!has_data(text))
    for (std::size_t i = first; i < lines.size(); ++i)
      for (const auto failure : kFailures)
        // In CSV "[GPU is lost]" and "[Insufficient Permissions]" are cells of one GPU, not the tool's
        // failure.
        if (const auto at = lines[i].find(failure); at != std::string_view::npos &&
                                                    (at == 0 || lines[i][at - 1] != '[') &&
                                                    !contains(lines[i], ", ["))
          return fail(ErrorCode::invalid_input,
                      fmt::format("nvidia-smi failed: {}", trim(lines[i]).substr(0, 200)),
                      "the node's GPUs are unknown until it works");
  if (head.starts_with('<') || head.starts_with("\xEF\xBB\xBF<")) return parse_nvidia_query_xml(text);
  if (head.starts_with('#')) return parse_nvidia_dmon(text);
  if (contains(text, "Pwr:Usage/Cap")) return parse_nvidia_table(text);
  if (contains(text, "NVSMI LOG") || contains(text, "Attached GPUs")) return parse_nvidia_query_text(text);
  if (!nvidia_query_fields(command).empty() || contains(head, "power.") || contains(head, ", "))
    return parse_nvidia_csv(command, text);
  return layout_error("nvidia-smi", first + 1, "its table, -q text, -q -x XML, a CSV query or dmon", head);
}

}  // namespace tidewatt::metering::tools
