// Jobs that ran, from sacct or from the text file of jobcomp/filetxt.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::slurm {

/// One time that a job ran. A job that was requeued has several, with the same id.
struct RanJob {
  std::string id;  ///< digits
  std::string user;
  std::string state;
  std::optional<UtcTime> submitted;
  std::optional<UtcTime> started;      ///< nullopt: it never did
  std::optional<UtcTime> ended;        ///< nullopt: it still runs
  std::optional<double> slurm_joules;  ///< ConsumedEnergyRaw; only true for jobs that had their nodes alone
};

struct Accounting {
  std::vector<RanJob> runs;    ///< as they stand in the text
  std::size_t unreadable = 0;  ///< lines that weren't understood, or whose names hold names of fields
};

/// "2026-11-30T20:26:24" as the accounting's host meant it.
using LocalTime = std::function<std::optional<UtcTime>(std::string_view text)>;

/// The text of jobcomp/filetxt, one job a line.
Accounting parse_job_completions(std::string_view text, const LocalTime& local);

/// The value of sacct's --format; its fields are parted by separator_of(mark).
std::string sacct_format();
std::string separator_of(std::string_view mark);
/// What `sacct --allusers --allocations --noheader --parsable --delimiter=... --format=...` prints, with
/// SLURM_TIME_FORMAT=%s.
/// @error corrupt  the text isn't made of whole rows
Result<Accounting> parse_sacct(std::string_view text, std::string_view mark);

}  // namespace tidewatt::slurm
