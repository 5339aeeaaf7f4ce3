#include "timeline.h"

#include <algorithm>

namespace tidewatt::ledger {
namespace {

constexpr Milliseconds kClockTolerance{5 * 60 * 1000};
/// A boot that began so far behind began with a clock that nobody had set yet.
constexpr Milliseconds kUnsetClock{24 * 60 * 60 * 1000};
/// A beat that comes at the pace it was sampled at, within this, came without delay, as far as anybody can
/// tell.
constexpr Milliseconds kInStep{5'000};
constexpr std::size_t kMostBoots = 8;
constexpr std::size_t kMostAgents = 16;

/// A clock that was never set reads the seventies: that is no time, as if none were given.
constexpr UtcTime kEarliest = std::chrono::sys_days{std::chrono::January / 1 / 2000};

std::optional<UtcTime> sampled_at(const Beat& beat) {
  return beat.sampled_at && *beat.sampled_at >= kEarliest ? beat.sampled_at : std::nullopt;
}

BootCursor* find_boot(NodeCursor& cursor, const std::string& boot_id) {
  const auto found = std::find_if(cursor.boots.begin(), cursor.boots.end(),
                                  [&](const auto& b) { return b.boot_id == boot_id; });
  if (found == cursor.boots.end()) return nullptr;
  std::rotate(found, found + 1, cursor.boots.end());
  return &cursor.boots.back();
}

/// Time between the anchor's receipt and this one: by the server's monotonic clock within one run of it, by
/// its wall clock across a restart.
std::optional<Milliseconds> between_receipts(const BootCursor& boot, const Receipt& receipt) {
  if (boot.received_mono && receipt.monotonic && boot.server_run == receipt.server_run)
    return *receipt.monotonic - *boot.received_mono;
  if (boot.received_at) return receipt.at - *boot.received_at;
  return std::nullopt;
}

void anchor(BootCursor& boot, UtcTime at, Milliseconds monotonic, const std::optional<Receipt>& receipt) {
  boot.at = at;
  boot.monotonic = monotonic;
  boot.received_at = receipt ? std::optional{receipt->at} : std::nullopt;
  boot.received_mono = receipt ? receipt->monotonic : std::nullopt;
  boot.server_run = receipt ? receipt->server_run : std::string{};
}

/// Moves what stands on this boot's time line: the intervals that end with the next beats keep their length.
void move_boot(NodeCursor& cursor, BootCursor& boot, Milliseconds by) {
  std::vector<std::pair<std::string, UtcTime>> moved;
  for (auto& device : cursor.devices) {
    if (device.counter_boot != boot.boot_id) continue;
    moved.emplace_back(device.domain, device.at);
    device.at += by;
    device.listed_at += by;
  }
  // A domain stands where the latest of its devices did.
  for (auto& domain : cursor.domains) {
    if (std::find(moved.begin(), moved.end(), std::pair{domain.domain, domain.at}) == moved.end()) continue;
    domain.at += by;
    for (auto& [task, until] : domain.tasks) until += by;
  }
  boot.at += by;
}

/// How far a boot that was anchored by an unset clock (a dead battery, no NTP yet) lies behind: the agent's
/// clock is days ahead of the time line now, and not ahead of the server's. Minutes are enough where all that
/// the boot sent was older than what is booked: nothing of it is, so nothing has to move along. Without a
/// receipt nobody can tell.
std::optional<Milliseconds> behind(const NodeCursor& cursor, const std::string& boot_id, UtcTime at,
                                   std::optional<UtcTime> wall, const std::optional<Receipt>& receipt) {
  const auto& devices = cursor.devices;
  const bool unbooked =
      std::any_of(devices.begin(), devices.end(), [&](const auto& device) { return device.at >= at; }) &&
      std::none_of(devices.begin(), devices.end(),
                   [&](const auto& device) { return device.counter_boot == boot_id; });
  if (!wall || !receipt || *wall - at <= (unbooked ? kClockTolerance : kUnsetClock) ||
      *wall > receipt->at + kClockTolerance)
    return std::nullopt;
  return *wall - at;
}

SampleTime continue_boot(NodeCursor& cursor, BootCursor& boot, const Beat& beat,
                         const std::optional<Receipt>& receipt) {
  const Milliseconds advance = *beat.monotonic - boot.monotonic;
  SampleTime time;
  const auto wall = sampled_at(beat);
  if (const auto by = behind(cursor, boot.boot_id, boot.at + advance, wall, receipt)) {
    move_boot(cursor, boot, *by);
    time.clock_corrected = true;
  }
  time.at = boot.at + advance;
  time.clock_jump = wall && std::chrono::abs(*wall - time.at) > kClockTolerance;
  if (!receipt) return time;
  const auto elapsed = between_receipts(boot, *receipt);
  // Both must say so: a spool with holes comes faster than it was sampled, and the server's own clock may be
  // set back.
  if (elapsed && advance > *elapsed + kClockTolerance && time.at > receipt->at + kClockTolerance) {
    time.refused = "from the future: the agent's monotonic clock advanced " +
                   std::to_string(advance.count() / 1000) + " s within " +
                   std::to_string(elapsed->count() / 1000) + " s; check the node's clock";
    return time;
  }
  const auto lateness = elapsed ? std::max(Milliseconds{0}, *elapsed - advance) : Milliseconds{0};
  // A beat that came quicker than it was sampled catches up: the anchor was late, and it may be late itself.
  if (wall && elapsed && advance <= *elapsed + kInStep) time.clock_offset = *wall - receipt->at + lateness;
  // The anchor is the beat that came with the least delay: only against it can a future be told from a late
  // arrival.
  if (!elapsed || advance >= *elapsed || boot.server_run != receipt->server_run)
    anchor(boot, time.at, *beat.monotonic, receipt);
  return time;
}

SampleTime begin_boot(NodeCursor& cursor, const Beat& beat, const std::optional<Receipt>& receipt) {
  SampleTime time;
  const auto wall = sampled_at(beat);
  if (!wall && !receipt) {
    time.refused = "no time: neither sampled_at nor a receive time; give sampled_at";
    return time;
  }
  time.at = wall ? *wall : receipt->at;
  // Ahead is ahead, but behind may only be late (a spool, a relay): the next beat tells.
  if (wall && receipt && *wall + kInStep >= receipt->at) time.clock_offset = *wall - receipt->at;
  if (receipt && time.at > receipt->at + kClockTolerance) {
    time.refused = "from the future: sampled_at " + format_rfc3339(time.at) +
                   " is more than 5 min after receipt at " + format_rfc3339(receipt->at) +
                   "; set the node's clock";
    return time;
  }
  if (!beat.boot_id.empty() && beat.monotonic) {
    BootCursor boot;
    boot.boot_id = beat.boot_id;
    anchor(boot, time.at, *beat.monotonic, receipt);
    if (cursor.boots.size() >= kMostBoots) cursor.boots.erase(cursor.boots.begin());
    cursor.boots.push_back(std::move(boot));
  }
  return time;
}

bool has_identity(const Beat& beat) { return beat.seq && (!beat.boot_id.empty() || !beat.agent_id.empty()); }

}  // namespace

SampleTime resolve_time(NodeCursor& cursor, const Beat& beat, const std::optional<Receipt>& receipt) {
  if (!beat.boot_id.empty() && beat.monotonic)
    if (auto* boot = find_boot(cursor, beat.boot_id)) return continue_boot(cursor, *boot, beat, receipt);
  return begin_boot(cursor, beat, receipt);
}

bool seen_before(const NodeCursor& cursor, const Beat& beat) {
  if (!has_identity(beat)) return false;
  const auto found = std::find_if(cursor.seen.begin(), cursor.seen.end(), [&](const auto& s) {
    return s.boot_id == beat.boot_id && s.agent_id == beat.agent_id;
  });
  return found != cursor.seen.end() && found->seen(*beat.seq);
}

void note_seen(NodeCursor& cursor, const Beat& beat, UtcTime at) {
  if (!has_identity(beat)) return;
  auto found = std::find_if(cursor.seen.begin(), cursor.seen.end(), [&](const auto& s) {
    return s.boot_id == beat.boot_id && s.agent_id == beat.agent_id;
  });
  if (found == cursor.seen.end()) {
    if (cursor.seen.size() >= kMostAgents) cursor.seen.erase(cursor.seen.begin());
    cursor.seen.push_back({beat.boot_id, beat.agent_id, at, {}});
  } else {
    std::rotate(found, found + 1, cursor.seen.end());
  }
  cursor.seen.back().last_at = std::max(cursor.seen.back().last_at, at);
  cursor.seen.back().add(*beat.seq);
}

}  // namespace tidewatt::ledger
