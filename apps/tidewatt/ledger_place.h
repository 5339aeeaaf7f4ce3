// Where a ledger is, for the commands that work on one: a file, a database, or behind a server.
#pragma once

#include <memory>
#include <string>

#include "server_access.h"
#include "tidewatt/base/result.h"
#include "tidewatt/ledger/store.h"

namespace CLI {
class App;
}

namespace tidewatt::cli {

struct LedgerPlace {
  std::string db;             ///< an SQLite file
  std::string store;          ///< a PostgreSQL URL
  std::string password_file;  ///< for `store`
  ServerAccess access;        ///< where neither is given

  /// Adds --db, --store and --store-password-file; and how to reach a server.
  void add_options(CLI::App& command, bool with_server);
  [[nodiscard]] bool is_local() const { return !db.empty() || !store.empty(); }

  /// For reading; a server may use it meanwhile. Where nothing is given: the file of a server of this user.
  [[nodiscard]] Result<std::unique_ptr<ledger::ImageSource>> open_image() const;
  /// For writing. @error conflict  a server has the file
  [[nodiscard]] Result<std::unique_ptr<ledger::Store>> open_store() const;
  /// PostgreSQL's password; empty where no file is given.
  [[nodiscard]] Result<std::string> password() const;
};

/// The file that a server of this user keeps its ledger in.
std::string default_ledger_file();

}  // namespace tidewatt::cli
