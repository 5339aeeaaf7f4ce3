// A PostgreSQL of a test program's own: in a folder of its own, on a socket of its own, gone at the end.
// fsync stays on: what is tested is what is promised.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "tidewatt/store/postgres.h"

namespace tidewatt::store::testing {

class PostgresCluster {
 public:
  /// Started at the first call. nullptr where PostgreSQL isn't installed: `why_not()` says so.
  static PostgresCluster* get();
  static const std::string& why_not();

  ~PostgresCluster();
  PostgresCluster(const PostgresCluster&) = delete;
  PostgresCluster& operator=(const PostgresCluster&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  /// A schema that nothing else uses.
  [[nodiscard]] std::string fresh_schema();
  /// psql -c SQL. @return what it prints, without the last line break
  std::string sql(const std::string& sql) const;
  void start(const std::string& more_options = {});
  /// False when it doesn't come up, or runs already.
  bool try_start(const std::string& more_options = {});
  /// mode: fast | immediate
  void stop(const std::string& mode);
  /// The postmaster and all that belong to it. signal: SIGSTOP, SIGCONT
  void signal_all(int signal) const;

  /// @param folder must exist and be the cluster's user's
  static std::unique_ptr<PostgresCluster> make(const std::string& folder, bool owns_folder);

 private:
  PostgresCluster(std::string folder, bool owns_folder);
  [[nodiscard]] pid_t postmaster() const;
  int run(const std::string& program, const std::string& arguments) const;

  std::string folder_;
  bool owns_folder_;
  std::string url_;
  int schemas_ = 0;
};

}  // namespace tidewatt::store::testing
