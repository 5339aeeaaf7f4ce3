#include "server_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace tidewatt::cli {

void ServerFlags::add_to(CLI::App& command) {
  auto* endpoint = command.add_option("--listen", listen, "Address and port (default 127.0.0.1:7310)")
                       ->type_name("HOST:PORT");
  command.add_option("--port", port, "Port on 127.0.0.1; 0 = any free one")
      ->type_name("N")
      ->excludes(endpoint)
      ->check(CLI::Range(0, 65535));
  command
      .add_option("--data", data,
                  "Folder of the ledger and the token files (default: the user's data folder)")
      ->type_name("DIR");
  command.add_option("--store", store, "Where the ledger is kept (default sqlite, in --data)")
      ->type_name("sqlite|memory|URL");
  command.add_option("--store-password-file", store_password_file, "File with the password for PostgreSQL")
      ->type_name("FILE");
  command.add_option("--tls-cert", tls_certificate, "PEM file with the certificate chain")->type_name("FILE");
  command.add_option("--tls-key", tls_key, "PEM file with its key")->type_name("FILE");
  command.add_flag("--insecure-listen", insecure, "Serve other machines without TLS");
}

std::vector<Flag> ServerFlags::given() const {
  std::vector<Flag> flags;
  const auto add = [&flags](const char* path, const std::string& value) {
    if (!value.empty()) flags.push_back({path, value});
  };
  add("listen", port >= 0 && listen.empty() ? fmt::format("127.0.0.1:{}", port) : listen);
  add("data", data);
  add("store", store);
  add("store_password", store_password_file);
  add("tls.certificate", tls_certificate);
  add("tls.key", tls_key);
  if (insecure) flags.push_back({"insecure_listen", "true"});
  return flags;
}

}  // namespace tidewatt::cli
