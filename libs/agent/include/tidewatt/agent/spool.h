// Beats on disk until the server has them. Segment files of checksummed records; nothing is rewritten in
// place.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::agent {

struct SpoolOptions {
  std::string folder;
  std::uint64_t max_bytes = 256ULL << 20U;  ///< on disk; the oldest segment goes first
  Milliseconds max_age = std::chrono::hours{24 * 7};
  std::uint64_t segment_bytes = 1ULL << 20U;  ///< small, for a segment is read into memory as a whole
  std::size_t memory_beats = 512;             ///< kept while the disk takes nothing
  std::size_t memory_bytes = 2U << 20U;
  std::string boot_id;  ///< within one boot ages come from the monotonic clock
};

struct SpoolRecord {
  std::uint64_t id = 0;  ///< +1 each beat, never reused, goes on across restarts and boots
  std::string payload;
};

struct SpoolStats {
  std::uint64_t waiting = 0;     ///< beats not yet acknowledged, on disk and in memory
  std::uint64_t disk_bytes = 0;  ///< of all segments
  std::uint64_t appended = 0;
  std::uint64_t dropped_full = 0;  ///< unsent beats dropped because of max_bytes
  std::uint64_t dropped_old = 0;   ///< ... because of max_age
  std::uint64_t lost_memory = 0;   ///< ... because the disk took nothing and memory was full or ended
  std::uint64_t lost_holes = 0;    ///< unsent beats whose numbers are missing: damaged or removed files
  std::uint64_t bad_records = 0;   ///< torn or damaged places, each left out
  bool fresh = false;              ///< nothing was there at opening: not even a position
  bool damaged = false;            ///< one of these was no torn tail: beats that may have been sent are gone
  bool degraded = false;           ///< the newest beats are in memory only
  std::string failure;             ///< why, when degraded
};

/// Thread-safe: one thread appends, another peeks and acknowledges.
///
/// Durability: append() returns after the beat is synced, so that a beat is on disk before anyone may send
/// it. Delivery is at least once: what was sent but not acknowledged is sent again after a restart.
class Spool {
 public:
  /// Reads what is there; a bad place in a segment is left out, the sound records behind it are kept.
  /// @error permission_denied or not_found when the folder can't be used: a mistake of set-up that a person
  /// must mend.
  ///        A full or failing disk is no error: the spool starts degraded and recovers by itself.
  static Result<std::unique_ptr<Spool>> open(FileSystem& files, const Clock& clock, SpoolOptions options);

  /// The id that the next append() gives.
  [[nodiscard]] std::uint64_t next_id() const;
  /// @return true when it is on disk, false when it is in memory only (see stats().failure). Never loses the
  /// newest.
  bool append(std::string payload);
  /// Several, saved together. @return true when all are on disk
  bool append(std::vector<std::string> payloads);
  /// The oldest beats not yet acknowledged, in order: at most `max_records` and `max_bytes`, but at least
  /// one. Where the disk has lost some, those behind them follow, and the lost ones are counted.
  [[nodiscard]] std::vector<SpoolRecord> peek(std::size_t max_records, std::size_t max_bytes);
  /// At the end of the process: what is only in memory is lost with it. Counted, also for the next start.
  /// @return how many beats these are
  std::uint64_t give_up_memory();
  /// All up to `id` need not be sent again. Remembered across restarts.
  void acknowledge(std::uint64_t id);
  [[nodiscard]] SpoolStats stats() const;

 private:
  struct Segment {
    std::string path;
    std::uint64_t first = 0, last = 0;  // ids in one segment have no holes
    std::uint64_t bytes = 0;
    std::uint64_t boot = 0;
    UtcTime newest_utc{};
    SteadyTime newest_mono{};
    int failed_looks = 0;  // one after the other, at a file that is there
  };
  struct Run {  // of sound records without a hole, and the bytes of a file that holds just them
    Segment segment;
    std::string bytes;
  };
  struct Recent {
    SpoolRecord record;
    UtcTime utc{};
    SteadyTime mono{};
    bool on_disk = false;
  };

  class Batch;

  Spool(FileSystem& files, const Clock& clock, SpoolOptions options);
  Status load();
  void load_segment(const std::string& name, const std::vector<std::string>& names);
  void keep_runs(const std::string& path, std::string_view bytes, std::vector<Run> runs);
  void load_acknowledged();
  void load_accounted();
  void load_lost();
  void note_hole(std::uint64_t next);
  void save_accounted();
  [[nodiscard]] std::string acknowledged_path() const;
  [[nodiscard]] std::string accounted_path() const;
  [[nodiscard]] std::string lost_path() const;
  Status write_unsaved();
  Status start_segment(const Recent& first);
  void give_up_segment();
  void enforce_age();
  void enforce_size(std::uint64_t coming);
  void drop_oldest(std::uint64_t& counter);
  void remove_acknowledged();
  void pass(std::uint64_t id);
  [[nodiscard]] std::uint64_t in_memory_from() const;
  bool read_segment(Segment& segment, std::uint64_t& after, Batch& batch);
  bool skip_hole(const Segment& segment, std::uint64_t& after, std::uint64_t next);
  void begin_anew_behind(const Segment& segment);
  void trim_recent();
  [[nodiscard]] std::uint64_t waiting_in(const Segment& segment) const;
  [[nodiscard]] Milliseconds age_of(const Segment& segment) const;

  FileSystem& files_;
  const Clock& clock_;
  SpoolOptions options_;
  std::uint64_t boot_ = 0;
  mutable std::mutex mutex_;
  std::deque<Segment> segments_;
  std::unique_ptr<AppendFile> active_;  // the file of segments_.back(), when open
  SteadyTime active_since_{};
  std::deque<Recent> recent_;  // the newest beats; those not on disk are at its end
  std::size_t recent_bytes_ = 0;
  std::uint64_t last_id_ = 0;
  std::uint64_t acknowledged_ = 0;
  // Beats up to here that are missing were counted as lost already, by this process or one before it.
  std::uint64_t accounted_ = 0;
  std::uint64_t accounted_saved_ = 0;
  std::uint64_t hole_counted_ = 0;  // up to here, by this process while it ran
  bool position_known_ = false;     // the acknowledged position could be read
  SpoolStats stats_;
};

}  // namespace tidewatt::agent
