#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "tidewatt/metering/node_total.h"
#include "tidewatt/metering/redfish_links.h"
#include "tidewatt/metering/tool_parsers.h"
#include "tidewatt/sensors/node_meters.h"
#include "tidewatt/units/text.h"

namespace tidewatt::sensors {
namespace {

constexpr const char* kChassis = "/redfish/v1/Chassis";
constexpr std::size_t kMaxChassis = 32;
constexpr std::size_t kMostCredentialBytes = 4096;
constexpr Milliseconds kSilentAskedEvery{60'000};
constexpr Milliseconds kSilentWaitedFor{60'000};

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) -> std::uint32_t {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
    };
    const std::uint32_t group = byte(0) << 16U | byte(1) << 8U | byte(2);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kDigits[group >> (18U - 6U * k) & 63U];
  }
  return out;
}

class Redfish final : public Source {
 public:
  Redfish(const FileSystem& files, std::unique_ptr<HttpGet> http, const Clock& clock, RedfishOptions options)
      : files_(files), http_(std::move(http)), clock_(clock), options_(std::move(options)) {
    const auto host_at = options_.url.find("://") + 3;
    const auto path_at = options_.url.find('/', host_at);
    origin_ = options_.url.substr(0, path_at);
    auto path = path_at == std::string::npos ? std::string{} : options_.url.substr(path_at);
    while (path.ends_with('/')) path.pop_back();
    if (!path.empty() && path != "/redfish" && path != "/redfish/v1" && path != kChassis) named_ = path;
  }

  [[nodiscard]] std::string name() const override { return "redfish"; }

  Result<std::vector<Reading>> read() override {
    if (named_) return read_from(*named_);
    const auto now = clock_.mono_now();
    // A meter that is silent while the other boots would make half of a node its whole: it is waited for, and
    // asked again for as long as this runs.
    if (!found_ || (!silent_.empty() && now - searched_at_ >= kSilentAskedEvery)) {
      const bool first = !found_;
      found_.reset();
      TW_TRY(auto path, search());
      if (first && !silent_.empty() && !waited_) {
        waited_ = true;
        waits_until_ = now + kSilentWaitedFor;
      }
      searched_at_ = now;
      found_ = std::move(path);
    }
    auto readings = read_from(*found_);
    // Firmware updates move documents.
    if (!readings && readings.error().code == ErrorCode::not_found) found_.reset();
    if (readings && now < waits_until_) {
      readings->front().power.reset();
      readings->front().reason = fmt::format("waits a minute for {}, which gives no value yet", silent_[0]);
    }
    return readings;
  }

 private:
  Result<std::string> document(const std::string& path) {
    std::vector<std::pair<std::string, std::string>> headers{{"accept", "application/json"}};
    if (!options_.credentials_file.empty()) {
      TW_TRY(const auto secret, files_.read_text(options_.credentials_file, kMostCredentialBytes));
      const auto line = trim(std::string_view{secret}.substr(0, secret.find('\n')));
      if (line.find(':') == std::string_view::npos)
        return fail(ErrorCode::invalid_input,
                    fmt::format("{}: its first line isn't user:password", options_.credentials_file),
                    "write the BMC account into it, and give it mode 0600");
      headers.emplace_back("authorization", "Basic " + base64(line));
    }
    TW_TRY(auto answer, http_->get(origin_ + path, headers));
    if (answer.status == 200) return std::move(answer.body);
    const auto what = fmt::format("{}{}: HTTP {}", origin_, path, answer.status);
    if (answer.status == 401 || answer.status == 403)
      return fail(ErrorCode::permission_denied, what,
                  options_.credentials_file.empty()
                      ? "give credentials=FILE with user:password of a BMC account"
                      : "the BMC refuses the account: check user and password");
    if (answer.status == 404)
      return fail(ErrorCode::not_found, what, "check the address; without a path the service is searched");
    return fail(ErrorCode::unavailable, what, "the BMC may be restarting; it is asked again");
  }

  // The one document of this service that measures power.
  Result<std::string> search() {
    TW_TRY(const auto collection, document(kChassis));
    auto chassis = metering::redfish_members(collection);
    if (chassis.size() > kMaxChassis) chassis.resize(kMaxChassis);
    std::vector<std::string> meters;
    std::string why_not;
    silent_.clear();
    for (const auto& path : chassis) {
      const auto description = document(path);
      if (!description) {
        why_not = description.error().message;
        continue;
      }
      std::vector<std::string> silent;
      bool found = false;
      for (const auto& candidate : metering::redfish_power_documents(*description)) {
        const auto text = document(candidate);
        const auto parsed = text ? metering::parse_tool("redfish", "", *text) : tl::unexpected(text.error());
        const bool measures = parsed && std::any_of(parsed->devices.begin(), parsed->devices.end(),
                                                    [](const auto& d) { return d.power.has_value(); });
        if (!measures) {
          why_not =
              parsed ? fmt::format("{}: {}", candidate, parsed->devices[0].reason) : parsed.error().message;
          if (parsed || !text) silent.push_back(candidate);
          continue;
        }
        // One chassis' two documents show the same, and two chassis may share one.
        if (std::find(meters.begin(), meters.end(), candidate) == meters.end()) meters.push_back(candidate);
        found = true;
        break;
      }
      if (!found) silent_.insert(silent_.end(), silent.begin(), silent.end());
    }
    std::erase_if(silent_, [&](const auto& path) {
      return std::find(meters.begin(), meters.end(), path) != meters.end();
    });
    if (meters.size() == 1) return meters[0];
    if (meters.empty())
      return fail(ErrorCode::unavailable,
                  fmt::format("{}: none of {} chassis measures power{}", origin_, chassis.size(),
                              why_not.empty() ? "" : ": " + why_not),
                  "where the BMC does, give the whole address of its document");
    return fail(
        ErrorCode::invalid_input,
        fmt::format("{}: {} chassis measure power: {}", origin_, meters.size(), fmt::join(meters, ", ")),
        "give the whole address of the one that is this node's input");
  }

  Result<std::vector<Reading>> read_from(const std::string& path) {
    TW_TRY(const auto text, document(path));
    const auto at = clock_.mono_now();
    TW_TRY(const auto parsed, metering::parse_tool("redfish", "", text));
    const auto count = static_cast<int>(parsed.devices.size());
    if (options_.control >= count || (options_.control < 0 && count > 1))
      return fail(ErrorCode::invalid_input,
                  fmt::format("{}{}: {} readings, and control={} names none of them", origin_, path, count,
                              options_.control),
                  "give control=0 or another one's number: the one that is this node's input");
    const auto& device = parsed.devices[static_cast<std::size_t>(std::max(options_.control, 0))];
    Reading reading;
    reading.domain = kDomainPlatform;
    reading.index = metering::kPlatformRedfish;
    reading.model = device.name;
    reading.power = device.power;
    reading.power_limit = device.power_limit;
    reading.source = name();
    reading.reason = device.reason;
    reading.at = at;
    return std::vector{std::move(reading)};
  }

  const FileSystem& files_;
  std::unique_ptr<HttpGet> http_;
  const Clock& clock_;
  RedfishOptions options_;
  std::string origin_;
  std::optional<std::string> named_;  ///< the document's path, given by the operator
  std::optional<std::string> found_;  ///< or found
  std::vector<std::string> silent_;   ///< documents of a meter of another chassis that gave no value
  SteadyTime searched_at_{};
  SteadyTime waits_until_{};
  bool waited_ = false;
};

}  // namespace

std::unique_ptr<Source> make_redfish(const FileSystem& files, std::unique_ptr<HttpGet> http,
                                     const Clock& clock, RedfishOptions options) {
  return std::make_unique<Redfish>(files, std::move(http), clock, std::move(options));
}

}  // namespace tidewatt::sensors
