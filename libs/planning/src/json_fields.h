// One JSON object read key by key: each key once, with its type and range; what is left over is unknown. The
// first thing wrong is kept with its path, and everything read after it is a default.
#pragma once

#include <simdjson.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"

namespace tidewatt::planning {

/// Where a value stands; rendered only when something is wrong.
struct JsonPath {
  const JsonPath* parent = nullptr;
  std::string_view key;
  std::optional<std::size_t> index;
  [[nodiscard]] std::string text() const;
};

/// The first refusal.
class Refusal {
 public:
  void refuse(std::string_view word, const std::string& path, const std::string& what);
  [[nodiscard]] bool happened() const { return error_.has_value(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

/// The text of a value for a message: short, one line.
std::string shown(std::string_view text);

using Element = simdjson::dom::element;

/// Readers of one value: a default and a refusal when it is of another type or out of range.
double read_number(Element value, const JsonPath& path, Refusal& refusal, double least);
std::int64_t read_integer(Element value, const JsonPath& path, Refusal& refusal, std::int64_t least,
                          std::int64_t most);
std::string_view read_string(Element value, const JsonPath& path, Refusal& refusal);
std::optional<simdjson::dom::array> read_array(Element value, const JsonPath& path, Refusal& refusal,
                                               std::size_t most);

class JsonFields {
 public:
  /// Refuses what is no object, and an object that has a key twice.
  JsonFields(Element value, const JsonPath& path, Refusal& refusal);
  JsonFields(const JsonFields&) = delete;
  JsonFields& operator=(const JsonFields&) = delete;

  /// The value of a key; nullopt where it isn't there.
  std::optional<Element> find(std::string_view key);
  /// As find, where null is as good as absent.
  std::optional<Element> find_not_null(std::string_view key);
  std::optional<Element> require(std::string_view key);

  double number(std::string_view key, double otherwise, double least);
  std::int64_t integer(std::string_view key, std::int64_t otherwise, std::int64_t least, std::int64_t most);
  bool boolean(std::string_view key, bool otherwise);
  std::string_view string(std::string_view key, std::string_view otherwise);
  std::string_view required_string(std::string_view key);
  double required_number(std::string_view key, double least);
  std::int64_t required_integer(std::string_view key, std::int64_t least, std::int64_t most);

  [[nodiscard]] JsonPath at(std::string_view key) const { return {&path_, key, std::nullopt}; }
  void refuse(std::string_view word, std::string_view key, const std::string& what);
  /// Refuses keys that nobody asked for, except those that begin with x_.
  void no_others();

 private:
  struct Field {
    std::string_view key;
    Element value;
    bool asked = false;
  };
  const JsonPath& path_;
  Refusal& refusal_;
  std::vector<Field> fields_;
};

}  // namespace tidewatt::planning
