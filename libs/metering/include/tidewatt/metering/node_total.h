// Which domains make a node's total. The one rule for everybody who adds: agent, server, command line.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/metering/beat.h"

namespace tidewatt::metering {

/// Outlets of a power distribution unit that feed this node; disjoint, so they add up.
inline constexpr std::string_view kDomainPdu = "pdu";
/// RAPL's platform domain: contains the packages.
inline constexpr std::string_view kDomainPsys = "psys";

/// A second view of what "platform" measures: shown, in no total.
inline constexpr std::string_view kDomainSecondMeter = "meter";

/// A meter of the whole site, cooling and all: in no node's total; reports make the period's PUE of it.
inline constexpr std::string_view kDomainFacility = "facility";

/// All meters of domain "platform" measure the same: what the node draws from its supplies. Each kind has
/// places of its own, so that two of them are never taken for one.
inline constexpr int kPlatformAcpi = 0;
inline constexpr int kPlatformIpmi = 10;
inline constexpr int kPlatformRedfish = 20;

/// From the wall inwards. Each layer contains those below it: nothing is added across layers.
enum class Layer {
  pdu,         ///< "pdu": before the supplies
  platform,    ///< "platform": the node's input, by its BMC or ACPI
  components,  ///< "gpu" + "cpu_package" + "dram": disjoint parts
  beside       ///< may contain or mirror others (psys, board, dc, ...): shown, in no total
};
Layer layer_of(std::string_view domain);
/// gpu, cpu_package, dram.
bool is_component(std::string_view domain);

/// What is wanted of a total.
enum class Wanted {
  /// What can be attributed to tasks and is booked: the components; the whole machine only where no component
  /// is there.
  attributable,
  /// What the node draws: PDU before platform before components.
  whole_machine
};

struct NodeTotal {
  bool known = false;  ///< false: nothing here makes a total
  Layer layer = Layer::beside;
  std::vector<std::string> parts;  ///< domains that are added, in the order of the layer's definition
  bool psys_for_package = false;   ///< psys stands in for cpu_package and dram
};

/// @param domains     those with a reading, in any order, repeated or not
/// @param trust_psys  psys replaces cpu_package and dram, which it contains. Boards exist where it counts
///                    less than its packages, so nobody trusts it unasked.
NodeTotal node_total(std::span<const std::string> domains, Wanted wanted, bool trust_psys = false);

/// Leaves one device in domain "platform": of those with power the one with the lowest index, else the lowest
/// of all. The others become kDomainSecondMeter. Devices of one domain are added up wherever samples are
/// booked.
void keep_one_platform_meter(std::vector<DeviceSample>& samples);

}  // namespace tidewatt::metering
