// The heartbeat contract v1 as JSON, both ways. The only file that knows its field names.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/beat.h"

namespace tidewatt::wire {

/// Limits of one request; what is beyond is an error that names the limit.
inline constexpr std::size_t kMaxBeats = 1000;
inline constexpr std::size_t kMaxDevices = 1024;
inline constexpr std::size_t kMaxHolders = 256;
inline constexpr std::size_t kMaxIdBytes = 256;
inline constexpr std::size_t kMaxTextBytes = 4096;  ///< labels' values, model names, reasons

/// Parses a request body: one beat or an array of at most kMaxBeats.
/// @return one entry per beat, in order: the beat, or why it is refused (its neighbours stand)
/// @error invalid_input when the body as a whole is no JSON, or neither an object nor an array
/// of 1..kMaxBeats
class BeatParser {
 public:
  BeatParser();
  ~BeatParser();
  BeatParser(BeatParser&&) noexcept;
  BeatParser& operator=(BeatParser&&) noexcept;
  /// Reuses its buffers: one parser per thread.
  Result<std::vector<Result<Beat>>> parse(std::string_view body);

  /// One line of a recorded beat log: a beat, or {"received_at": "..Z", "beat": {...}}.
  struct Line {
    std::optional<UtcTime> received_at;
    Beat beat;
  };
  Result<Line> parse_line(std::string_view line);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The texts of a body's beats as they came, in order: of the one object, or of the array's elements. Empty
/// where it is neither, or holds more than kMaxBeats.
std::vector<std::string_view> beat_texts(std::string_view body);

/// One beat as compact JSON on one line.
std::string to_json(const Beat& beat);
/// Beats joined as a JSON array, from texts made by to_json.
std::string join_array(const std::vector<std::string>& beats);

/// Per-beat answers of POST /api/v1/heartbeats:
/// {"results":[{"status":"accepted"},{"status":"rejected","reason":"..."}]}
struct BeatAnswer {
  std::string status;  ///< accepted | duplicate | retry | rejected
  std::string reason;
};
std::string answers_to_json(const std::vector<BeatAnswer>& answers);
Result<std::vector<BeatAnswer>> answers_from_json(std::string_view body);

}  // namespace tidewatt::wire
