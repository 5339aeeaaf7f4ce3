// Small JSON bodies of admin requests, read strictly: unknown keys are errors that name the known ones.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core.h"

namespace tidewatt::api {

class Body {
 public:
  /// @error invalid_input: no JSON object, or a key that isn't in `keys`
  static Result<Body> parse(const net::Request& request, std::initializer_list<std::string_view> keys);
  /// The same, where no body at all is fine: it has no keys.
  static Result<Body> parse_optional(const net::Request& request,
                                     std::initializer_list<std::string_view> keys);
  /// Absent and null read as empty. @error invalid_input: no text, or longer than 1024 bytes
  [[nodiscard]] Result<std::string> text(std::string_view key) const;
  /// A name that is stored and printed. @error invalid_input: also control characters, or more than 256 bytes
  [[nodiscard]] Result<std::string> name(std::string_view key) const;
  [[nodiscard]] Result<std::optional<UtcTime>> time(std::string_view key) const;
  /// @error invalid_input: no whole number, or not in least..most
  [[nodiscard]] Result<std::optional<std::int64_t>> whole_number(std::string_view key, std::int64_t least,
                                                                 std::int64_t most) const;
  /// @error invalid_input: no number, or not in 0..most
  [[nodiscard]] Result<std::optional<double>> amount(std::string_view key, double most) const;
  /// @error invalid_input: no number, or not in -most..most
  [[nodiscard]] Result<std::optional<double>> signed_amount(std::string_view key, double most) const;
  /// Absent and null read as false. @error invalid_input: neither true nor false
  [[nodiscard]] Result<bool> flag(std::string_view key) const;

 private:
  Json object_;
};

/// Why `text` is no name that may be stored and printed: control characters, or more than 256 bytes.
/// @param what  how the message calls it
Status check_name(std::string_view what, std::string_view text);

}  // namespace tidewatt::api
