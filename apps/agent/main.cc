// tidewatt-agent: reads this node's power and sends it to a Tidewatt server.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "own_usage.h"
#include "run.h"
#include "sensor.h"
#include "tidewatt/agent/agent_settings.h"
#include "tidewatt/base/log.h"
#include "tidewatt/config/settings.h"
#include "tidewatt/net/certificate.h"
#include "tidewatt/net/server.h"
#include "tidewatt/os/posix.h"

namespace {

using namespace tidewatt;

struct Arguments {
  std::string config_file;
  bool help = false;
  bool version = false;
  bool check_config = false;
  bool sample_config = false;
  std::vector<std::string> settings;  // all others
  std::string trouble;
};

Arguments parse_arguments(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      out.help = true;
    } else if (argument == "--version") {
      out.version = true;
    } else if (argument == "--check-config") {
      out.check_config = true;
    } else if (argument == "--sample-config") {
      out.sample_config = true;
    } else if (argument.starts_with("--config=")) {
      out.config_file = argument.substr(argument.find('=') + 1);
    } else if (argument == "--config") {
      if (i + 1 == argc) {
        out.trouble = "--config: needs a file";
      } else {
        out.config_file = argv[++i];
      }
    } else {
      out.settings.push_back(argument);
    }
  }
  return out;
}

void print_help() {
  std::printf(
      "Usage: tidewatt-agent [--config FILE] [SETTING...]\n"
      "Reads this node's power and sends it to a Tidewatt server.\n\n"
      "  --config FILE\n      YAML file with the settings below; flags win over the environment, that over "
      "the file.\n"
      "  --check-config\n      Report all mistakes in the settings and exit.\n"
      "  --sample-config\n      Print a file with every setting, its default and what it means.\n"
      "  --version\n      Print the version and exit.\n"
      "  --help\n      Print this and exit.\n\n"
      "Settings (in the file: spool.max_age for --spool-max-age, and so on):\n%s\n"
      "Examples:\n"
      "  tidewatt-agent --server https://tidewatt.example --token-file /etc/tidewatt/agent.token\n"
      "  tidewatt-agent --once --sources auto,tool:npu-smi\n"
      "  tidewatt-agent --config /etc/tidewatt/agent.yaml --check-config\n\n"
      "Exit codes: 0 all is well, 1 the agent could not run, 2 the settings are wrong.\n",
      agent::agent_settings().help().c_str());
}

log::Level level_of(const std::string& name) {
  if (name == "debug") return log::Level::debug;
  if (name == "warning") return log::Level::warning;
  if (name == "error") return log::Level::error;
  return log::Level::info;
}

std::optional<std::string> from_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

struct Loaded {
  std::unique_ptr<config::Settings> settings;
  agent::AgentConfig config;
  std::vector<std::string> problems;  ///< one line each; the rest holds only when there is none
};

Loaded load(const Arguments& arguments) {
  Loaded out;
  out.settings = std::make_unique<config::Settings>(agent::agent_settings());
  auto& settings = *out.settings;
  if (!arguments.config_file.empty()) {
    const auto text = os::make_file_system()->read_text(arguments.config_file, 1U << 20U);
    if (!text) {
      out.problems.push_back("--config: " + text.error().to_string());
      return out;
    }
    settings.load_yaml(*text, arguments.config_file);
  }
  settings.load_environment(from_environment);
  settings.load_flags(arguments.settings);
  settings.finish();
  out.config = agent::config_from(settings);
  for (const auto& problem : settings.problems()) out.problems.push_back(problem.to_string());
  return out;
}

/// The nearest folder above that is there; "/" at the end.
std::string nearest_folder(std::string path) {
  while (path.size() > 1 && ::access(path.c_str(), F_OK) != 0) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    path.resize(std::max<std::size_t>(slash, 1));
  }
  return path;
}

/// By making one: /proc says that root may write it.
bool can_make_files_in(const std::string& folder) {
  auto name = folder + "/.tidewatt-XXXXXX";
  return ::mkdtemp(name.data()) != nullptr && ::rmdir(name.c_str()) == 0;
}

bool is_folder(const std::string& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

/// Files and folders that the settings name and that can't be used. The agent may start without some of them,
/// and its beats wait or its devices are unknown.
std::vector<std::string> unusable_files(const Loaded& loaded) {
  const auto files = os::make_file_system();
  std::vector<std::string> missing;
  const auto need_file = [&](const std::string& setting, const std::string& path, bool secret = false) {
    if (path.empty()) return;
    constexpr std::size_t kLargest = 256U << 20U;
    if (const auto text = files->read_text(path, kLargest); !text) {
      missing.push_back(setting + ": " + text.error().to_string());
    } else if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
      missing.push_back(setting + ": " + path + " is empty");
    } else if (struct stat found{};
               secret && ::stat(path.c_str(), &found) == 0 && (found.st_mode & 077U) != 0) {
      std::fprintf(stderr, "tidewatt-agent: warning: %s: %s can be read by other users: chmod 600 %s\n",
                   setting.c_str(), path.c_str(), path.c_str());
    }
  };
  const auto need_folder = [&](const std::string& setting, const std::string& path) {
    if (path.empty()) return;
    if (const auto list = files->list(path); !list)
      missing.push_back(setting + ": " + list.error().to_string());
  };
  for (const char* secret : {"token", "relay_token"}) {
    const auto setting = std::string{secret} + "_file";
    if (const auto text = loaded.settings->secret(secret, *files); !text)
      missing.push_back(setting + ": " + text.error().to_string());
    else
      need_file(setting, loaded.settings->secret_file(secret), true);
  }
  const auto& config = loaded.config;
  if (!loaded.settings->given("token") && !config.once && loaded.settings->file_understood())
    missing.emplace_back(
        "token_file: none is given, and the server takes no beats without: give --token-file, or set "
        "TIDEWATT_TOKEN");
  need_file("ca_file", config.ca_file);
  if (const auto pem = config.ca_file.empty() ? Result<std::string>{""} : files->read_text(config.ca_file);
      pem && !pem->empty())
    if (const auto life = net::certificate_life(*pem); !life)
      missing.push_back("ca_file: " + config.ca_file + ": " + life.error().to_string());
  const auto before = missing.size();
  need_file("tls.certificate", config.tls_certificate);
  need_file("tls.key", config.tls_key, true);
  if (!config.tls_certificate.empty() && missing.size() == before)
    if (const auto usable = net::check_tls_files(config.tls_certificate, config.tls_key); !usable)
      missing.push_back("tls.certificate: " + usable.error().to_string());
  need_folder("host_root", config.host_root);
  if (config.attribution.on() && loaded.settings->given("attribution.cgroup_root"))
    need_folder("attribution.cgroup_root", config.host_root + config.attribution.cgroup_root);
  if (const auto there = nearest_folder(config.spool_folder); !is_folder(there))
    missing.push_back("spool.dir: " + there + " is no folder");
  else if (!can_make_files_in(there))
    missing.push_back("spool.dir: " + config.spool_folder + " can't be made or written by this user (" +
                      there + "); give --spool-dir a folder that it may write");
  for (const auto& source : config.sources) {
    const auto setting = "sources: " + source.kind;
    if (source.kind == "replay") need_file(setting, source.file);
    for (const auto& [name, value] : source.options) {
      const bool secret = name == "credentials" || name == "community";
      if (secret || name == "ca") need_file(setting + ": " + name, value, secret);
      if (name == "conf") need_folder(setting + ": conf", value);
      if (name == "tool" && ::access(value.c_str(), X_OK) != 0)
        missing.push_back(setting + ": tool: " + value + " isn't there or can't be run");
    }
  }
  return missing;
}

int run(int argc, char** argv) {
  const Arguments arguments = parse_arguments(argc, argv);
  if (arguments.help) {
    print_help();
    return 0;
  }
  if (arguments.version) {
    std::printf("tidewatt-agent %s\n", TIDEWATT_VERSION);
    return 0;
  }
  if (arguments.sample_config) {
    std::printf("%s", agent::agent_settings().sample_yaml().c_str());
    return 0;
  }
  if (!arguments.trouble.empty()) {
    std::fprintf(stderr, "tidewatt-agent: %s\n", arguments.trouble.c_str());
    return app::kExitUsage;
  }
  Loaded loaded = load(arguments);
  for (const auto& problem : loaded.problems) std::fprintf(stderr, "tidewatt-agent: %s\n", problem.c_str());
  if (arguments.check_config) {
    if (loaded.problems.empty()) std::printf("%s", loaded.settings->describe().c_str());
    const auto missing = unusable_files(loaded);
    for (const auto& problem : missing) std::fprintf(stderr, "tidewatt-agent: %s\n", problem.c_str());
    return missing.empty() && loaded.problems.empty() ? 0 : app::kExitUsage;
  }
  if (!loaded.problems.empty()) return app::kExitUsage;
  log::set_level(level_of(loaded.config.log_level));
  if (loaded.config.once) return app::print_one_beat(loaded.config);
  Loaded next;
  const auto sound = [&] {
    next = load(arguments);
    auto problems = next.problems;
    const auto unusable = unusable_files(next);
    problems.insert(problems.end(), unusable.begin(), unusable.end());
    for (const auto& problem : problems)
      log::error("the settings are not read again, they are wrong; the old ones hold", {{"error", problem}});
    return problems.empty();
  };
  app::KeptPtr kept;
  for (;;) {
    const int code = app::run_agent(loaded.config, *loaded.settings, sound, kept);
    if (code != app::kReload) return code;
    loaded = std::move(next);
    log::set_level(level_of(loaded.config.log_level));
  }
}

}  // namespace

int main(int argc, char** argv) {
  app::bound_memory();
  try {
    if (argc > 1 && std::string_view{argv[1]} == "sensor") app::run_sensor({argv + 2, argv + argc});
    os::adopt_orphans();
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tidewatt-agent: internal error: %s; please report it\n", error.what());
    return app::kExitFailure;
  }
}
