// One table describes each setting; validation, --help and the documentation come from it.
//
//   const SettingsTable table{{.path = "spool.max_age", .kind = Kind::duration, .fallback = "7d", .minimum =
//   "1h",
//                              .help = "How long an unsent beat is kept."}, ...};
//   Settings settings{table};
//   settings.load_yaml(text, "/etc/tidewatt/agent.yaml");
//   settings.load_environment(lookup);
//   settings.load_flags(arguments);
//   settings.finish();
//   if (!settings.problems().empty()) ...print all of them, exit 2...
//   const Milliseconds age = settings.duration("spool.max_age");
//
// Later loads override earlier ones. All problems are collected, none stops the others from being found.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/base/file_system.h"
#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::config {

enum class Kind : std::uint8_t {
  text,
  integer,
  number,
  boolean,   ///< true | false
  duration,  ///< "250ms", "20s", "7d": always with a unit
  bytes,     ///< "4096", "256MiB", "4MB"
  choice,    ///< one of `choices`
  list,      ///< YAML list of texts; as a flag comma-separated, repeatable
  map,       ///< YAML map of texts; as a flag key=value, repeatable
  secret,    ///< never in the file or on the command line: `<path>_file` names a file, or the environment has
             ///< it
};
/// "duration", "list", ...
std::string_view to_string(Kind kind);

struct Setting {
  std::string path{};  ///< "spool.max_age": section and key, snake_case; the flag is --spool-max-age
  Kind kind = Kind::text;
  std::string fallback{};  ///< the default, written as in the file; empty = none
  std::string minimum{};   ///< inclusive, written as in the file; empty = open
  std::string maximum{};   ///< likewise
  std::vector<std::string> choices{};
  std::string help{};     ///< one sentence
  std::string metavar{};  ///< for --help; empty = from the kind
  std::string env{};      ///< environment variable; empty = none
  bool required = false;
  bool flag_only = false;  ///< makes no sense in a file (--once)
};

class SettingsTable {
 public:
  SettingsTable(std::initializer_list<Setting> settings) : settings_(settings) {}
  explicit SettingsTable(std::vector<Setting> settings) : settings_(std::move(settings)) {}
  [[nodiscard]] const std::vector<Setting>& settings() const { return settings_; }
  [[nodiscard]] const Setting* find(std::string_view path) const;
  /// All paths that a file may hold (secrets as `<path>_file`).
  [[nodiscard]] std::vector<std::string> file_paths() const;
  /// One paragraph a flag: "  --beat DURATION  One sentence. (default 20s; 1s to 10m; env X)".
  [[nodiscard]] std::string help() const;
  /// A YAML file with every setting commented out at its default, and its sentence.
  [[nodiscard]] std::string sample_yaml() const;

 private:
  std::vector<Setting> settings_;
};

/// "--spool-max-age" of "spool.max_age"; secrets get "--token-file".
std::string flag_of(const Setting& setting);

/// What can't be used, where it stands, and what to do. One line.
struct Problem {
  std::string where;  ///< "agent.yaml:14:13", "--beat" or "environment TIDEWATT_TOKEN"
  std::string path;   ///< the setting; empty when the file as a whole is meant
  std::string text;   ///< with the offending value and what is accepted
  /// "where: path: text", without the path where the flag or the text names it
  [[nodiscard]] std::string to_string() const;
};

class Settings {
 public:
  /// @param table outlives this
  explicit Settings(const SettingsTable& table);

  /// @param name of the file, for messages
  void load_yaml(std::string_view text, const std::string& name);
  void load_environment(const std::function<std::optional<std::string>(const std::string& name)>& lookup);
  /// --path value, --path=value; a boolean may stand alone. "--" and words that are no flag are problems.
  /// @param arguments without the program's name and without flags that the app handles itself
  void load_flags(std::span<const std::string> arguments);
  /// For front ends with their own flag parser: one value as text; lists and maps are appended to.
  void set(const std::string& path, const std::string& value, const std::string& where);
  /// Call last: reports what is required and absent.
  void finish();

  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }
  /// False when a file is no YAML at all: what it was to give is unknown, so that nothing is missing for
  /// sure.
  [[nodiscard]] bool file_understood() const { return file_understood_; }
  /// A rule over several settings that the table can't express.
  void add_problem(const std::string& path, const std::string& text);

  // Typed access. The path must be in the table and of that kind: anything else is a bug and throws
  // std::logic_error. Values with problems, and absent ones without a default, are nullopt / empty.
  [[nodiscard]] std::string text(std::string_view path) const;  ///< text and choice
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(std::string_view path) const;
  [[nodiscard]] std::optional<double> maybe_number(std::string_view path) const;
  [[nodiscard]] std::optional<Milliseconds> maybe_duration(std::string_view path) const;
  [[nodiscard]] std::int64_t integer(std::string_view path) const { return maybe_integer(path).value(); }
  [[nodiscard]] double number(std::string_view path) const { return maybe_number(path).value(); }
  [[nodiscard]] Milliseconds duration(std::string_view path) const { return maybe_duration(path).value(); }
  [[nodiscard]] bool boolean(std::string_view path) const;  ///< absent = false
  [[nodiscard]] std::uint64_t bytes(std::string_view path) const;
  [[nodiscard]] std::vector<std::string> list(std::string_view path) const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> map(std::string_view path) const;
  /// The file a secret is to be read from; empty = none.
  [[nodiscard]] std::string secret_file(std::string_view path) const;
  /// The secret, from the environment or else read from its file (trimmed). nullopt = not configured.
  /// @error what reading the file gave, or invalid_input when it is empty
  [[nodiscard]] Result<std::optional<std::string>> secret(std::string_view path,
                                                          const FileSystem& files) const;

  /// True when the file, the environment or a flag gave it.
  [[nodiscard]] bool given(std::string_view path) const;
  /// Effective values as YAML-like lines "path: value  # where"; secrets print as ***.
  [[nodiscard]] std::string describe() const;

 private:
  struct Value {
    std::string text;
    std::vector<std::string> items;
    std::vector<std::pair<std::string, std::string>> pairs;
    bool from_environment = false;  // secrets: `text` is the secret itself, else its file
    std::string where;
  };
  const Setting& setting(std::string_view path, Kind kind) const;
  const Value* value(std::string_view path) const;
  void problem(const std::string& where, const std::string& path, std::string text);
  void store(const Setting& setting, Value value);
  void assign(const Setting& setting, const std::string& text, const std::string& where);

  friend class YamlLoader;
  const SettingsTable& table_;
  std::map<std::string, Value, std::less<>> values_;
  std::vector<Problem> problems_;
  bool file_understood_ = true;
};

}  // namespace tidewatt::config
