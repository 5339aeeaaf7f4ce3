// Redfish documents. The draw is PowerConsumedWatts, PowerWatts, InputPowerWatts or a sensor's Reading; what
// is requested, allocated, available, a capacity, a limit or a window's extremes is not.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tidewatt/metering/plausibility.h"
#include "tidewatt/units/text.h"
#include "tools/json_text.h"
#include "tools/label.h"
#include "tools/node_tools.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

using nlohmann::json;

constexpr std::string_view kRedfishName = "redfish";

const json& member(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string{};
}

// Newer documents wrap a number: {"DataSourceUri": ..., "Reading": 412}.
const json& unwrapped(const json& value) {
  if (!value.is_object()) return value;
  const auto& reading = member(value, "Reading");
  return reading.is_null() ? member(value, "SetPoint") : reading;
}

std::optional<double> number_of(const json& value) {
  const auto& plain = unwrapped(value);
  if (plain.is_number()) return plain.get<double>();
  return plain.is_string() ? parse_double(trim(plain.get_ref<const std::string&>())) : std::nullopt;
}

// Where the resource is not there or switched off, its last number is of another time.
std::string absence_of(const json& object) {
  const auto state = text_of(member(member(object, "Status"), "State"));
  if (state == "Absent" || state == "Disabled" || state == "UnavailableOffline" || state == "Updating")
    return "status_" + state;
  return {};
}

void set_draw(ToolDevice& device, const json& object, const char* key, double factor = 1) {
  device.reason = absence_of(object);
  if (!device.reason.empty()) return;
  const auto& value = member(object, key);
  const auto watts = number_of(value);
  if (!watts) {
    const auto& plain = unwrapped(value);
    device.reason = object.contains(key)
                        ? fmt::format("{}_is_{}", key, plain.is_null() ? "null" : "no number")
                        : fmt::format("{} isn't in the document", key);
    return;
  }
  // No limit here: an inactive cap may be far below the draw.
  auto judged = judge_power(Watts{*watts * factor}, std::nullopt);
  device.power = judged.power;
  device.reason = std::move(judged.reason);
}

std::optional<Watts> limit_of(const json& value) {
  const auto watts = number_of(value);
  return watts ? judge_limit(Watts{*watts}) : std::nullopt;
}

// The name a document gives a thing: the last part of its address that isn't a word of the schema.
std::string supply_of(const json& object) {
  const auto address = text_of(member(object, "@odata.id"));
  constexpr std::string_view kFolder = "/PowerSupplies/";
  if (const auto at = address.find(kFolder); at != std::string::npos) {
    const auto rest = std::string_view{address}.substr(at + kFolder.size());
    return std::string{rest.substr(0, rest.find('/'))};
  }
  for (const char* key : {"MemberId", "Id", "Name"})
    if (auto name = text_of(member(object, key)); !name.empty() && name != "Metrics") return name;
  return "?";
}

// Of the standard's PhysicalContext those that stand for a part of the machine.
bool is_part(std::string_view context) {
  constexpr std::array<std::string_view, 17> kParts{"CPU",
                                                    "CPUSubsystem",
                                                    "GPU",
                                                    "GPUSubsystem",
                                                    "Accelerator",
                                                    "ASIC",
                                                    "FPGA",
                                                    "Memory",
                                                    "MemorySubsystem",
                                                    "StorageDevice",
                                                    "StorageSubsystem",
                                                    "Fan",
                                                    "NetworkingDevice",
                                                    "PowerSubsystem",
                                                    "SystemBoard",
                                                    "VoltageRegulator",
                                                    "ComputeBay"};
  return std::find(kParts.begin(), kParts.end(), context) != kParts.end();
}

ToolDevice control_of(const json& object, std::size_t order) {
  ToolDevice device;
  device.index = static_cast<std::int64_t>(order);
  device.name = text_of(member(object, "Name"));
  set_draw(device, object, "PowerConsumedWatts");
  if (const auto context = text_of(member(object, "PhysicalContext")); is_part(context)) {
    device.power.reset();
    device.reason = "physical_context_" + context;
  }
  device.power_limit = limit_of(member(member(object, "PowerLimit"), "LimitInWatts"));
  if (const auto average = number_of(member(member(object, "PowerMetrics"), "AverageConsumedWatts")))
    device.average = judge_power(Watts{*average}, std::nullopt).power;
  return device;
}

ToolDevice supply_metrics(const json& object, const char* key) {
  ToolDevice device;
  device.index = "PSU " + supply_of(object);
  device.name = text_of(member(object, "Name"));
  set_draw(device, object, key);
  return device;
}

std::optional<double> watts_per(std::string_view unit) {
  if (unit == "W" || unit == "Watts") return 1;
  if (unit == "kW") return 1e3;
  if (unit == "mW") return 1e-3;
  return std::nullopt;
}

// nullopt = a sensor of something else.
std::optional<ToolDevice> sensor(const json& object) {
  const auto type = text_of(member(object, "ReadingType"));
  const auto unit = text_of(member(object, "ReadingUnits"));
  if (!type.empty() && type != "Power") return std::nullopt;
  const auto factor = watts_per(unit.empty() && type == "Power" ? "W" : unit);
  if (!factor) return std::nullopt;
  // A difference to a threshold is no draw.
  const auto basis = text_of(member(object, "ReadingBasis"));
  if (!basis.empty() && basis != "Zero") return std::nullopt;
  // "GPU 0 Max Power Cap" is a sensor of power too.
  if (judge_label(text_of(member(object, "Name")), true).bound) return std::nullopt;
  ToolDevice device;
  const auto id = text_of(member(object, "Id"));
  device.name = text_of(member(object, "Name"));
  device.index = id.empty() ? device.name : id;
  set_draw(device, object, "Reading", *factor);
  return device;
}

// The error document: the longest message says most.
std::string error_message(const json& error) {
  auto message = text_of(member(error, "message"));
  for (const auto& info : member(error, "@Message.ExtendedInfo"))
    if (auto text = text_of(member(info, "Message")); text.size() > message.size()) message = std::move(text);
  return message.empty() ? text_of(member(error, "code")) : message;
}

bool gives_only_output(const json& supplies) {
  return supplies.is_array() && supplies.size() == 1 && supplies[0].is_object() &&
         !supplies[0].contains("PowerInputWatts");
}

void read_supplies(ToolReadings& readings, const json& list) {
  for (const auto& supply : list) {
    if (!supply.is_object()) continue;
    const bool input = supply.contains("PowerInputWatts");
    readings.devices.push_back(supply_metrics(supply, input ? "PowerInputWatts" : "LastPowerOutputWatts"));
  }
}

void read_document(ToolReadings& readings, const json& document) {
  const auto type = text_of(member(document, "@odata.type"));
  const auto& controls = member(document, "PowerControl");
  if (controls.is_array() && !controls.empty()) {
    for (const auto& control : controls)
      if (control.is_object()) readings.devices.push_back(control_of(control, readings.devices.size()));
  } else if (document.contains("PowerConsumedWatts")) {  // before the Power schema had a list
    readings.devices.push_back(control_of(document, 0));
  } else if (document.contains("InputPowerWatts") || contains(type, "PowerSupplyMetrics")) {
    readings.devices.push_back(supply_metrics(document, "InputPowerWatts"));
  } else if (document.contains("PowerWatts") || contains(type, "EnvironmentMetrics")) {
    ToolDevice device;
    device.index = std::int64_t{0};
    device.name = text_of(member(document, "Name"));
    const auto unit = text_of(member(member(document, "PowerWatts"), "ReadingUnits"));
    if (const auto factor = watts_per(unit.empty() ? "W" : unit))
      set_draw(device, document, "PowerWatts", *factor);
    else
      device.reason = fmt::format("PowerWatts is in {}", unit);
    device.power_limit = limit_of(member(document, "PowerLimitWatts"));
    readings.devices.push_back(std::move(device));
  } else if (document.contains("Reading") || contains(type, "#Sensor.")) {
    if (auto device = sensor(document)) readings.devices.push_back(std::move(*device));
  } else if (const auto& supplies = member(document, "PowerSupplies"); supplies.is_array()) {
    read_supplies(readings, supplies);
  } else {
    for (const char* list : {"Members", "Sensors"})
      for (const auto& entry : member(document, list))
        if (entry.is_object() && entry.contains("Reading"))
          if (auto device = sensor(entry)) readings.devices.push_back(std::move(*device));
  }
}

}  // namespace

Result<ToolReadings> parse_redfish(std::string_view, std::string_view text) {
  auto body = trim(text);
  if (body.starts_with("HTTP/")) body = body.substr(std::min(body.find('{'), body.size()));  // curl -i
  bool cut = false;
  if (const auto documents = json_documents(body, cut); documents.size() == 1 && !cut) body = documents[0];
  const auto document = parse_json(body);
  if (!document.is_object()) return layout_error(kRedfishName, 1, "one whole JSON document", body);
  if (const auto& error = member(document, "error"); error.is_object())
    return fail(ErrorCode::invalid_input,
                fmt::format("redfish failed: {}", error_message(error).substr(0, 200)),
                "check the address and the account; the node's power is unknown until then");
  ToolReadings readings;
  read_document(readings, document);
  if (readings.devices.empty())
    return fail(ErrorCode::invalid_input,
                fmt::format("redfish: no power in a document of type '{}'",
                            text_of(member(document, "@odata.type")).substr(0, 80)),
                "ask for Chassis/ID/Power, Chassis/ID/EnvironmentMetrics or a sensor in watts");
  for (const auto& device : readings.devices) readings.unknown_devices += device.power ? 0 : 1;
  // What a supply gives out is less than what the node draws.
  if (document.contains("PowerSupplies") && !document.contains("PowerConsumedWatts") &&
      readings.devices.size() == 1 && gives_only_output(member(document, "PowerSupplies")))
    return readings;
  // Whether several of them add up or contain each other is not said by the document.
  if (readings.devices.size() == 1 && !contains(text_of(member(document, "@odata.type")), "PowerSupply"))
    readings.total = readings.devices[0].power;
  return readings;
}

}  // namespace tidewatt::metering::tools
