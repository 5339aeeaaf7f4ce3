#include "tidewatt/agent/spool.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "spool_format.h"
#include "tidewatt/base/log.h"

namespace tidewatt::agent {
namespace {

constexpr std::string_view kSuffix = ".spool";
constexpr std::string_view kAcknowledgedFile = "acknowledged";
constexpr std::string_view kAccountedFile = "losses-counted";
// There from the start on, so that it has a place on a disk that is full at the end.
constexpr std::string_view kLostFile = "lost-from-memory";
// Sent from memory as long as the server keeps up; beyond it, from disk.
constexpr std::size_t kRecentBeats = 64;
constexpr std::size_t kRecentBytes = 128U << 10U;
// A segment is closed after this part of max_age, so that ages are kept to within it.
constexpr int kSegmentsPerAge = 14;

std::string segment_name(std::uint64_t first_id) { return fmt::format("{:020}{}", first_id, kSuffix); }

std::uint64_t record_bytes(const SpoolRecord& record) {
  return format::kRecordHeadBytes + record.payload.size();
}

}  // namespace

Spool::Spool(FileSystem& files, const Clock& clock, SpoolOptions options)
    : files_(files), clock_(clock), options_(std::move(options)), boot_(format::hash_boot(options_.boot_id)) {
  options_.segment_bytes =
      std::min(options_.segment_bytes, std::max<std::uint64_t>(options_.max_bytes / 8, 1));
}

Result<std::unique_ptr<Spool>> Spool::open(FileSystem& files, const Clock& clock, SpoolOptions options) {
  std::unique_ptr<Spool> spool(new Spool(files, clock, std::move(options)));
  if (auto loaded = spool->load(); !loaded) {
    const auto code = loaded.error().code;
    if (code == ErrorCode::permission_denied || code == ErrorCode::not_found ||
        code == ErrorCode::invalid_input) {
      return tl::unexpected(loaded.error().with_context("spool"));
    }
    spool->stats_.degraded = true;
    spool->stats_.failure = loaded.error().to_string();
  }
  return spool;
}

std::string Spool::acknowledged_path() const {
  return options_.folder + "/" + std::string(kAcknowledgedFile);
}

std::string Spool::accounted_path() const { return options_.folder + "/" + std::string(kAccountedFile); }

std::string Spool::lost_path() const { return options_.folder + "/" + std::string(kLostFile); }

Status Spool::load() {
  stats_.damaged = true;  // until the folder was read: what ids were used isn't known
  TW_TRY_STATUS(files_.make_folders(options_.folder));
  TW_TRY(const auto names, files_.list(options_.folder));
  stats_.damaged = false;
  stats_.fresh = !files_.exists(acknowledged_path());
  load_acknowledged();
  load_accounted();
  for (const auto& name : names) {
    if (!name.ends_with(kSuffix)) continue;
    stats_.fresh = false;
    load_segment(name, names);
  }
  last_id_ = std::max(last_id_, acknowledged_);
  // Written now, so that a folder we may not write is found at the start and not at the first beat.
  TW_TRY_STATUS(files_.write_atomically(acknowledged_path(), format::acknowledged_text(acknowledged_)));
  load_lost();
  remove_acknowledged();
  if (stats_.lost_holes > 0)
    log::error("beats are missing from the spool and are lost",
               {{"beats", std::to_string(stats_.lost_holes)}});
  hole_counted_ = accounted_;
  enforce_age();
  enforce_size(0);
  save_accounted();
  return {};
}

void Spool::load_accounted() {
  const auto text = files_.read_text(accounted_path(), 4096);
  accounted_ = accounted_saved_ = text ? format::read_acknowledged(*text).value_or(0) : 0;
}

/// What the process before lost with its memory is shown by this one.
void Spool::load_lost() {
  const auto text = files_.read_text(lost_path(), 4096);
  stats_.lost_memory = text ? format::read_acknowledged(*text).value_or(0) : 0;
  if (stats_.lost_memory > 0)
    log::error("beats were only in memory at the last stop, for the spool's disk took nothing; they are lost",
               {{"beats", std::to_string(stats_.lost_memory)}});
  (void)files_.write_atomically(lost_path(), format::acknowledged_text(0));
}

std::uint64_t Spool::give_up_memory() {
  const std::lock_guard lock(mutex_);
  std::uint64_t lost = 0;
  for (const auto& recent : recent_) lost += !recent.on_disk && recent.record.id > acknowledged_ ? 1U : 0U;
  if (lost == 0) return 0;
  stats_.lost_memory += lost;
  (void)files_.remove(lost_path());  // its place is taken by the new one
  if (const auto written = files_.write_atomically(lost_path(), format::acknowledged_text(lost)); !written)
    log::warning("how many beats are lost can't be saved", {{"error", written.error().to_string()}});
  return lost;
}

/// Counts the beats between the last one known and `next` that are nowhere. What lies before the acknowledged
/// position was sent; where that isn't known, the first record begins anew.
void Spool::note_hole(std::uint64_t next) {
  const auto known = std::max({last_id_, acknowledged_, accounted_});
  const bool begins_anew = last_id_ == 0 && !position_known_;
  if (begins_anew || next <= known + 1) return;
  stats_.lost_holes += next - known - 1;
  accounted_ = next - 1;
}

/// A failure here costs a loss that is counted again after a restart.
void Spool::save_accounted() {
  if (accounted_ <= accounted_saved_) return;
  if (files_.write_atomically(accounted_path(), format::acknowledged_text(accounted_)))
    accounted_saved_ = accounted_;
}

void Spool::load_acknowledged() {
  const auto text = files_.read_text(acknowledged_path(), 4096);
  if (!text) {
    stats_.damaged = text.error().code != ErrorCode::not_found;
    return;
  }
  if (const auto id = format::read_acknowledged(*text)) {
    acknowledged_ = *id;
    position_known_ = true;
  } else {
    // Sending again is harmless, the server knows what it has; reusing ids wouldn't be.
    ++stats_.bad_records;
    stats_.damaged = true;
  }
}

/// Ids in one segment have no holes: where a damaged place made one, what follows becomes a segment of its
/// own.
void Spool::load_segment(const std::string& name, const std::vector<std::string>& names) {
  const std::string path = options_.folder + "/" + name;
  const auto bytes = files_.read_text(path);
  if (!bytes) {
    log::warning("a spool segment can't be read and is left alone", {{"error", bytes.error().to_string()}});
    stats_.damaged = true;
    return;
  }
  const auto boot = format::read_header(*bytes);
  std::vector<Run> runs;
  std::size_t offset = format::kHeaderBytes;
  const auto skip_bad_place = [&](bool torn) {
    const auto next = format::find_record(*bytes, offset);
    ++stats_.bad_records;
    stats_.damaged = stats_.damaged || next || !torn;
    log::warning(next ? "a bad place in a spool segment is left out" : "a spool segment ends in a bad place",
                 {{"file", path}, {"at_byte", std::to_string(offset)}});
    offset = next.value_or(bytes->size());
  };
  if (!boot) {
    offset = 0;
    skip_bad_place(false);
  }
  while (true) {
    const std::size_t begin = offset;
    format::Record record;
    const auto read = format::read_record(*bytes, offset, record);
    if (read == format::Read::end) break;
    if (read != format::Read::record) {
      skip_bad_place(read == format::Read::torn);
      continue;
    }
    if (record.id <= last_id_) continue;  // written twice around a failed sync
    note_hole(record.id);
    if (runs.empty() || record.id != runs.back().segment.last + 1) {
      const auto own = segment_name(record.id);
      if (own != name && std::ranges::find(names, own) != names.end())
        break;  // it was saved there before a kill
      auto& run = runs.emplace_back();
      run.segment.first = record.id;
      run.segment.path = options_.folder + "/" + own;
      run.segment.boot = boot.value_or(0);
      run.bytes = format::header(run.segment.boot);
    }
    auto& [segment, kept] = runs.back();
    segment.last = last_id_ = record.id;
    segment.newest_utc = record.utc;
    segment.newest_mono = record.mono;
    kept.append(*bytes, begin, offset - begin);
  }
  keep_runs(path, *bytes, std::move(runs));
}

void Spool::keep_runs(const std::string& path, std::string_view bytes, std::vector<Run> runs) {
  // The file itself last: until then it holds all that is sound.
  bool done = true;
  for (const auto& run : runs | std::views::reverse) {
    Status kept;
    if (run.segment.path == path && bytes.starts_with(run.bytes)) {
      if (bytes.size() > run.bytes.size()) kept = files_.truncate(path, run.bytes.size());
    } else {
      kept = files_.write_atomically(run.segment.path, run.bytes);
    }
    if (kept) continue;
    log::warning("the sound part of a spool segment can't be saved apart; it is sent from the damaged file",
                 {{"file", path}, {"error", kept.error().to_string()}});
    done = false;
    break;
  }
  if (!done) {
    auto whole = std::move(runs.back().segment);
    whole.first = runs.front().segment.first;
    whole.path = path;
    whole.bytes = bytes.size();
    stats_.disk_bytes += whole.bytes;
    segments_.push_back(std::move(whole));
    return;
  }
  if (runs.empty() || runs.front().segment.path != path) (void)files_.remove(path);
  for (auto& run : runs) {
    run.segment.bytes = run.bytes.size();
    stats_.disk_bytes += run.segment.bytes;
    segments_.push_back(std::move(run.segment));
  }
}

std::uint64_t Spool::next_id() const {
  const std::lock_guard lock(mutex_);
  return last_id_ + 1;
}

bool Spool::append(std::string payload) {
  std::vector<std::string> payloads;
  payloads.push_back(std::move(payload));
  return append(std::move(payloads));
}

bool Spool::append(std::vector<std::string> payloads) {
  const std::lock_guard lock(mutex_);
  for (auto& payload : payloads) {
    Recent recent{{++last_id_, std::move(payload)}, clock_.utc_now(), clock_.mono_now(), false};
    recent_bytes_ += recent.record.payload.size();
    recent_.push_back(std::move(recent));
    ++stats_.appended;
  }
  enforce_age();
  const Status written = write_unsaved();
  if (written) {
    stats_.degraded = false;
    stats_.failure.clear();
    save_accounted();
  } else {
    give_up_segment();
    stats_.degraded = true;
    stats_.failure = written.error().to_string();
  }
  trim_recent();
  return written.has_value();
}

Status Spool::write_unsaved() {
  auto first = std::ranges::find(recent_, false, &Recent::on_disk);
  for (auto it = first; it != recent_.end(); ++it) {
    if (it->record.id <= acknowledged_) continue;  // sent from memory meanwhile
    const std::uint64_t size = record_bytes(it->record);
    enforce_size(size);
    const bool fits = active_ != nullptr && segments_.back().bytes + size <= options_.segment_bytes &&
                      segments_.back().last + 1 == it->record.id &&
                      it->mono - active_since_ < options_.max_age / kSegmentsPerAge;
    if (!fits) {
      if (active_ != nullptr) {
        TW_TRY_STATUS(active_->sync());
        for (; first != it; ++first) first->on_disk = true;
      }
      TW_TRY_STATUS(start_segment(*it));
    }
    std::string bytes;
    format::append_record(bytes, {it->record.id, it->utc, it->mono, it->record.payload});
    if (auto appended = active_->append(bytes); !appended) {
      // What fitted before it stays, so that a nearly full disk makes progress.
      if (first != it && files_.truncate(segments_.back().path, segments_.back().bytes) && active_->sync()) {
        for (; first != it; ++first) first->on_disk = true;
      }
      return appended;
    }
    auto& segment = segments_.back();
    segment.bytes += size;
    stats_.disk_bytes += size;
    segment.last = it->record.id;
    segment.newest_utc = it->utc;
    segment.newest_mono = it->mono;
  }
  if (active_ != nullptr) TW_TRY_STATUS(active_->sync());
  for (; first != recent_.end(); ++first) first->on_disk = true;
  return {};
}

Status Spool::start_segment(const Recent& first) {
  active_.reset();
  Segment segment;
  segment.path = options_.folder + "/" + segment_name(first.record.id);
  TW_TRY_STATUS(files_.make_folders(options_.folder));
  // Written whole, so that the new name itself is on stable storage before a record goes in.
  TW_TRY_STATUS(files_.write_atomically(segment.path, format::header(boot_)));
  TW_TRY(active_, files_.open_append(segment.path));
  active_since_ = first.mono;
  segment.first = first.record.id;
  segment.last = first.record.id - 1;
  segment.bytes = format::kHeaderBytes;
  segment.boot = boot_;
  stats_.disk_bytes += segment.bytes;
  segments_.push_back(std::move(segment));
  return {};
}

/// After a failed write nobody knows what the file's tail holds: what was synced before stays, the rest goes.
void Spool::give_up_segment() {
  if (active_ == nullptr) return;
  active_.reset();
  auto& segment = segments_.back();
  std::uint64_t bytes = segment.bytes;
  for (auto it = recent_.rbegin(); it != recent_.rend() && !it->on_disk; ++it) {
    if (it->record.id < segment.first || it->record.id > segment.last) continue;
    bytes -= record_bytes(it->record);
    segment.last = it->record.id - 1;
    segment.newest_mono = it->mono;
    segment.newest_utc = it->utc;
  }
  stats_.disk_bytes -= segment.bytes - bytes;
  segment.bytes = bytes;
  if (segment.last + 1 == segment.first) {
    (void)files_.remove(segment.path);
    stats_.disk_bytes -= segment.bytes;
    segments_.pop_back();
  } else {
    (void)files_.truncate(segment.path, segment.bytes);
  }
}

void Spool::trim_recent() {
  std::size_t beats_only_here = 0;
  std::size_t bytes_only_here = 0;
  for (const auto& recent : recent_) {
    if (recent.on_disk || recent.record.id <= acknowledged_) continue;
    ++beats_only_here;
    bytes_only_here += recent.record.payload.size();
  }
  while (!recent_.empty()) {
    const Recent& oldest = recent_.front();
    const std::size_t size = oldest.record.payload.size();
    const bool done = oldest.record.id <= acknowledged_;
    const bool only_here = !oldest.on_disk && !done;
    const bool too_many_here =
        beats_only_here > options_.memory_beats || bytes_only_here > options_.memory_bytes;
    const bool too_many = too_many_here || recent_.size() > kRecentBeats || recent_bytes_ > kRecentBytes;
    // The newest beat stays, whatever its size.
    if (!done && (recent_.size() == 1 || !(only_here ? too_many_here : too_many))) return;
    if (only_here) {
      ++stats_.lost_memory;
      accounted_ = std::max(accounted_, oldest.record.id);
      --beats_only_here;
      bytes_only_here -= size;
    }
    recent_bytes_ -= size;
    recent_.pop_front();
  }
}

void Spool::acknowledge(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  pass(std::min(id, last_id_));
}

void Spool::pass(std::uint64_t id) {
  if (id <= acknowledged_) return;
  acknowledged_ = id;
  // A failure here costs duplicates after a restart, which the server recognises.
  const auto written = files_.write_atomically(acknowledged_path(), format::acknowledged_text(id));
  if (!written && !stats_.degraded) {
    log::warning("the acknowledged position can't be saved", {{"error", written.error().to_string()}});
  }
  remove_acknowledged();
  trim_recent();
}

void Spool::remove_acknowledged() {
  while (!segments_.empty() && segments_.front().last <= acknowledged_) {
    if (segments_.size() == 1 && active_ != nullptr) return;  // still being written
    stats_.disk_bytes -= segments_.front().bytes;
    (void)files_.remove(segments_.front().path);
    segments_.pop_front();
  }
}

void Spool::drop_oldest(std::uint64_t& counter) {
  counter += waiting_in(segments_.front());
  if (segments_.size() == 1) active_.reset();
  stats_.disk_bytes -= segments_.front().bytes;
  (void)files_.remove(segments_.front().path);
  const std::uint64_t gone = segments_.front().last;
  accounted_ = std::max(accounted_, gone);
  segments_.pop_front();
  while (!recent_.empty() && recent_.front().on_disk && recent_.front().record.id <= gone) {
    recent_bytes_ -= recent_.front().record.payload.size();
    recent_.pop_front();
  }
}

void Spool::enforce_size(std::uint64_t coming) {
  while (!segments_.empty() && stats_.disk_bytes + coming > options_.max_bytes)
    drop_oldest(stats_.dropped_full);
}

void Spool::enforce_age() {
  while (!segments_.empty() && age_of(segments_.front()) > options_.max_age) drop_oldest(stats_.dropped_old);
}

Milliseconds Spool::age_of(const Segment& segment) const {
  // The wall clock may have been wrong, or set, within this boot; the monotonic one wasn't.
  if (!options_.boot_id.empty() && segment.boot == boot_) return clock_.mono_now() - segment.newest_mono;
  return clock_.utc_now() - segment.newest_utc;
}

std::uint64_t Spool::waiting_in(const Segment& segment) const {
  return segment.last > acknowledged_ ? segment.last - std::max(acknowledged_, segment.first - 1) : 0;
}

SpoolStats Spool::stats() const {
  const std::lock_guard lock(mutex_);
  SpoolStats now = stats_;
  for (const auto& segment : segments_) now.waiting += waiting_in(segment);
  for (const auto& recent : recent_)
    now.waiting += !recent.on_disk && recent.record.id > acknowledged_ ? 1U : 0U;
  return now;
}

}  // namespace tidewatt::agent
