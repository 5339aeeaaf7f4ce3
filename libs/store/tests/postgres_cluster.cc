#include "postgres_cluster.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <vector>

namespace tidewatt::store::testing {
namespace {

/// Where initdb, postgres and pg_ctl are; empty = not installed.
std::string programs() {
  std::vector<std::string> found;
  const std::filesystem::path debian = "/usr/lib/postgresql";
  std::error_code none;
  for (const auto& version : std::filesystem::directory_iterator(debian, none))
    if (std::filesystem::exists(version.path() / "bin/initdb"))
      found.push_back((version.path() / "bin/").string());
  if (!found.empty()) return *std::max_element(found.begin(), found.end());
  for (const auto* folder : {"/usr/bin/", "/usr/local/bin/", "/usr/local/pgsql/bin/"})
    if (std::filesystem::exists(std::string(folder) + "initdb")) return folder;
  return {};
}

bool is_root() { return ::geteuid() == 0; }

/// PostgreSQL refuses to run as root.
std::string as_user() { return is_root() ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : ""; }

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> buffer{};
  while (const auto size = std::fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), size);
  ::pclose(pipe);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string& reason() {
  static std::string text;
  return text;
}

}  // namespace

PostgresCluster* PostgresCluster::get() {
  static std::unique_ptr<PostgresCluster> cluster = []() -> std::unique_ptr<PostgresCluster> {
    std::string name = (std::filesystem::temp_directory_path() / "tidewatt-pg-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return make(name, true);
  }();
  return cluster.get();
}

const std::string& PostgresCluster::why_not() { return reason(); }

std::unique_ptr<PostgresCluster> PostgresCluster::make(const std::string& folder, bool owns_folder) {
  std::unique_ptr<PostgresCluster> cluster(new PostgresCluster(folder, owns_folder));
  if (programs().empty()) {
    reason() = "PostgreSQL isn't installed: apt-get install postgresql";
    return nullptr;
  }
  if (is_root() && std::system(("chown postgres:postgres " + quoted(folder)).c_str()) != 0) {
    reason() = "there is no user postgres to run PostgreSQL as";
    return nullptr;
  }
  if (cluster->run("initdb", "--auth=trust --username=tidewatt --encoding=UTF8 --no-locale --no-sync -D " +
                                 quoted(folder + "/data")) != 0) {
    reason() = "initdb failed: " + output_of("tail -n 3 " + quoted(folder + "/log"));
    return nullptr;
  }
  cluster->start();
  return cluster;
}

PostgresCluster::PostgresCluster(std::string folder, bool owns_folder)
    : folder_(std::move(folder)),
      owns_folder_(owns_folder),
      url_("postgresql://tidewatt@/postgres?host=" + folder_ + "&port=5432") {}

PostgresCluster::~PostgresCluster() {
  signal_all(SIGCONT);
  stop("immediate");
  if (owns_folder_) std::filesystem::remove_all(folder_);
}

int PostgresCluster::run(const std::string& program, const std::string& arguments) const {
  return std::system(
      (as_user() + programs() + program + " " + arguments + " >>" + quoted(folder_ + "/log") + " 2>&1")
          .c_str());
}

std::string PostgresCluster::fresh_schema() {
  return "t" + std::to_string(::getpid()) + "_" + std::to_string(++schemas_);
}

std::string PostgresCluster::sql(const std::string& sql) const {
  return output_of("psql -X -q -A -t -v ON_ERROR_STOP=1 " + quoted(url_) + " -c " + quoted(sql) + " 2>&1");
}

void PostgresCluster::start(const std::string& more_options) {
  if (!try_start(more_options)) std::abort();
}

bool PostgresCluster::try_start(const std::string& more_options) {
  const auto options = "-c listen_addresses= -c unix_socket_directories=" + folder_ +
                       " -c shared_buffers=32MB -c max_connections=60 -c autovacuum_naptime=5s " +
                       more_options;
  return run("pg_ctl", "-w -t 60 -l " + quoted(folder_ + "/server.log") + " -D " + quoted(folder_ + "/data") +
                           " -o " + quoted(options) + " start") == 0;
}

void PostgresCluster::stop(const std::string& mode) {
  if (std::filesystem::exists(folder_ + "/data/postmaster.pid"))
    (void)run("pg_ctl", "-w -t 60 -m " + mode + " -D " + quoted(folder_ + "/data") + " stop");
}

pid_t PostgresCluster::postmaster() const {
  std::ifstream file(folder_ + "/data/postmaster.pid");
  pid_t pid = 0;
  file >> pid;
  return pid;
}

void PostgresCluster::signal_all(int signal) const {
  const auto parent = postmaster();
  if (parent <= 0) return;
  std::vector<pid_t> all{parent};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
    const auto name = entry.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
      continue;
    std::ifstream file(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto behind_name = text.rfind(") ");
    if (behind_name == std::string::npos) continue;
    std::istringstream rest(text.substr(behind_name + 4));
    pid_t its_parent = 0;
    if (rest >> its_parent && its_parent == parent) all.push_back(std::stoi(name));
  }
  for (const auto pid : all) ::kill(pid, signal);
}

}  // namespace tidewatt::store::testing
