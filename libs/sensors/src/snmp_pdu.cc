#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tidewatt/metering/node_total.h"
#include "tidewatt/metering/tool_parsers.h"
#include "tidewatt/sensors/node_meters.h"
#include "tidewatt/units/text.h"

namespace tidewatt::sensors {
namespace {

constexpr std::size_t kSmall = 4096;
constexpr int kMostOutlets = 100;  ///< room for indexes between two units of one node
constexpr int kNotStarted = 127;   // env couldn't find the tool

struct Model {
  const char* name;
  std::vector<std::string> walks;
};

const std::vector<Model>& models() {
  static const std::vector<Model> kModels{
      {"apc", {".1.3.6.1.4.1.318.1.1.26.4.3.1.5"}},
      {"apc-rpdu", {".1.3.6.1.4.1.318.1.1.12.1.16"}},
      {"sentry3", {".1.3.6.1.4.1.1718.3.2.2.1.12"}},
      {"sentry4", {".1.3.6.1.4.1.1718.4.1.3.3.1.3"}},
      {"eaton", {".1.3.6.1.4.1.534.6.6.7.3.5.1.4"}},
      // its numbers mean nothing without their decimal digits
      {"raritan", {".1.3.6.1.4.1.13742.6.3.3.4.1.7", ".1.3.6.1.4.1.13742.6.5.2.3.1.4"}},
  };
  return kModels;
}

// A file name of letters and digits for any host.
std::string as_folder_name(std::string_view host) {
  std::string out;
  for (const char c : host) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    out += plain ? c : '_';
  }
  return out;
}

class SnmpPdu final : public Source {
 public:
  SnmpPdu(FileSystem& files, ProcessRunner& processes, const Clock& clock, SnmpOptions options)
      : files_(files), processes_(processes), clock_(clock), options_(std::move(options)) {}

  [[nodiscard]] std::string name() const override { return "snmp:" + options_.host; }

  Result<std::vector<Reading>> read() override {
    TW_TRY(const auto folder, conf_folder());
    std::string text;
    const auto& all = models();
    const auto model =
        std::find_if(all.begin(), all.end(), [&](const Model& m) { return m.name == options_.model; });
    if (model != all.end()) {
      for (const auto& oid : model->walks) {
        TW_TRY(const auto part, run("snmpwalk", folder, {oid}));
        text += part;
      }
    } else {
      TW_TRY(text, run("snmpget", folder, options_.oids));
    }
    const auto at = clock_.mono_now();
    TW_TRY(const auto parsed, metering::parse_tool("pdu", "snmpwalk", text));
    return readings_of(parsed, at);
  }

 private:
  // The folder of the snmp.conf that holds the secret; empty = net-snmp's own.
  Result<std::string> conf_folder() {
    if (!options_.conf_folder.empty()) return options_.conf_folder;
    TW_TRY(const auto secret, files_.read_text(options_.community_file, kSmall));
    const auto community = trim(std::string_view{secret}.substr(0, secret.find('\n')));
    const bool plain = std::all_of(community.begin(), community.end(), [](unsigned char c) {
      return c > 0x20 && c < 0x7F && c != '"' && c != '\'' && c != '\\' && c != '#';
    });
    if (community.empty() || !plain)
      return fail(
          ErrorCode::invalid_input,
          fmt::format("{}: its first line is no community that snmp.conf can hold", options_.community_file),
          "write the read community into it, without blanks, quotes, \\ and #");
    const auto folder = fmt::format("{}/snmp/{}", options_.state_folder, as_folder_name(options_.host));
    const auto conf = fmt::format("defVersion 2c\ndefCommunity {}\n", community);
    if (conf == written_) return folder;
    TW_TRY_STATUS(files_.make_folders(folder));
    TW_TRY_STATUS(files_.write_atomically(folder + "/snmp.conf", conf));
    written_ = conf;
    return folder;
  }

  Result<std::string> run(const std::string& tool, const std::string& folder,
                          const std::vector<std::string>& oids) {
    // env sets what the tool reads its secret from, so that no list of processes shows it. No MIB files:
    // names and enumerations as numbers, whatever is installed.
    std::vector<std::string> argv{"env",
                                  "SNMPCONFPATH=" + folder,
                                  "SNMP_PERSISTENT_DIR=" + folder,
                                  tool,
                                  "-m",
                                  "",
                                  "-On",
                                  "-Oe",
                                  "-r",
                                  "1",
                                  "-t",
                                  "2",
                                  options_.host};
    argv.insert(argv.end(), oids.begin(), oids.end());
    auto output_or = processes_.run(argv, options_.deadline);
    if (!output_or) {
      // The program that is run is env: its name says nothing.
      Error error = output_or.error();
      if (error.code == ErrorCode::timed_out)
        error = {error.code,
                 fmt::format("{} {}: no answer within {} ms", tool, options_.host, options_.deadline.count()),
                 "check address, community and firewall"};
      return tl::unexpected(std::move(error));
    }
    auto output = std::move(*output_or);
    if (output.exit_code == kNotStarted)
      return fail(ErrorCode::not_found, fmt::format("no {}: net-snmp's tools aren't installed", tool),
                  "install the package snmp (Debian) or net-snmp-utils");
    if (output.exit_code != 0) {
      const auto said = trim(output.err.empty() ? output.out : output.err);
      return fail(
          ErrorCode::unavailable,
          fmt::format("{} {}: {}", tool, options_.host, said.substr(0, said.find('\n')).substr(0, 200)),
          "check address, community and firewall");
    }
    return std::move(output.out);
  }

  Result<std::vector<Reading>> readings_of(const metering::ToolReadings& parsed, SteadyTime at) {
    std::vector<Reading> readings;
    std::string level;
    for (const auto& device : parsed.devices) {
      const auto& label = std::get<std::string>(device.index);
      const auto this_level = label.substr(0, label.find(' '));
      if (!level.empty() && level != this_level)
        return fail(ErrorCode::invalid_input,
                    fmt::format("snmp {}: '{}' and '{}' can't be added: one contains the other",
                                options_.host, level, this_level),
                    "give OIDs of one kind: outlets, or inlets, or the unit");
      level = this_level;
      const auto number = number_of(label);
      if (number >= kMostOutlets)
        return fail(ErrorCode::invalid_input,
                    fmt::format("snmp {}: more than {} outlets were named", options_.host, kMostOutlets),
                    "give the OIDs of this node's own outlets");
      Reading reading;
      reading.domain = options_.of_facility ? metering::kDomainFacility : metering::kDomainPdu;
      reading.index = options_.first_index + number;
      reading.model = fmt::format("{} {}", options_.host, label);
      reading.power = device.power;
      reading.source = name();
      reading.reason = device.reason;
      reading.at = at;
      readings.push_back(std::move(reading));
    }
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const auto index = options_.first_index + static_cast<int>(i);
      if (std::any_of(readings.begin(), readings.end(), [&](const Reading& r) { return r.index == index; }))
        continue;
      Reading missing;
      missing.domain = options_.of_facility ? metering::kDomainFacility : metering::kDomainPdu;
      missing.index = index;
      missing.model = fmt::format("{} {}", options_.host, labels_[i]);
      missing.source = name();
      missing.reason = "no longer in the answer";
      missing.at = at;
      readings.push_back(std::move(missing));
    }
    return readings;
  }

  // By the object's own index, never by its place: when an outlet vanishes, those behind it keep their
  // series.
  int number_of(const std::string& label) {
    const auto known = std::find(labels_.begin(), labels_.end(), label);
    const auto number = static_cast<int>(known - labels_.begin());
    if (known == labels_.end() && number < kMostOutlets) labels_.push_back(label);
    return number;
  }

  FileSystem& files_;
  ProcessRunner& processes_;
  const Clock& clock_;
  SnmpOptions options_;
  std::string written_;
  std::vector<std::string> labels_;  ///< in the order in which they were first seen
};

}  // namespace

std::vector<std::string> snmp_models() {
  std::vector<std::string> names;
  for (const auto& model : models()) names.emplace_back(model.name);
  return names;
}

std::unique_ptr<Source> make_snmp_pdu(FileSystem& files, ProcessRunner& processes, const Clock& clock,
                                      SnmpOptions options) {
  return std::make_unique<SnmpPdu>(files, processes, clock, std::move(options));
}

}  // namespace tidewatt::sensors
