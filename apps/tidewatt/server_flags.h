// The flags that `server` and `demo` share, as settings.
#pragma once

#include <string>
#include <vector>

#include "server_settings.h"

namespace CLI {
class App;
}

namespace tidewatt::cli {

struct ServerFlags {
  std::string listen;
  int port = -1;
  std::string data;
  std::string store;
  std::string store_password_file;
  std::string tls_certificate;
  std::string tls_key;
  bool insecure = false;

  /// Adds --listen, --port, --data, --store, --store-password-file, --tls-cert, --tls-key and
  /// --insecure-listen.
  void add_to(CLI::App& command);
  /// Those that were given.
  [[nodiscard]] std::vector<Flag> given() const;
};

}  // namespace tidewatt::cli
