// Where a Redfish service keeps its power: the links from the list of chassis to the documents that
// parse_tool("redfish", ...) reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidewatt::metering {

/// Addresses of a collection's members ("/redfish/v1/Chassis/1"), without duplicates. Only paths of the same
/// service: a link to another host is left out.
std::vector<std::string> redfish_members(std::string_view collection);

/// A chassis' documents with power, the most wanted first: Power, then EnvironmentMetrics.
std::vector<std::string> redfish_power_documents(std::string_view chassis);

}  // namespace tidewatt::metering
