// What squeue says. Names and comments are their owners' text: fields are parted by a mark that they can't
// know.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::slurm {

struct QueuedJob {
  std::string id;     ///< digits; of an array's waiting jobs the array's
  std::string state;  ///< PENDING, RUNNING, ...
  std::string reason;
  std::optional<UtcTime> submitted;
  std::optional<UtcTime> eligible;
  std::optional<UtcTime> started;  ///< of a running job
  std::optional<UtcTime> deadline;
  std::optional<Milliseconds> limit;  ///< nullopt: unlimited, or unknown
  bool held = false;                  ///< waits for somebody to release it
  bool may_requeue = false;
  std::string comment;
  std::string admin_comment;
};

struct Queue {
  std::vector<QueuedJob> jobs;
  std::size_t unreadable = 0;  ///< rows that weren't understood
};

/// The value of squeue's --Format. `mark` is random for each call: letters and digits.
std::string queue_format(std::string_view mark);
/// Times in seconds since 1970, as with SLURM_TIME_FORMAT=%s.
/// @error corrupt  the text isn't made of whole rows
Result<Queue> parse_queue(std::string_view text, std::string_view mark);

/// "1-02:03:04", "02:03:04", "03:04", as Slurm prints a length; nullopt for anything else ("UNLIMITED").
std::optional<Milliseconds> parse_length(std::string_view text);

}  // namespace tidewatt::slurm
