// What is read back from a spool while it runs: its files may be damaged or removed under it. The rule is
// that of opening: the sound records around a bad place are sent, what is missing is counted, once.
#include <algorithm>

#include "spool_format.h"
#include "tidewatt/agent/spool.h"
#include "tidewatt/base/log.h"

namespace tidewatt::agent {
namespace {

// A file that is there may be readable again soon; one that is gone won't.
constexpr int kLooksAtUnreadable = 3;

}  // namespace

/// What one peek() takes.
class Spool::Batch {
 public:
  Batch(std::size_t max_records, std::size_t max_bytes) : max_records_(max_records), max_bytes_(max_bytes) {}

  /// @return false when it doesn't fit any more
  bool take(std::uint64_t id, std::string_view payload) {
    if (!records.empty() && (records.size() >= max_records_ || bytes_ + payload.size() > max_bytes_))
      return false;
    bytes_ += payload.size();
    records.push_back({id, std::string(payload)});
    return true;
  }

  std::vector<SpoolRecord> records;

 private:
  std::size_t max_records_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
};

std::vector<SpoolRecord> Spool::peek(std::size_t max_records, std::size_t max_bytes) {
  const std::lock_guard lock(mutex_);
  Batch batch(max_records, max_bytes);
  std::uint64_t after = acknowledged_;
  const auto seen = [&] {
    // Nothing is left to send up to here.
    if (batch.records.empty()) pass(after);
    return std::move(batch.records);
  };
  for (auto& segment : segments_) {
    if (segment.last <= after) continue;
    if (segment.last >= in_memory_from() && after + 1 >= in_memory_from()) break;
    if (!read_segment(segment, after, batch)) return seen();
  }
  for (const auto& recent : recent_) {
    if (recent.record.id <= after) continue;
    if (!batch.take(recent.record.id, recent.record.payload)) break;
    after = recent.record.id;
  }
  return seen();
}

std::uint64_t Spool::in_memory_from() const {
  return recent_.empty() ? last_id_ + 1 : recent_.front().record.id;
}

/// @return false when the batch is full, or the segment has to be looked at again before anything behind it
bool Spool::read_segment(Segment& segment, std::uint64_t& after, Batch& batch) {
  const auto text = files_.read_text(segment.path);
  if (!text) {
    const bool gone = text.error().code == ErrorCode::not_found;
    if (!gone && ++segment.failed_looks < kLooksAtUnreadable) return false;
    if (skip_hole(segment, after, segment.last + 1))
      log::error("a spool segment can't be read: its beats are lost", {{"error", text.error().to_string()}});
    if (gone) begin_anew_behind(segment);
    return true;
  }
  segment.failed_looks = 0;
  std::size_t offset = format::kHeaderBytes;
  while (offset < segment.bytes) {
    format::Record record;
    const auto at = offset;
    const auto read = offset < text->size() ? format::read_record(*text, offset, record) : format::Read::end;
    if (read != format::Read::record) {
      const auto next = at < text->size() ? format::find_record(*text, at) : std::nullopt;
      if (!next) break;
      offset = *next;
      continue;
    }
    if (record.id <= after || record.id > segment.last) continue;
    if (skip_hole(segment, after, record.id))
      log::error("a bad place in a spool segment: beats are lost",
                 {{"file", segment.path}, {"before_byte", std::to_string(at)}});
    if (after + 1 >= in_memory_from()) return true;
    if (!batch.take(record.id, record.payload)) return false;
    after = record.id;
  }
  if (skip_hole(segment, after, segment.last + 1))
    log::error("a spool segment ends in a bad place: beats are lost", {{"file", segment.path}});
  return true;
}

/// Goes on before `next`; what is in memory still isn't lost.
/// @return true when beats are found to be lost that weren't counted before
bool Spool::skip_hole(const Segment& segment, std::uint64_t& after, std::uint64_t next) {
  const auto known = std::max(after, segment.first - 1);
  const auto last = std::min(next, in_memory_from()) - 1;
  if (last <= known) return false;
  after = last;
  const auto counted = std::max(known, hole_counted_);
  if (last <= counted) return false;
  hole_counted_ = last;
  stats_.lost_holes += last - counted;
  ++stats_.bad_records;
  accounted_ = std::max(accounted_, last);
  save_accounted();
  return true;
}

/// What goes on being written to a file that was removed is nowhere.
void Spool::begin_anew_behind(const Segment& segment) {
  if (active_ == nullptr || &segment != &segments_.back()) return;
  active_.reset();
  for (auto& recent : recent_)
    if (recent.record.id >= segment.first) recent.on_disk = false;
}

}  // namespace tidewatt::agent
