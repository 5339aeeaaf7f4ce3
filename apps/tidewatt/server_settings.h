// The server's settings: one table; file, environment and flags become arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server_forward.h"
#include "tidewatt/api/api.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/base/result.h"
#include "tidewatt/config/settings.h"
#include "tidewatt/emma/chain_alerts.h"
#include "tidewatt/emma/emma.h"
#include "tidewatt/net/server.h"

namespace tidewatt::cli {

struct Endpoint {
  std::string address;
  std::uint16_t port = 0;
};

struct ServerArguments {
  std::string address = "127.0.0.1";
  std::uint16_t port = 7310;
  std::string data_folder;
  std::string store = "sqlite";  ///< sqlite | memory | postgresql://...
  std::string store_password;    ///< for PostgreSQL; wins over one in the URL
  std::string agent_token_copy;  ///< also write the agents' token here; empty = no
  std::string tls_certificate;
  std::string tls_key;
  std::optional<Endpoint> cluster_listen;  ///< also serve /k8s/ there, without sign-in
  std::optional<Endpoint> keda_listen;     ///< KEDA's external scaler over gRPC
  std::size_t workers = 2;
  api::ApiOptions api;
  emma::AlertTargets carbon_alerts;
  emma::Options carbon;  ///< its cache folder is the data folder's
  Milliseconds carbon_timeout{5'000};
  std::string carbon_ca_file;
  ForwardSettings forward;
};

const config::SettingsTable& server_settings_table();

/// One flag given on the command line: setting and value.
struct Flag {
  std::string path;
  std::string value;
};
/// File, then environment, then flags. All problems are collected.
/// @param config_file empty = none
/// @return arguments, or the problems, one per line
struct LoadedServer {
  ServerArguments arguments;
  std::vector<std::string> problems;
  std::string effective;  ///< every setting as it holds
};
LoadedServer load_server_settings(const std::string& config_file, const std::vector<Flag>& flags,
                                  const FileSystem& files);

/// "127.0.0.1:7310", "[::1]:7310", ":7310" (all addresses). @error invalid_input
Result<Endpoint> parse_endpoint(const std::string& text);
bool is_loopback(const std::string& address);

}  // namespace tidewatt::cli
