#include "tidewatt/slurm/queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tidewatt/units/text.h"

namespace tidewatt::slurm {
namespace {

constexpr std::array<std::string_view, 12> kFields{
    "JobID",    "State",     "Reason",  "SubmitTime",   "EligibleTime", "StartTime",
    "Deadline", "TimeLimit", "Requeue", "PriorityLong", "Comment",      "AdminComment"};
constexpr std::size_t kMostRows = 1'000'000;
constexpr std::size_t kLongestText = 4'096;

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 10 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<UtcTime> time_from(std::string_view text) {
  const auto at = parse_int64(text);
  constexpr std::int64_t kYear9999 = 253'402'300'799;
  if (!at || *at <= 0 || *at > kYear9999) return std::nullopt;
  return UtcTime{std::chrono::seconds{*at}};
}

std::string text_from(std::string_view text) {
  return text == "(null)" ? std::string{} : std::string(text.substr(0, kLongestText));
}

std::string separator(std::string_view mark) { return fmt::format("|{}|", mark); }

std::optional<QueuedJob> job_from(const std::array<std::string_view, kFields.size()>& row) {
  QueuedJob job;
  if (!is_number(row[0])) return std::nullopt;
  job.id = row[0];
  job.state = text_from(row[1]);
  job.reason = text_from(row[2]);
  job.submitted = time_from(row[3]);
  job.eligible = time_from(row[4]);
  job.started = time_from(row[5]);
  job.deadline = time_from(row[6]);
  job.limit = parse_length(row[7]);
  job.may_requeue = row[8] == "1";
  job.held = row[9] == "0";
  job.comment = text_from(row[10]);
  job.admin_comment = text_from(row[11]);
  return job;
}

}  // namespace

std::string queue_format(std::string_view mark) {
  std::string out;
  for (const auto field : kFields)
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", field, separator(mark));
  return out;
}

Result<Queue> parse_queue(std::string_view text, std::string_view mark) {
  const auto end_of_field = separator(mark);
  Queue queue;
  for (std::size_t rows = 0; rows < kMostRows; ++rows) {
    while (text.starts_with('\n')) text.remove_prefix(1);
    if (text.empty()) return queue;
    std::array<std::string_view, kFields.size()> row;
    for (auto& field : row) {
      const auto end = text.find(end_of_field);
      if (end == std::string_view::npos)
        return fail(ErrorCode::corrupt, fmt::format("squeue's row {} is cut", rows + 1));
      field = trim(text.substr(0, end));
      text.remove_prefix(end + end_of_field.size());
    }
    if (!text.empty() && text.front() != '\n')
      return fail(ErrorCode::corrupt, fmt::format("squeue's row {} doesn't end", rows + 1));
    if (auto job = job_from(row))
      queue.jobs.push_back(*std::move(job));
    else
      ++queue.unreadable;
  }
  return fail(ErrorCode::corrupt, "squeue prints more than a million rows");
}

std::optional<Milliseconds> parse_length(std::string_view text) {
  std::int64_t days = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    if (!is_number(text.substr(0, dash)) || dash > 6) return std::nullopt;
    days = parse_int64(text.substr(0, dash)).value_or(0);
    text.remove_prefix(dash + 1);
  }
  std::int64_t total = 0;
  for (int parts = 0; parts < 3; ++parts) {
    const auto part = text.substr(0, text.find(':'));
    if (!is_number(part) || part.size() > 7) return std::nullopt;
    constexpr std::int64_t kSixty = 60;
    total = total * kSixty + parse_int64(part).value_or(0);
    if (part.size() == text.size()) {
      if (parts == 0) return std::nullopt;  // a bare number: minutes or seconds, nobody says
      return std::chrono::hours{24 * days} + std::chrono::seconds{total};
    }
    text.remove_prefix(part.size() + 1);
  }
  return std::nullopt;
}

}  // namespace tidewatt::slurm
