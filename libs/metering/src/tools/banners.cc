#include "tools/banners.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tidewatt/units/text.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

struct Banner {
  std::string_view words;
  std::string_view tool;
  std::string_view also = {};  ///< a tool that prints the same
};

constexpr std::array<Banner, 20> kBanners{
    Banner{"| NVIDIA-SMI ", "nvidia-smi"},
    Banner{"NVSMI LOG", "nvidia-smi"},
    Banner{"<nvidia_smi_log", "nvidia-smi"},
    Banner{"| AMD-SMI ", "amd-smi"},
    Banner{"ROCm System Management Interface", "rocm-smi", "hy-smi"},
    Banner{"| BR-SMI ", "brsmi"},
    Banner{"| CNMON ", "cnmon"},
    Banner{"Enflame System Management Interface", "efsmi"},
    Banner{"| HL-SMI ", "hl-smi"},
    Banner{"| IX-ML: ", "ixsmi"},
    Banner{"MetaX System Management Interface", "mx-smi"},
    Banner{"| npu-smi ", "npu-smi"},
    Banner{"XPU-RT Version", "kunlunxin-xpu-smi"},
    Banner{"| Intel XPU-SMI ", "xpu-smi"},
    Banner{"mthreads-gmi:", "mthreads-gmi"},
    Banner{"NPU Real-time Power(W)", "npu-smi"},
    Banner{"Instantaneous power reading", "ipmi"},
    Banner{"rPDU2DeviceStatusPower", "pdu"},
    Banner{"Combined Power (CPU + GPU + ANE)", "powermetrics"},
    Banner{"\"PowerConsumedWatts\"", "redfish"},
};

// With one blank between the words, however wide a tool prints them.
std::string narrow(std::string_view line) {
  std::string out;
  for (const auto word : words_of(line)) out += (out.empty() ? "" : " ") + std::string{word};
  return out + " ";
}

}  // namespace

Status own_output(std::string_view tool, std::string_view text) {
  if (tool == "generic") return {};
  const auto lines = lines_of(text);
  const Banner* foreign = nullptr;
  std::size_t at = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = narrow(lines[i]);
    for (const auto& banner : kBanners) {
      if (!contains(line, banner.words)) continue;
      if (banner.tool == tool || banner.also == tool) return {};
      if (foreign == nullptr) {
        foreign = &banner;
        at = i;
      }
    }
  }
  if (foreign == nullptr) return {};
  auto error = layout_error(tool, at + 1, fmt::format("its own output, not that of {}", foreign->tool),
                            trim(lines[at]));
  error.value().hint = fmt::format("this is what {0} prints: read it with --tool {0}", foreign->tool);
  return error;
}

}  // namespace tidewatt::metering::tools
