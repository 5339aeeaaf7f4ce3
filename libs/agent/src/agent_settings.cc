#include "tidewatt/agent/agent_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "card_families.h"
#include "node_meter_spec.h"
#include "tidewatt/config/suggest.h"
#include "tidewatt/net/client.h"
#include "tidewatt/sensors/libraries.h"
#include "tidewatt/sensors/sources.h"
#include "tidewatt/units/text.h"

namespace tidewatt::agent {
namespace {

constexpr std::uint64_t kMostSimulatedCards = 256;

using config::Kind;

const std::vector<std::string>& source_kinds() {
  static const std::vector<std::string> kKinds = [] {
    std::vector<std::string> kinds{"auto", "nvidia-smi", "tool", "rapl", "hwmon",
                                   "ipmi", "redfish",    "snmp", "sim",  "replay"};
    const auto& libraries = sensors::library_names();
    kinds.insert(kinds.begin() + 1, libraries.begin(), libraries.end());
    return kinds;
  }();
  return kKinds;
}

}  // namespace

const config::SettingsTable& agent_settings() {
  static const config::SettingsTable kTable{
      {.path = "server",
       .help = "Where beats are sent: http://host:7310 or https://host.",
       .metavar = "URL",
       .env = "TIDEWATT_SERVER"},
      {.path = "token",
       .kind = Kind::secret,
       .help = "File with the agent's token; read again when the server refuses it.",
       .env = "TIDEWATT_TOKEN"},
      {.path = "ca_file",
       .help = "PEM of the authority that signed the server's certificate, if the system doesn't know it.",
       .metavar = "FILE"},
      {.path = "node_id",
       .help = "This node's name; without it the host name is taken.",
       .metavar = "NAME",
       .env = "TIDEWATT_NODE_ID"},
      {.path = "cluster",
       .fallback = "default",
       .help = "The cluster that the node belongs to.",
       .metavar = "NAME"},
      {.path = "zone", .help = "Grid zone, such as DE or CN-NM, for carbon.", .metavar = "ZONE"},
      {.path = "region", .help = "Region or site, as you name it.", .metavar = "NAME"},
      {.path = "labels", .kind = Kind::map, .help = "Labels that go along with every beat."},
      {.path = "interval",
       .kind = Kind::duration,
       .fallback = "1s",
       .minimum = "100ms",
       .maximum = "60s",
       .help = "How often power is sampled."},
      {.path = "beat",
       .kind = Kind::duration,
       .fallback = "20s",
       .minimum = "1s",
       .maximum = "1m",  // over a longer gap the server books no power that isn't a counter's
       .help = "How often a beat is sent; what is drawn over more than a minute wouldn't be booked."},
      {.path = "sources",
       .kind = Kind::list,
       .fallback = "auto",
       .help = "What is read: auto, a vendor's library (nvml, amdsmi, level-zero, ...), tool:NAME, rapl, "
               "hwmon, ipmi, "
               "redfish:URL;credentials=FILE, snmp:HOST;model=apc;community=FILE, sim:gpus=8, replay:FILE.",
       .metavar = "LIST"},
      {.path = "source_deadline",
       .kind = Kind::duration,
       .fallback = "5s",
       .minimum = "100ms",
       .maximum = "10m",
       .help = "A read that takes longer makes its devices unknown."},
      {.path = "attribution.holders",
       .kind = Kind::choice,
       .fallback = "auto",
       .choices = {"auto", "off"},
       .help = "Whether devices' holders are found by the cgroups of their processes.",
       .metavar = "MODE"},
      {.path = "attribution.cpu",
       .kind = Kind::choice,
       .fallback = "proportional",
       .choices = {"proportional", "keep_idle", "off"},
       .help = "How CPU energy is divided by CPU time; keep_idle keeps the idle part out of tasks.",
       .metavar = "MODE"},
      {.path = "attribution.cgroup_root",
       .fallback = "/sys/fs/cgroup",
       .help = "Where the cgroups are mounted.",
       .metavar = "FOLDER"},
      {.path = "attribution.relabel",
       .kind = Kind::list,
       .help = "Rules that name tasks: \"unit/*.service -> service/$1\"; the name drop leaves them out.",
       .metavar = "RULES"},
      {.path = "host_root",
       .help = "Where the host's /proc and /sys are found, for an agent in a container: /host.",
       .metavar = "FOLDER"},
      {.path = "speed",
       .kind = Kind::number,
       .fallback = "1",
       .minimum = "0.001",
       .maximum = "10000",
       .help = "How fast a recorded log is replayed."},
      {.path = "spool.dir",
       .fallback = "/var/lib/tidewatt-agent",
       .help = "Folder for beats that aren't delivered yet, and the agent's id.",
       .metavar = "FOLDER",
       .env = "TIDEWATT_SPOOL_DIR"},
      {.path = "spool.max_bytes",
       .kind = Kind::bytes,
       .fallback = "256MiB",
       .minimum = "1MiB",
       .maximum = "1TiB",
       .help = "When the spool is larger, its oldest beats are dropped and counted."},
      {.path = "spool.max_age",
       .kind = Kind::duration,
       .fallback = "7d",
       .minimum = "1h",
       .help = "Beats older than this are dropped and counted."},
      {.path = "listen",
       .fallback = "127.0.0.1:7311",
       .help = "Address of /metrics and /healthz, or off.",
       .metavar = "HOST:PORT"},
      {.path = "relay",
       .kind = Kind::boolean,
       .help = "Take other agents' beats on the listening address and send them on."},
      {.path = "relay_token",
       .kind = Kind::secret,
       .help = "File with the token that other agents must show to a relay.",
       .env = "TIDEWATT_RELAY_TOKEN"},
      {.path = "tls.certificate", .help = "PEM of the listening address.", .metavar = "FILE"},
      {.path = "tls.key", .help = "PEM of its private key.", .metavar = "FILE"},
      {.path = "insecure_listen",
       .kind = Kind::boolean,
       .help = "Relay without TLS to other machines, on a network that is trusted."},
      {.path = "log_level",
       .kind = Kind::choice,
       .fallback = "info",
       .choices = {"debug", "info", "warning", "error"},
       .help = "Log lines below this level are left out.",
       .metavar = "LEVEL"},
      {.path = "once", .kind = Kind::boolean, .help = "Print one beat as JSON and exit.", .flag_only = true},
  };
  return kTable;
}

const std::string* SourceSpec::option(std::string_view name) const {
  for (const auto& [key, value] : options) {
    if (key == name) return &value;
  }
  return nullptr;
}

namespace {

/// What was meant by a kind that isn't known; empty = no idea.
std::string meant_by(std::string_view kind) {
  const auto option = kind.find(';');
  if (option != std::string_view::npos)
    if (const std::string name{kind.substr(0, option)};
        std::ranges::find(source_kinds(), name) != source_kinds().end())
      return fmt::format("{}:{}", name, kind.substr(option + 1));  // options stand behind a colon
  std::string small;
  for (const char c : kind) small += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (std::ranges::find(source_kinds(), small) != source_kinds().end()) return small;
  const auto tools = sensors::tool_names();
  if (std::ranges::find(tools, small) != tools.end()) return "tool:" + small;
  return config::nearest(small, source_kinds());
}

}  // namespace

Result<SourceSpec> parse_source(std::string_view text) {
  SourceSpec spec;
  const auto colon = text.find(':');
  spec.kind = std::string(trim(text.substr(0, colon)));
  std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (std::ranges::find(source_kinds(), spec.kind) == source_kinds().end()) {
    const std::string guess = meant_by(text.substr(0, colon));
    return fail(ErrorCode::invalid_input,
                fmt::format("unknown source \"{}\"; known: {}{}", spec.kind, fmt::join(source_kinds(), ", "),
                            guess.empty() ? "" : fmt::format("; did you mean \"{}\"?", guess)));
  }
  if (spec.kind == "replay") {
    if (rest.empty()) return fail(ErrorCode::invalid_input, "replay needs a file: replay:/path/to/log.csv");
    spec.file = rest;
    return spec;
  }
  if (is_node_meter(spec.kind)) return parse_node_meter(spec.kind, rest);
  if (spec.kind == "tool") {
    const auto known = sensors::tool_names();
    if (std::ranges::find(known, rest) == known.end()) {
      return fail(ErrorCode::invalid_input,
                  fmt::format("tool \"{}\" isn't known; write tool:NAME with one of {}", rest,
                              fmt::join(known, ", ")));
    }
    spec.tool = rest;
    return spec;
  }
  if (spec.kind != "sim" && colon != std::string_view::npos) {
    return fail(ErrorCode::invalid_input,
                fmt::format("source {} takes no options, not \"{}\"", spec.kind, rest));
  }
  constexpr std::array<std::string_view, 5> kSimOptions{"gpus", "seed", "limit", "cpu", "platform"};
  while (!rest.empty()) {
    const auto end = rest.find_first_of(":;");
    const std::string_view item = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    const auto equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    const auto number =
        equals == std::string_view::npos ? std::nullopt : parse_uint64(item.substr(equals + 1));
    if (std::ranges::find(kSimOptions, key) == kSimOptions.end() || !number) {
      return fail(ErrorCode::invalid_input,
                  fmt::format("sim: \"{}\" is no option with a whole number; known: {}", item,
                              fmt::join(kSimOptions, ", ")));
    }
    if (key == "gpus" && *number == 0)
      return fail(ErrorCode::invalid_input, "sim: gpus=0 simulates no card; give at least 1");
    if (key == "gpus" && *number > kMostSimulatedCards)
      return fail(ErrorCode::invalid_input, fmt::format("sim: gpus={} is more than the {} cards of one node",
                                                        *number, kMostSimulatedCards));
    spec.options.emplace_back(key, item.substr(equals + 1));
  }
  return spec;
}

Result<ListenAddress> parse_listen(std::string_view text) {
  if (text == "off") return ListenAddress{};
  const auto colon = text.rfind(':');
  const auto port = colon == std::string_view::npos ? std::nullopt : parse_uint64(text.substr(colon + 1));
  if (!port || *port > 65'535 || colon == 0) {
    return fail(ErrorCode::invalid_input,
                fmt::format("\"{}\" is not host:port, such as 127.0.0.1:7311, or off", text));
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return ListenAddress{std::string(host), static_cast<std::uint16_t>(*port)};
}

namespace {

void read_sources(config::Settings& settings, AgentConfig& out) {
  for (const auto& text : settings.list("sources")) {
    auto spec = parse_source(text);
    if (spec) {
      out.sources.push_back(std::move(*spec));
    } else {
      settings.add_problem("sources", spec.error().message);
    }
  }
  for (auto& problem : check_sources_once(out.sources)) settings.add_problem("sources", std::move(problem));
  for (auto& problem : check_node_meters(out.sources, out.beat, out.source_deadline))
    settings.add_problem("sources", std::move(problem));
  if (settings.list("sources").empty()) settings.add_problem("sources", "is empty; give at least auto");
}

void read_relabel(config::Settings& settings, AttributionSettings& attribution) {
  const auto rules = settings.list("attribution.relabel");
  auto relabel = attribution::Relabel::parse(rules);
  if (relabel) {
    attribution.relabel = std::move(*relabel);
    return;
  }
  // Each bad rule is named, not the first alone.
  bool named = false;
  for (const auto& rule : rules) {
    const auto alone = attribution::Relabel::parse({rule});
    if (alone) continue;
    settings.add_problem("attribution.relabel", alone.error().message);
    named = true;
  }
  if (!named) settings.add_problem("attribution.relabel", relabel.error().message);
}

void read_attribution(config::Settings& settings, AgentConfig& out) {
  auto& attribution = out.attribution;
  attribution.holders = settings.text("attribution.holders") != "off";
  const auto cpu = settings.text("attribution.cpu");
  if (cpu == "off") attribution.cpu.reset();
  if (cpu == "keep_idle") attribution.cpu = attribution::CpuPolicy::keep_idle;
  attribution.cgroup_root = settings.text("attribution.cgroup_root");
  while (attribution.cgroup_root.ends_with('/')) attribution.cgroup_root.pop_back();
  if (!attribution.cgroup_root.starts_with('/'))
    settings.add_problem("attribution.cgroup_root",
                         fmt::format("\"{}\" is no absolute path of a folder", attribution.cgroup_root));
  read_relabel(settings, attribution);
}

void check_server(config::Settings& settings, AgentConfig& out) {
  while (out.server.ends_with('/')) out.server.pop_back();
  const bool http = out.server.starts_with("http://");
  const bool https = out.server.starts_with("https://");
  if (out.server.empty()) {
    if (!out.once && settings.file_understood()) {
      settings.add_problem("server",
                           "is required; give --server URL, put it into the file, or set TIDEWATT_SERVER");
    }
  } else if (const auto scheme = out.server.find("://"); !http && !https && scheme != std::string::npos) {
    settings.add_problem("server", fmt::format("\"{}\": {}:// isn't spoken; write http://{} or https://{}",
                                               out.server, out.server.substr(0, scheme),
                                               out.server.substr(scheme + 3), out.server.substr(scheme + 3)));
  } else if (!http && !https) {
    settings.add_problem("server", fmt::format("\"{}\" is no URL; write http://{} or https://{}", out.server,
                                               out.server, out.server));
  } else if (auto problem = net::server_url_problem(out.server); !problem.empty()) {
    settings.add_problem("server", std::move(problem));
  } else if (http && !out.ca_file.empty()) {
    settings.add_problem("ca_file", "has no use with an http:// server; write https://");
  }
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

void check_relay(config::Settings& settings, AgentConfig& out) {
  out.relay = settings.boolean("relay");
  out.tls_certificate = settings.text("tls.certificate");
  out.tls_key = settings.text("tls.key");
  if (out.tls_certificate.empty() != out.tls_key.empty())
    settings.add_problem("tls.certificate", "tls.certificate and tls.key belong together: give both or none");
  if (!out.relay) return;
  if (!settings.given("relay_token"))
    settings.add_problem("relay",
                         "needs relay_token_file, so that not everybody may post beats in others' names");
  if (out.listen.address.empty()) {
    settings.add_problem("relay", "needs a listening address; give listen HOST:PORT instead of off");
  } else if (!is_loopback(out.listen.address) && out.tls_certificate.empty() &&
             !settings.boolean("insecure_listen")) {
    settings.add_problem("relay",
                         fmt::format("{} is reachable from other machines and there is no TLS: give "
                                     "tls.certificate and tls.key, or insecure_listen where the network is "
                                     "trusted",
                                     out.listen.address));
  }
}

}  // namespace

AgentConfig config_from(config::Settings& settings) {
  AgentConfig out;
  out.server = settings.text("server");
  out.ca_file = settings.text("ca_file");
  out.node_id = settings.text("node_id");
  out.cluster = settings.text("cluster");
  out.zone = settings.text("zone");
  out.region = settings.text("region");
  out.labels = settings.map("labels");
  out.interval = settings.duration("interval");
  out.beat = settings.duration("beat");
  out.source_deadline = settings.duration("source_deadline");
  out.host_root = settings.text("host_root");
  if (!out.host_root.empty() && !out.host_root.starts_with('/'))
    settings.add_problem("host_root", fmt::format("\"{}\" is no absolute path; write /host", out.host_root));
  out.speed = settings.number("speed");
  out.spool_folder = settings.text("spool.dir");
  while (out.spool_folder.size() > 1 && out.spool_folder.ends_with('/')) out.spool_folder.pop_back();
  out.spool_bytes = settings.bytes("spool.max_bytes");
  out.spool_age = settings.duration("spool.max_age");
  out.log_level = settings.text("log_level");
  out.once = settings.boolean("once");
  read_sources(settings, out);
  read_attribution(settings, out);
  check_server(settings, out);
  if (auto listen = parse_listen(settings.text("listen"))) {
    out.listen = std::move(*listen);
  } else {
    settings.add_problem("listen", listen.error().message);
  }
  check_relay(settings, out);
  if (out.beat < out.interval) {
    settings.add_problem("beat", fmt::format("{} ms is shorter than the interval of {} ms", out.beat.count(),
                                             out.interval.count()));
  }
  if (settings.given("node_id") && out.node_id.empty())
    settings.add_problem("node_id", "is empty; leave it out for the host name");
  if (trim(out.node_id).find_first_of(" \t/\\\"'") != std::string_view::npos)
    settings.add_problem(
        "node_id", fmt::format("\"{}\" has blanks, slashes or quotes; give one plain name", out.node_id));
  if (out.cluster.empty()) settings.add_problem("cluster", "is empty; leave it out for \"default\"");
  return out;
}

}  // namespace tidewatt::agent
