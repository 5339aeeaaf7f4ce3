// Attempts that failed, told so that nobody can flood the audit log with them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/units/time.h"

namespace tidewatt::api {

/// In each window of time an address is named at its first failure, and its further ones are told as a number
/// when the window ends; addresses beyond the first few are only counted. So a window has at most
/// 2 x kMostAddresses + 1 entries, however many attempts there are. Thread-safe.
class FailedAttempts {
 public:
  static constexpr Milliseconds kWindow{10 * 60 * 1000};
  static constexpr std::size_t kMostAddresses = 20;

  /// @param cause  a few words for the log, ours and not the caller's: "wrong token"
  /// @return what the log should say now
  std::vector<std::string> add(std::string_view address, std::string_view cause, SteadyTime now);
  /// Ends the window when it is over. @return what the log should say now
  std::vector<std::string> tell(SteadyTime now);
  /// Ends the window now, as before a stop.
  std::vector<std::string> tell_all();
  [[nodiscard]] std::uint64_t total() const;

 private:
  std::vector<std::string> end_window();

  mutable std::mutex mutex_;
  std::optional<SteadyTime> began_;
  std::map<std::string, std::uint64_t, std::less<>> more_;  ///< address -> failures after its first
  std::uint64_t others_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace tidewatt::api
