// The book on top of a journal: each request once, each record written before it counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/market/commands.h"

namespace tidewatt::market {

enum class Appended : std::uint8_t {
  done,       ///< durable now
  seq_taken,  ///< somebody else wrote this number
  key_known,  ///< this key has a record
};

/// Where records are kept, in one transaction each. Several programs may share one.
class Journal {
 public:
  virtual ~Journal() = default;
  virtual Result<Appended> append(const Record& record) = 0;
  [[nodiscard]] virtual Result<std::optional<Record>> find(const std::string& key) = 0;
  /// Those behind `seq`, in order, at most `limit`.
  [[nodiscard]] virtual Result<std::vector<Record>> read(std::uint64_t after, std::size_t limit) = 0;
};

struct Request {
  std::string key;
  std::string actor;
  Command command;
};

struct Outcome {
  Record record;
  bool repeated = false;  ///< it was done before; nothing was done now
};

struct Admission {
  Decision decision;              ///< without `standing`
  std::uint64_t reservation = 0;  ///< 0 = none was made
  std::optional<UtcTime> expires_at;
  bool repeated = false;
};

/// For one thread at a time.
class Market {
 public:
  explicit Market(Journal& journal) : journal_(journal) {}

  /// Reads what others wrote, or all at a start.
  Status catch_up();
  /// @error invalid_input, conflict, not_found  as decide(); conflict also for another request under a key
  Result<Outcome> run(const Request& request, UtcTime at);
  /// A dry run reads the state, and nothing else.
  Result<Admission> admit(const Request& request, UtcTime at, bool dry_run);
  [[nodiscard]] const Book& book() const { return book_; }

 private:
  Result<std::optional<Outcome>> done_before(const Request& request);

  Journal& journal_;
  Book book_;
};

}  // namespace tidewatt::market
