#include "tidewatt/slurm/accounting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tidewatt/units/printable.h"
#include "tidewatt/units/text.h"

namespace tidewatt::slurm {
namespace {

constexpr std::size_t kLongestWord = 64;
constexpr std::size_t kMostRuns = 1'000'000;
/// In the order in which jobcomp/filetxt writes them.
constexpr std::array<std::string_view, 14> kKeys{
    "JobId=",     "UserId=",  "GroupId=",  "Name=",    "JobState=", "Partition=", "TimeLimit=",
    "StartTime=", "EndTime=", "NodeList=", "NodeCnt=", "ProcCnt=",  "WorkDir=",   "SubmitTime="};
constexpr std::array<std::string_view, 7> kColumns{
    "JobIDRaw", "User", "State", "Submit", "Start", "End", "ConsumedEnergyRaw"};

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= 10 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string word(std::string_view text) { return printable(text.substr(0, text.find(' ')), kLongestWord); }

std::optional<UtcTime> epoch(std::string_view text) {
  constexpr std::int64_t kYear9999 = 253'402'300'799;
  const auto at = parse_int64(text);
  if (!at || *at <= 0 || *at > kYear9999) return std::nullopt;
  return UtcTime{std::chrono::seconds{*at}};
}

/// Begins and ends that can't be are unknown.
void set_times(RanJob& run, std::optional<UtcTime> start, std::optional<UtcTime> end) {
  run.started = start;
  if (start && end && *end >= *start) run.ended = end;
}

/// The values between the keys; nullopt when one is missing or stands there twice, since a name may hold any
/// text.
std::optional<std::array<std::string_view, kKeys.size()>> values_of(std::string_view line) {
  std::array<std::string_view, kKeys.size()> values;
  std::size_t from = 0;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const auto key = i == 0 ? std::string(kKeys[i]) : fmt::format(" {}", kKeys[i]);
    const auto at = line.find(key, from);
    if (at == std::string_view::npos || (i == 0 && at != 0) || line.find(key) != line.rfind(key))
      return std::nullopt;
    if (i > 0) values[i - 1] = line.substr(from, at - from);
    from = at + key.size();
  }
  values.back() = line.substr(from);
  return values;
}

std::optional<RanJob> run_from(std::string_view line, const LocalTime& local) {
  const auto values = values_of(line);
  if (!values || !is_id((*values)[0])) return std::nullopt;
  RanJob run;
  run.id = (*values)[0];
  run.user = word((*values)[1].substr(0, (*values)[1].find('(')));
  run.state = word((*values)[4]);
  const auto time = [&](std::size_t i) { return local((*values)[i].substr(0, (*values)[i].find(' '))); };
  run.submitted = time(13);
  set_times(run, time(7), time(8));
  return run;
}

}  // namespace

Accounting parse_job_completions(std::string_view text, const LocalTime& local) {
  Accounting out;
  while (!text.empty() && out.runs.size() < kMostRuns) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (auto run = run_from(line, local))
      out.runs.push_back(*std::move(run));
    else
      ++out.unreadable;
  }
  return out;
}

std::string sacct_format() {
  std::string out;
  for (const auto column : kColumns) out += fmt::format("{}{}", out.empty() ? "" : ",", column);
  return out;
}

std::string separator_of(std::string_view mark) { return fmt::format("|{}|", mark); }

Result<Accounting> parse_sacct(std::string_view text, std::string_view mark) {
  const auto separator = separator_of(mark);
  Accounting out;
  while (out.runs.size() < kMostRuns) {
    while (text.starts_with('\n')) text.remove_prefix(1);
    if (text.empty()) return out;
    std::array<std::string_view, kColumns.size()> row;
    for (auto& field : row) {
      const auto end = text.find(separator);
      if (end == std::string_view::npos)
        return fail(ErrorCode::corrupt, fmt::format("sacct's row {} is cut", out.runs.size() + 1));
      field = trim(text.substr(0, end));
      text.remove_prefix(end + separator.size());
    }
    if (!is_id(row[0])) {
      ++out.unreadable;
      continue;
    }
    RanJob run;
    run.id = row[0];
    run.user = word(row[1]);
    run.state = word(row[2]);
    run.submitted = epoch(row[3]);
    set_times(run, epoch(row[4]), epoch(row[5]));
    if (const auto joules = parse_double(row[6]); joules && *joules > 0) run.slurm_joules = *joules;
    out.runs.push_back(std::move(run));
  }
  return fail(ErrorCode::corrupt, "sacct prints more than a million rows");
}

}  // namespace tidewatt::slurm
