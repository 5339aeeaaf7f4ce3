// tidewatt backup and restore: a whole ledger to a file, and from it into an empty store.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "command.h"
#include "input.h"
#include "ledger_place.h"
#include "tidewatt/ledger/months.h"
#include "tidewatt/store/backup.h"
#include "tidewatt/store/postgres.h"
#include "tidewatt/store/sqlite.h"

namespace tidewatt::cli {
namespace {

void print(std::string_view what, const store::BackupSummary& summary) {
  fmt::print(
      "{}: {} nodes, {} accounts, {} hourly rows, {} adjustments, {} sealed months; all domains together {} "
      "uJ\n",
      what, summary.nodes, summary.accounts, summary.rows, summary.adjustments, summary.seals,
      summary.node_energy.to_string());
}

struct BackupOptions {
  LedgerPlace place;
  std::string to;
};

int run_backup(const BackupOptions& options) {
  const auto write = [&]() -> Result<store::BackupSummary> {
    TW_TRY(const auto image, options.place.open_image());
    return store::write_backup(*image, options.to);
  };
  const auto summary = write();
  if (!summary) return report("backup", summary.error());
  print(options.to, *summary);
  return kOk;
}

struct RestoreOptions {
  std::string file;
  std::string to;
  std::string password_file;
};

/// What went in must come out: the sums that the backup says, and everything adds up.
Status check_restored(const LedgerPlace& place, const store::BackupSummary& summary) {
  TW_TRY(const auto image, place.open_image());
  TW_TRY(const auto found, ledger::verify(*image));
  if (!found.ok())
    return fail(ErrorCode::corrupt,
                fmt::format("what was restored doesn't add up in {} places; the first: {}",
                            found.mismatch_count, found.mismatches.front()),
                "it was so in the ledger that the backup is of; tidewatt ledger verify tells all");
  if (found.accounts != summary.accounts || found.rows != summary.rows ||
      found.adjustments != summary.adjustments || found.seals != summary.seals ||
      found.node_energy != summary.node_energy)
    return fail(ErrorCode::corrupt, "what was restored isn't what the backup says",
                "restore again elsewhere");
  return {};
}

Result<store::BackupSummary> restore(const RestoreOptions& options) {
  LedgerPlace place;
  place.password_file = options.password_file;
  store::BackupSummary summary;
  const auto feed = [&](ledger::ImageSink& sink) -> Status {
    TW_TRY(summary, store::read_backup(options.file, sink));
    return {};
  };
  if (store::is_postgres_url(options.to)) {
    place.store = options.to;
    store::PostgresOptions postgres;
    postgres.url = options.to;
    TW_TRY(postgres.password, place.password());
    TW_TRY_STATUS(store::restore_postgres(postgres, feed));
  } else {
    place.db = options.to;
    store::SqliteOptions sqlite;
    sqlite.path = options.to;
    TW_TRY_STATUS(store::restore_sqlite(sqlite, feed));
  }
  TW_TRY_STATUS(check_restored(place, summary));
  return summary;
}

int run_restore(const RestoreOptions& options) {
  const auto summary = restore(options);
  if (!summary) return report("restore", summary.error());
  print(store::is_postgres_url(options.to) ? store::without_password(options.to) : options.to, *summary);
  fmt::print("Seals and sums are right.\n");
  return kOk;
}

}  // namespace

void add_backup_commands(CLI::App& app, int& exit_code) {
  auto* backup = app.add_subcommand("backup", "Write a whole ledger to a file, also while a server books");
  const auto wanted = std::make_shared<BackupOptions>();
  backup->add_option("--to", wanted->to, "The new file")->required();
  wanted->place.add_options(*backup, false);
  backup->footer(
      "Example: tidewatt backup --db /var/lib/tidewatt/tidewatt.db --to tidewatt-2026-11-30.backup");
  backup->callback([wanted, &exit_code] { exit_code = run_backup(*wanted); });

  auto* restoring =
      app.add_subcommand("restore", "Make a ledger of a backup, in a new file or an empty database");
  const auto options = std::make_shared<RestoreOptions>();
  restoring->add_option("FILE", options->file, "The backup")->required();
  restoring->add_option("--to", options->to, "A new SQLite file, or a PostgreSQL URL")->required();
  restoring->add_option("--store-password-file", options->password_file, "File with PostgreSQL's password");
  restoring->footer("Example: tidewatt restore tidewatt-2026-11-30.backup --to /var/lib/new/tidewatt.db");
  restoring->callback([options, &exit_code] { exit_code = run_restore(*options); });
}

}  // namespace tidewatt::cli
