#include "node_meter_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "tidewatt/net/client.h"
#include "tidewatt/sensors/node_meters.h"
#include "tidewatt/units/text.h"

namespace tidewatt::agent {
namespace {

constexpr Milliseconds kDefaultInterval{10'000};
constexpr Milliseconds kDefaultDeadline{
    4'000};  // below the default source_deadline: a slow tool isn't a hang
constexpr Milliseconds kShortest{1'000};
constexpr Milliseconds kLongest{600'000};
constexpr Milliseconds kShortestDeadline{100};
constexpr Milliseconds kLongestDeadline{60'000};
constexpr int kIndexesPerPdu = 100;
constexpr std::size_t kMaxDocument = 8U << 20U;

std::vector<std::string> options_of(std::string_view kind) {
  std::vector<std::string> known{"interval", "deadline"};
  const auto more = [&](std::initializer_list<const char*> names) {
    known.insert(known.end(), names.begin(), names.end());
  };
  if (kind == "ipmi") more({"tool", "sensor"});
  if (kind == "redfish") more({"credentials", "ca", "insecure", "control"});
  if (kind == "snmp") more({"model", "oid", "community", "conf", "of"});
  return known;
}

bool is_oid(std::string_view text) {
  return text.size() > 2 && text.find_first_not_of("0123456789.") == std::string_view::npos &&
         text.find("..") == std::string_view::npos && !text.ends_with('.') &&
         (text.starts_with(".1.") || text.starts_with("1."));
}

Status check_option(std::string_view kind, std::string_view name, std::string_view value) {
  const auto bad = [&](std::string_view what) -> Status {
    return fail(ErrorCode::invalid_input, fmt::format("{}: {}=\"{}\" {}", kind, name, value, what));
  };
  if (value.empty()) return bad("has no value");
  if (name == "interval" || name == "deadline") {
    const auto shortest = name == "interval" ? kShortest : kShortestDeadline;
    const auto longest = name == "interval" ? kLongest : kLongestDeadline;
    const auto time = parse_duration(value);
    if (!time || *time < shortest || *time > longest)
      return bad(fmt::format("is no time from {} ms to {} s, such as 10s", shortest.count(),
                             longest.count() / 1000));
  }
  if (name == "insecure" && value != "true" && value != "false") return bad("is neither true nor false");
  if (name == "of" && value != "node" && value != "facility") return bad("is neither node nor facility");
  if (name == "control" && !parse_uint64(value))
    return bad("is no number; 0 is a document's first PowerControl");
  const bool is_path =
      name == "tool" || name == "credentials" || name == "ca" || name == "community" || name == "conf";
  if (is_path && !value.starts_with('/')) return bad("is no absolute path");
  if (name == "oid" && !is_oid(value))
    return bad("is no whole OID, such as .1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.5");
  if (name == "model") {
    const auto known = sensors::snmp_models();
    if (std::ranges::find(known, value) == known.end())
      return bad(fmt::format("isn't known; known: {}", fmt::join(known, ", ")));
  }
  return {};
}

Status check_target(const SourceSpec& spec) {
  const auto bad = [&](std::string what) -> Status {
    return fail(ErrorCode::invalid_input, std::move(what));
  };
  const auto& target = spec.target;
  if (spec.kind == "redfish") {
    const bool https = target.starts_with("https://") && target.size() > 8;
    const bool http = target.starts_with("http://") && target.size() > 7;
    if (!https && !http)
      return bad(fmt::format(
          "redfish needs a URL, not \"{}\": redfish:https://bmc.example;credentials=/etc/tidewatt/bmc",
          target));
    if (http && spec.option("credentials") != nullptr)
      return bad(fmt::format("redfish: {} would send the password in clear; write https://", target));
    if (target.find('@') != std::string::npos)
      return bad(
          "redfish: no account in the URL, other users could read it; give credentials=FILE with "
          "user:password");
  }
  if (spec.kind == "snmp") {
    if (target.empty() || target.starts_with('-') || target.find_first_of(" \t/") != std::string::npos)
      return bad(fmt::format(
          "snmp needs a host, not \"{}\": snmp:pdu-1.example;model=apc;community=/etc/tidewatt/pdu", target));
    if ((spec.option("model") != nullptr) == (spec.option("oid") != nullptr))
      return bad(
          fmt::format("snmp:{}: give either model= (a unit that feeds only this node; known: {}) or oid= of "
                      "this node's outlets",
                      target, fmt::join(sensors::snmp_models(), ", ")));
    if ((spec.option("community") != nullptr) == (spec.option("conf") != nullptr))
      return bad(fmt::format("snmp:{}: give either community=FILE or conf=FOLDER with a snmp.conf", target));
  }
  return {};
}

std::optional<Milliseconds> time_of(const SourceSpec& spec, std::string_view name) {
  const auto* text = spec.option(name);
  return text == nullptr ? std::nullopt : parse_duration(*text);
}

std::string text_of(const SourceSpec& spec, std::string_view name) {
  const auto* text = spec.option(name);
  return text == nullptr ? std::string{} : *text;
}

}  // namespace

bool is_node_meter(std::string_view kind) { return kind == "ipmi" || kind == "redfish" || kind == "snmp"; }

Result<SourceSpec> parse_node_meter(std::string_view kind, std::string_view rest) {
  SourceSpec spec;
  spec.kind = std::string{kind};
  if (kind != "ipmi") {
    const auto end = rest.find(';');
    spec.target = std::string{trim(rest.substr(0, end))};
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  const auto known = options_of(kind);
  while (!rest.empty()) {
    const auto end = rest.find(';');
    const auto item = trim(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    const auto equals = item.find('=');
    const auto name = item.substr(0, equals);
    if (equals == std::string_view::npos || std::ranges::find(known, name) == known.end())
      return fail(ErrorCode::invalid_input,
                  fmt::format("{}: \"{}\" is no option; known: {}=... separated by ;", kind, item,
                              fmt::join(known, "=..., ")));
    TW_TRY_STATUS(check_option(kind, name, item.substr(equals + 1)));
    if (name != "oid" && spec.option(name) != nullptr)
      return fail(ErrorCode::invalid_input, fmt::format("{}: {}= stands twice", kind, name));
    spec.options.emplace_back(name, item.substr(equals + 1));
  }
  TW_TRY_STATUS(check_target(spec));
  return spec;
}

std::vector<std::string> check_node_meters(const std::vector<SourceSpec>& sources, Milliseconds beat,
                                           Milliseconds source_deadline) {
  std::vector<std::string> problems;
  for (const std::string_view kind : {"ipmi", "redfish"}) {
    const auto count = std::ranges::count_if(
        sources, [&](const auto& s) { return s.kind == kind || (kind == "ipmi" && s.kind == "auto"); });
    if (count > 1)
      problems.push_back(
          fmt::format("{} stands {} times (auto has ipmi too); a node has one input", kind, count));
  }
  for (const auto& spec : sources) {
    if (!is_node_meter(spec.kind)) continue;
    if (text_of(spec, "insecure") == "true" && !text_of(spec, "ca").empty())
      problems.push_back(fmt::format(
          "{}: insecure=true checks no certificate, so ca={} would be ignored: leave out one of them",
          spec.kind, text_of(spec, "ca")));
    if (const auto interval = time_of(spec, "interval"); interval && *interval > beat)
      problems.push_back(
          fmt::format("{}: interval={} is longer than the beat of {} ms: poll it more often, or raise beat",
                      spec.kind, text_of(spec, "interval"), beat.count()));
    if (const auto deadline = time_of(spec, "deadline"); deadline && *deadline > source_deadline)
      problems.push_back(
          fmt::format("{}: deadline={} is longer than source_deadline of {} ms: raise that one too",
                      spec.kind, text_of(spec, "deadline"), source_deadline.count()));
  }
  return problems;
}

std::unique_ptr<sensors::Source> make_node_meter(const SourceSpec& spec, const SourceParts& parts, int pdus) {
  const auto deadline = time_of(spec, "deadline").value_or(kDefaultDeadline);
  const sensors::Pace pace{.interval =
                               time_of(spec, "interval").value_or(std::min(kDefaultInterval, parts.beat))};
  std::unique_ptr<sensors::Source> meter;
  if (spec.kind == "ipmi") {
    meter = sensors::make_ipmi(
        *parts.files, *parts.processes, *parts.clock,
        {.tool = text_of(spec, "tool"), .sensor = text_of(spec, "sensor"), .deadline = deadline});
  } else if (spec.kind == "redfish") {
    auto http = net::make_http_get({.deadline = deadline,
                                    .max_response_bytes = kMaxDocument,
                                    .ca_file = text_of(spec, "ca"),
                                    .how_to_give_ca = "\";ca=FILE\" behind the redfish source",
                                    .insecure = text_of(spec, "insecure") == "true"});
    const auto control = parse_int64(text_of(spec, "control"));
    meter = sensors::make_redfish(*parts.files, std::move(http), *parts.clock,
                                  {.url = spec.target,
                                   .credentials_file = text_of(spec, "credentials"),
                                   .control = static_cast<int>(control.value_or(-1))});
  } else {
    sensors::SnmpOptions options;
    options.host = spec.target;
    options.model = text_of(spec, "model");
    for (const auto& [name, value] : spec.options)
      if (name == "oid") options.oids.push_back(value);
    options.community_file = text_of(spec, "community");
    options.conf_folder = text_of(spec, "conf");
    options.state_folder = parts.state_folder;
    options.first_index = pdus * kIndexesPerPdu;
    options.deadline = deadline;
    options.of_facility = text_of(spec, "of") == "facility";
    meter = sensors::make_snmp_pdu(*parts.files, *parts.processes, *parts.clock, std::move(options));
  }
  return sensors::make_paced(std::move(meter), pace, *parts.clock);
}

}  // namespace tidewatt::agent
