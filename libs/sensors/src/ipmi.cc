#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tidewatt/metering/node_total.h"
#include "tidewatt/metering/tool_parsers.h"
#include "tidewatt/sensors/node_meters.h"
#include "tidewatt/units/text.h"

namespace tidewatt::sensors {
namespace {

constexpr std::array kDevices{"/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0"};

std::string_view first_line(std::string_view text) {
  text = trim(text);
  return text.substr(0, text.find('\n'));
}

class Ipmi final : public Source {
 public:
  Ipmi(const FileSystem& files, ProcessRunner& processes, const Clock& clock, IpmiOptions options)
      : files_(files), processes_(processes), clock_(clock), options_(std::move(options)) {}

  [[nodiscard]] std::string name() const override { return "ipmi"; }

  Result<std::vector<Reading>> read() override {
    const bool has_device = std::any_of(kDevices.begin(), kDevices.end(),
                                        [this](const char* path) { return files_.exists(path); });
    if (options_.tool.empty() && !has_device)
      return fail(ErrorCode::not_found, fmt::format("no IPMI: {} isn't there", kDevices[0]),
                  "where the machine has a BMC, load the modules ipmi_si and ipmi_devintf");
    TW_TRY(const auto output, run());
    if (!options_.sensor.empty() &&
        (output.out + output.err).find("Unable to find sensor id") != std::string::npos)
      return fail(ErrorCode::invalid_input, fmt::format("no sensor \"{}\"", options_.sensor),
                  fmt::format("`{} sdr list` names them", tool_));
    // The exit status alone says nothing: ipmitool ends with 0 after a failed DCMI request.
    if (output.exit_code != 0)
      return fail(ErrorCode::unavailable,
                  fmt::format("{} ended with {}: {}", tool_, output.exit_code,
                              first_line(output.err.empty() ? output.out : output.err).substr(0, 200)),
                  "it needs root and a BMC that answers; run it by hand to see");
    const auto& text = trim(output.out).empty() ? output.err : output.out;
    TW_TRY(const auto parsed, metering::parse_tool("ipmi", command_, text));
    if (parsed.devices.size() != 1)
      return fail(ErrorCode::invalid_input,
                  fmt::format("{} gave {} readings instead of one", tool_, parsed.devices.size()));
    const auto& device = parsed.devices[0];
    Reading reading;
    reading.domain = kDomainPlatform;
    reading.index = metering::kPlatformIpmi;
    reading.power = device.power;
    reading.power_limit = device.power_limit;
    reading.source = options_.sensor.empty() ? "ipmi-dcmi" : "ipmi-sensor";
    reading.reason = device.reason;
    reading.at = clock_.mono_now();
    return std::vector{std::move(reading)};
  }

 private:
  Result<ProcessOutput> ask(std::vector<std::string> argv) {
    tool_ = argv[0];
    command_ = fmt::format("{}", argv.size() > 1 ? argv[0] + " " + argv[1] : argv[0]);
    return processes_.run(argv, options_.deadline);
  }

  Result<ProcessOutput> run() {
    const std::string tool = options_.tool.empty() ? "ipmitool" : options_.tool;
    if (!options_.sensor.empty()) return ask({tool, "sdr", "get", options_.sensor});
    auto output = ask({tool, "dcmi", "power", "reading"});
    if (output || output.error().code != ErrorCode::not_found || !options_.tool.empty()) return output;
    auto other = ask({"ipmi-dcmi", "--get-system-power-statistics"});
    if (!other && other.error().code == ErrorCode::not_found)
      return fail(ErrorCode::not_found, "no IPMI tool: neither ipmitool nor ipmi-dcmi is installed",
                  "install ipmitool, or name it: ipmi:tool=/path/to/ipmitool");
    return other;
  }

  const FileSystem& files_;
  ProcessRunner& processes_;
  const Clock& clock_;
  IpmiOptions options_;
  std::string tool_;
  std::string command_;
};

}  // namespace

std::unique_ptr<Source> make_ipmi(const FileSystem& files, ProcessRunner& processes, const Clock& clock,
                                  IpmiOptions options) {
  return std::make_unique<Ipmi>(files, processes, clock, std::move(options));
}

}  // namespace tidewatt::sensors
