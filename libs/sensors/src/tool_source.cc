#include <fmt/format.h>

#include <algorithm>

#include "pci.h"
#include "tidewatt/metering/tool_parsers.h"
#include "tidewatt/sensors/sources.h"
#include "tidewatt/units/text.h"
#include "tool_cards.h"

namespace tidewatt::sensors {
namespace {

constexpr Milliseconds kDeadline{5'000};
constexpr Milliseconds kFirstPause{5'000};
constexpr Milliseconds kLongestPause{300'000};

/// How a vendor's tool is asked.
struct Tool {
  std::string_view name;  ///< as metering::known_tools()
  std::string_view vendor;
  std::string_view pci_vendor;  ///< as sysfs prints it; empty = its cards' sleep isn't looked at
  std::string_view program;
  std::vector<std::string_view> folders;  ///< where it is beside the PATH, which is short for services
  /// Older releases refuse what they don't know: the first that isn't refused is kept.
  std::vector<std::vector<std::string>> arguments;
  std::string_view refusal;  ///< what it prints then; empty = there is only one
  /// Exit codes other than 0 that come with good output; any other means that the tool has failed.
  std::vector<int> good_exits = {};
};

const std::vector<Tool>& tools() {
  // Names, and uuid with them: rows are joined by identity, never by position. Drivers before 5xx don't know
  // power.draw.instant and refuse the whole query.
  static const std::vector<Tool> kTools{
      {"nvidia-smi",
       "nvidia",
       "0x10de",
       "nvidia-smi",
       {"/usr/lib/wsl/lib"},
       {{"--query-gpu=index,uuid,name,pci.bus_id,power.draw.instant,power.draw,power.limit,utilization.gpu,"
         "memory.used,temperature.gpu",
         "--format=csv"},
        {"--query-gpu=index,uuid,name,pci.bus_id,power.draw,power.limit,utilization.gpu,memory.used,"
         "temperature.gpu",
         "--format=csv"}},
       "not a valid field",
       // 14: a card's infoROM is corrupted. 15: a card has fallen off the bus; the others are printed.
       {14, 15}},
      {"amd-smi", "amd", "0x1002", "amd-smi", {"/opt/rocm/bin"}, {{"metric", "--power", "--json"}}, {}},
      {"rocm-smi",
       "amd",
       "0x1002",
       "rocm-smi",
       {"/opt/rocm/bin"},
       {{"--showpower", "--showmaxpower", "--showuse", "--json"}},
       {}},
      {"xpu-smi", "intel", "0x8086", "xpu-smi", {}, {{"dump", "-d", "-1", "-m", "1", "-n", "1"}}, {}},
      {"hy-smi", "hygon", "0x1d94", "hy-smi", {"/opt/hyhal/bin", "/opt/dtk/bin"}, {{}}, {}},
      {"npu-smi",
       "huawei",
       "0x19e5",
       "npu-smi",
       {"/usr/local/sbin", "/usr/local/Ascend/driver/tools"},
       {{"info"}},
       {}},
      {"cnmon", "cambricon", "0xcabc", "cnmon", {"/usr/local/neuware/bin"}, {{}}, {}},
      {"ixsmi", "iluvatar", "", "ixsmi", {"/usr/local/corex/bin"}, {{}}, {}},
      {"mx-smi",
       "metax",
       "0x9999",
       "mx-smi",
       {"/opt/mxdriver/bin", "/opt/maca/bin", "/opt/mxn100/bin"},
       {{}},
       {}},
      {"efsmi", "enflame", "0x1e36", "efsmi", {"/usr/local/efsmi"}, {{}}, {}},
      {"mthreads-gmi", "mthreads", "0x1ed5", "mthreads-gmi", {}, {{"-q"}}, {}},
      {"hl-smi", "habana", "0x1da3", "hl-smi", {}, {{}}, {}},
      {"kunlunxin-xpu-smi", "kunlunxin", "0x1d22", "xpu-smi", {"/usr/local/xpu/bin"}, {{}}, {}},
      {"brsmi", "biren", "", "brsmi", {"/usr/local/birensupa/bin"}, {{}}, {}},
      {"tt-smi", "tenstorrent", "", "tt-smi", {}, {{"-s"}}, {}},
  };
  return kTools;
}

const Tool* find(std::string_view name) {
  const auto found =
      std::find_if(tools().begin(), tools().end(), [&](const Tool& t) { return t.name == name; });
  return found == tools().end() ? nullptr : &*found;
}

constexpr std::string_view kPath[]{"/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"};

/// An absolute path, or empty.
std::string place_of(const Tool& tool, const FileSystem& files) {
  for (const auto folder : tool.folders)
    if (auto path = fmt::format("{}/{}", folder, tool.program); files.exists(path)) return path;
  for (const auto folder : kPath)
    if (auto path = fmt::format("{}/{}", folder, tool.program); files.exists(path)) return path;
  return {};
}

std::string first_line_of_tool(std::string_view text) {
  text = trim(text);
  std::string line{text.substr(0, std::min<std::size_t>(text.find('\n'), 200))};
  for (auto& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = '?';
  return line;
}

class ToolSource final : public Source {
 public:
  ToolSource(const Tool& tool, const FileSystem& files, ProcessRunner& processes, const Clock& clock)
      : tool_(tool), files_(files), processes_(processes), clock_(clock) {}

  [[nodiscard]] std::string name() const override { return std::string{tool_.name}; }

  Result<std::vector<Reading>> read() override {
    const auto now = clock_.mono_now();
    if (now < retry_at_)
      return fail(ErrorCode::unavailable,
                  fmt::format("{} (next try in {} s)", last_error_, (retry_at_ - now).count() / 1000 + 1));
    if (!tool_.pci_vendor.empty()) {
      const auto cards = cards_on_bus(files_, tool_.pci_vendor);
      if (!cards.empty() &&
          std::all_of(cards.begin(), cards.end(), [](const PciGpu& c) { return c.suspended; }))
        return asleep(cards, now);
    }
    auto readings = query();
    if (readings) {
      pause_ = kFirstPause;
      return readings;
    }
    last_error_ = readings.error().message;
    retry_at_ = clock_.mono_now() + pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
    return readings;
  }

 private:
  [[nodiscard]] bool has_failed(const ProcessOutput& output) const {
    return output.exit_code != 0 && std::find(tool_.good_exits.begin(), tool_.good_exits.end(),
                                              output.exit_code) == tool_.good_exits.end();
  }

  /// What a tool prints before it fails may be complete or not: nobody knows.
  [[nodiscard]] Error failure_of(const ProcessOutput& output,
                                 const Result<metering::ToolReadings>& parsed) const {
    // The parser quotes the line that says why, where it knows it.
    if (!parsed && parsed.error().message.find(" failed: ") != std::string::npos) {
      Error error = parsed.error();
      error.message += fmt::format(" (exit code {})", output.exit_code);
      return error;
    }
    const auto said = first_line_of_tool(trim(output.err).empty() ? output.out : output.err);
    return {ErrorCode::unavailable,
            fmt::format("{} ended with exit code {}{}{}", tool_.program, output.exit_code,
                        said.empty() ? "" : ": ", said),
            fmt::format("run {} by hand and look at what it says; until then its devices are unknown",
                        tool_.program)};
  }

  Result<std::vector<Reading>> query() {
    if (program_.empty()) program_ = place_of(tool_, files_);
    auto output = run();
    while (output && output->exit_code != 0 && !tool_.refusal.empty() && form_ + 1 < tool_.arguments.size() &&
           (output->out + output->err).find(tool_.refusal) != std::string::npos) {
      ++form_;
      output = run();
    }
    if (!output) {
      program_.clear();  // an upgrade may have moved it
      return tl::unexpected(output.error());
    }
    const auto at = clock_.mono_now();
    const auto command = fmt::format("{} {}", tool_.program, fmt::join(tool_.arguments[form_], " "));
    auto text = output->out.empty() ? output->err : output->out;
    // What is said of the one card that can't be read may stand beside the others' rows.
    if (output->exit_code != 0 && !has_failed(*output) && !output->out.empty())
      text += (output->out.ends_with('\n') ? "" : "\n") + output->err;
    auto parsed = metering::parse_tool(tool_.name, command, text);
    if (has_failed(*output)) return tl::unexpected(failure_of(*output, parsed));
    if (!parsed) return tl::unexpected(parsed.error());
    std::vector<Reading> readings;
    // A socket among the cards is the counters' of the processor: two owners would count it twice.
    std::erase_if(parsed->devices, [](const auto& device) { return !device.domain.empty(); });
    const auto cards = cards_.join(parsed->devices, at);
    readings.reserve(cards.size());
    for (std::size_t i = 0; i < cards.size(); ++i)
      readings.push_back(reading_of(parsed->devices[i], cards[i], at));
    cards_.add_missing(readings, at);
    return readings;
  }

  Result<ProcessOutput> run() {
    std::vector<std::string> argv{program_.empty() ? std::string{tool_.program} : program_};
    argv.insert(argv.end(), tool_.arguments[form_].begin(), tool_.arguments[form_].end());
    return processes_.run(argv, kDeadline);
  }

  [[nodiscard]] Reading reading_of(const metering::ToolDevice& device, const ToolCards::Card& card,
                                   SteadyTime at) const {
    Reading reading;
    reading.domain = kDomainGpu;
    reading.index = card.index;
    reading.uuid = card.uuid;
    reading.vendor = tool_.vendor;
    reading.model = device.name;
    reading.power = device.power;
    reading.power_limit = device.power_limit;
    reading.util = device.util;
    reading.memory_used_bytes = device.memory_used_bytes;
    if (device.temperature_c) {
      Health health;
      health.temperature_c = device.temperature_c;
      reading.health = health;
    }
    reading.source = name();
    reading.reason = device.reason;
    reading.at = at;
    return reading;
  }

  [[nodiscard]] std::vector<Reading> asleep(const std::vector<PciGpu>& cards, SteadyTime now) const {
    std::vector<Reading> readings;
    for (const auto& card : cards) {
      Reading reading;
      reading.domain = kDomainGpu;
      reading.index = static_cast<int>(readings.size());
      if (const auto* known = cards_.at_bus(card.bus_id)) {
        reading.uuid = known->uuid;
        reading.index = known->index;
      }
      reading.vendor = tool_.vendor;
      reading.source = name();
      reading.reason = fmt::format("suspended ({}): not woken to be measured", card.bus_id);
      reading.at = now;
      readings.push_back(std::move(reading));
    }
    return readings;
  }

  const Tool& tool_;
  const FileSystem& files_;
  ProcessRunner& processes_;
  const Clock& clock_;
  std::string program_;   ///< empty = found by the PATH
  std::size_t form_ = 0;  ///< of tool_.arguments
  ToolCards cards_{tool_.name};
  SteadyTime retry_at_{SteadyTime::min()};
  Milliseconds pause_ = kFirstPause;
  std::string last_error_;
};

}  // namespace

std::vector<std::string> tool_names() {
  std::vector<std::string> names;
  const auto parsed = metering::known_tools();
  for (const auto& tool : tools())
    if (std::find(parsed.begin(), parsed.end(), tool.name) != parsed.end()) names.emplace_back(tool.name);
  return names;
}

std::vector<std::string> card_vendors() {
  std::vector<std::string> vendors;
  for (const auto& tool : tools())
    if (std::find(vendors.begin(), vendors.end(), tool.vendor) == vendors.end())
      vendors.emplace_back(tool.vendor);
  return vendors;
}

bool has_tool(std::string_view name, const FileSystem& files) {
  const auto* tool = find(name);
  return tool != nullptr && !place_of(*tool, files).empty();
}

std::unique_ptr<Source> make_tool(std::string_view name, const FileSystem& files, ProcessRunner& processes,
                                  const Clock& clock) {
  const auto* tool = find(name);
  if (tool == nullptr) return nullptr;
  return std::make_unique<ToolSource>(*tool, files, processes, clock);
}

}  // namespace tidewatt::sensors
