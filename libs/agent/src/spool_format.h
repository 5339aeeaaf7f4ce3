// The bytes of a spool segment: a header, then records. Little endian.
//   header: "TWSPOOL1" | u64 hash of the boot id | u32 crc of these 16 bytes
//   record: u32 payload length | u32 crc of all that follows and the length | u64 id | i64 utc ms | i64 mono
//   ms | payload
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/units/time.h"

namespace tidewatt::agent::format {

inline constexpr std::size_t kHeaderBytes = 20;
inline constexpr std::size_t kRecordHeadBytes = 32;
inline constexpr std::size_t kMaxPayload = 3U << 20U;

struct Record {
  std::uint64_t id = 0;
  UtcTime utc{};
  SteadyTime mono{};
  std::string_view payload;
};

std::uint64_t hash_boot(std::string_view boot_id);
std::string header(std::uint64_t boot);
/// The boot's hash; nullopt when these bytes don't begin with a sound header.
std::optional<std::uint64_t> read_header(std::string_view bytes);

void append_record(std::string& out, const Record& record);

enum class Read : std::uint8_t {
  record,   ///< one sound record
  end,      ///< nothing left
  torn,     ///< the bytes end within a record, or are blank: a write that never finished
  damaged,  ///< a whole record whose checksum is wrong
};
/// Reads the record at `offset` and moves `offset` behind it; on anything but a record it stays.
Read read_record(std::string_view bytes, std::size_t& offset, Record& out);
/// Where the next sound record begins behind a place that is none. nullopt when nothing sound follows.
std::optional<std::size_t> find_record(std::string_view bytes, std::size_t offset);

/// The acknowledged id as a small file, and back. nullopt when it isn't sound.
std::string acknowledged_text(std::uint64_t id);
std::optional<std::uint64_t> read_acknowledged(std::string_view text);

}  // namespace tidewatt::agent::format
