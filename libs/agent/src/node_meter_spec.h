// The sources ipmi, redfish and snmp: what may stand in the settings, and the meter that comes of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/agent/agent_settings.h"
#include "tidewatt/agent/source_factory.h"

namespace tidewatt::agent {

bool is_node_meter(std::string_view kind);

/// "interval=10s;tool=/usr/bin/ipmitool" behind ipmi:, "https://bmc;credentials=FILE" behind redfish:,
/// "HOST;oid=.1.3...;community=FILE" behind snmp:.
/// @error invalid_input  says which option is wrong, what is known, and what to write
Result<SourceSpec> parse_node_meter(std::string_view kind, std::string_view rest);

/// What only shows beside the other settings: a meter twice, or one that is polled more rarely than a beat.
std::vector<std::string> check_node_meters(const std::vector<SourceSpec>& sources, Milliseconds beat,
                                           Milliseconds source_deadline);

/// @param pdus  how many PDUs come before this one
std::unique_ptr<sensors::Source> make_node_meter(const SourceSpec& spec, const SourceParts& parts, int pdus);

}  // namespace tidewatt::agent
