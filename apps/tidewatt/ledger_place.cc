#include "ledger_place.h"

#include <CLI/CLI.hpp>

#include "tidewatt/os/posix.h"
#include "tidewatt/store/postgres.h"
#include "tidewatt/store/sqlite.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {

void LedgerPlace::add_options(CLI::App& command, bool with_server) {
  auto* file =
      command.add_option("--db", db, "The ledger's SQLite file (a server's data folder: tidewatt.db)");
  command.add_option("--store", store, "PostgreSQL URL of the ledger")
      ->excludes(file)
      ->check([](const std::string& url) {
        return store::is_postgres_url(url) ? std::string{}
                                           : "\"" + url + "\" is no PostgreSQL URL (for a file use --db)";
      });
  command.add_option("--store-password-file", password_file, "File with PostgreSQL's password");
  if (with_server) access.add_options(command);
}

Result<std::string> LedgerPlace::password() const {
  if (password_file.empty()) return std::string{};
  TW_TRY(const auto text, os::make_file_system()->read_text(password_file));
  return std::string{trim(text)};
}

Result<std::unique_ptr<ledger::ImageSource>> LedgerPlace::open_image() const {
  if (store.empty()) return store::open_sqlite_image(db.empty() ? default_ledger_file() : db);
  store::PostgresOptions options;
  options.url = store;
  TW_TRY(options.password, password());
  return store::open_postgres_image(options);
}

Result<std::unique_ptr<ledger::Store>> LedgerPlace::open_store() const {
  if (!store.empty()) {
    store::PostgresOptions options;
    options.url = store;
    TW_TRY(options.password, password());
    return store::open_postgres_store(options);
  }
  if (!os::make_file_system()->exists(db))
    return fail(ErrorCode::not_found, db + ": there is no such file", "give a ledger's file");
  store::SqliteOptions options;
  options.path = db;
  auto opened = store::open_sqlite_store(options);
  if (!opened && opened.error().code == ErrorCode::conflict) {
    auto error = opened.error();
    error.hint = "ask that server instead: leave out --db, give --server";
    return tl::unexpected(std::move(error));
  }
  return opened;
}

std::string default_ledger_file() { return default_data_folder() + "/tidewatt.db"; }

}  // namespace tidewatt::cli
