// Meters of the whole node: slow, behind a BMC or on the network. They are polled at a pace of their own;
// between two polls there is no news, and after a failed one the power is unknown, never the last reading.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/base/http_get.h"
#include "tidewatt/base/process.h"
#include "tidewatt/sensors/source.h"

namespace tidewatt::sensors {

struct Pace {
  Milliseconds interval{10'000};    ///< between two polls that succeed
  Milliseconds first_pause{5'000};  ///< after a failure; doubles with each further one
  Milliseconds longest_pause{300'000};
};
/// Polls `meter` at its pace. A reading reaches back to the poll before it, at most twice the interval; the
/// first one and the first after a failure reach back over nothing. read() @error that of the last poll,
/// until the next one is due
std::unique_ptr<Source> make_paced(std::unique_ptr<Source> meter, Pace pace, const Clock& clock);

struct IpmiOptions {
  std::string tool;  ///< ipmitool's path; empty = ipmitool, else FreeIPMI's ipmi-dcmi, from the usual places
  std::string sensor;  ///< a sensor in watts, for boards without DCMI; empty = DCMI
  Milliseconds deadline{5'000};
};
/// The node's input as its BMC measures it: domain "platform", index kPlatformIpmi, source "ipmi-dcmi" or
/// "ipmi-sensor". ipmitool ends with 0 even where DCMI fails: what it prints decides. One poll is one
/// process, killed at the deadline.
/// @error not_found  no /dev/ipmi0 (only looked for where no tool is named), or no tool
std::unique_ptr<Source> make_ipmi(const FileSystem& files, ProcessRunner& processes, const Clock& clock,
                                  IpmiOptions options);

struct RedfishOptions {
  std::string url;               ///< "https://bmc.example", or with the path of one document
  std::string credentials_file;  ///< one line "user:password"; read at every poll; empty = none
  int control = -1;  ///< which PowerControl is the node's input, where a document has several; -1 = not said
};
/// The node's input by Redfish: domain "platform", index kPlatformRedfish, source "redfish". Without a path
/// the service is searched once for a chassis that measures power; two that do are an error that names both,
/// since nothing says whether they add up or share their supplies.
/// @param http  with its deadline and its trust
std::unique_ptr<Source> make_redfish(const FileSystem& files, std::unique_ptr<HttpGet> http,
                                     const Clock& clock, RedfishOptions options);

struct SnmpOptions {
  std::string host;               ///< name or address, as net-snmp takes it ("udp6:[::1]:161")
  std::string model;              ///< one of snmp_models(); or
  std::vector<std::string> oids;  ///< whole OIDs of outlets, each read with snmpget
  std::string community_file;     ///< one line; goes into a snmp.conf of mode 0600, never onto a command line
  std::string conf_folder;        ///< instead: a folder with a snmp.conf of yours (version 3)
  std::string state_folder;       ///< where our snmp.conf may be written
  int first_index = 0;            ///< of its readings: a node may have a second unit for its second supply
  Milliseconds deadline{5'000};
  bool of_facility = false;  ///< meters the whole site: domain "facility"
};
/// apc, apc-rpdu, sentry3, sentry4, eaton, raritan.
std::vector<std::string> snmp_models();
/// Outlets or inlets of a power distribution unit that feed this node: domain "pdu", source "snmp:HOST".
/// @error not_found  net-snmp's tools aren't installed
std::unique_ptr<Source> make_snmp_pdu(FileSystem& files, ProcessRunner& processes, const Clock& clock,
                                      SnmpOptions options);

}  // namespace tidewatt::sensors
