#include "tidewatt/metering/node_total.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tidewatt::metering {
namespace {

constexpr std::array kComponents{kDomainGpu, kDomainCpuPackage, kDomainDram};

}  // namespace

bool is_component(std::string_view domain) {
  return std::find(kComponents.begin(), kComponents.end(), domain) != kComponents.end();
}

Layer layer_of(std::string_view domain) {
  if (domain == kDomainPdu) return Layer::pdu;
  if (domain == kDomainPlatform) return Layer::platform;
  return is_component(domain) ? Layer::components : Layer::beside;
}

void keep_one_platform_meter(std::vector<DeviceSample>& samples) {
  const DeviceSample* kept = nullptr;
  const auto rank = [](const DeviceSample& sample) {
    return std::pair{!sample.power.has_value(), sample.index};
  };
  for (const auto& sample : samples)
    if (sample.domain == kDomainPlatform && (kept == nullptr || rank(sample) < rank(*kept))) kept = &sample;
  for (auto& sample : samples)
    if (sample.domain == kDomainPlatform && &sample != kept) sample.domain = kDomainSecondMeter;
}

NodeTotal node_total(std::span<const std::string> domains, Wanted wanted, bool trust_psys) {
  const auto has = [&](std::string_view domain) {
    return std::find(domains.begin(), domains.end(), domain) != domains.end();
  };
  NodeTotal components;
  components.layer = Layer::components;
  components.psys_for_package = trust_psys && has(kDomainPsys);
  for (const auto domain : kComponents) {
    const bool inside_psys = domain != kDomainGpu && components.psys_for_package;
    if (has(domain) && !inside_psys) components.parts.emplace_back(domain);
  }
  if (components.psys_for_package) components.parts.emplace_back(kDomainPsys);
  components.known = !components.parts.empty();
  if (components.known && wanted == Wanted::attributable) return components;
  if (has(kDomainPdu)) return {true, Layer::pdu, {std::string{kDomainPdu}}, false};
  if (has(kDomainPlatform)) return {true, Layer::platform, {std::string{kDomainPlatform}}, false};
  return components;
}

}  // namespace tidewatt::metering
