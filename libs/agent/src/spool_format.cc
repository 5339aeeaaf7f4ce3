#include "spool_format.h"

#include <fmt/format.h>
#include <zlib.h>

#include "tidewatt/units/text.h"

namespace tidewatt::agent::format {
namespace {

constexpr std::string_view kMagic = "TWSPOOL1";
constexpr std::string_view kAckMagic = "TWACK1 ";

template <class Int>
void put(std::string& out, Int value) {
  auto n = static_cast<std::uint64_t>(value);
  for (std::size_t i = 0; i < sizeof(Int); ++i) {
    out += static_cast<char>(n & 0xFFU);
    n >>= 8U;
  }
}

template <class Int>
Int get(std::string_view bytes, std::size_t at) {
  std::uint64_t n = 0;
  for (std::size_t i = sizeof(Int); i-- > 0;) n = n << 8U | static_cast<unsigned char>(bytes[at + i]);
  return static_cast<Int>(n);
}

std::uint32_t crc(std::string_view bytes) {
  // crc32() takes bytes as unsigned char and lengths as uInt; nothing here is near 4 GiB.
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32(crc32(0, nullptr, 0), data, static_cast<uInt>(bytes.size())));
}

}  // namespace

std::uint64_t hash_boot(std::string_view boot_id) {
  std::uint64_t h = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : boot_id) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return h;
}

std::string header(std::uint64_t boot) {
  std::string out(kMagic);
  put(out, boot);
  put(out, crc(out));
  return out;
}

std::optional<std::uint64_t> read_header(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  if (get<std::uint32_t>(bytes, 16) != crc(bytes.substr(0, 16))) return std::nullopt;
  return get<std::uint64_t>(bytes, 8);
}

void append_record(std::string& out, const Record& record) {
  std::string covered;
  covered.reserve(kRecordHeadBytes + record.payload.size());
  put(covered, static_cast<std::uint32_t>(record.payload.size()));
  put(covered, record.id);
  put(covered, record.utc.time_since_epoch().count());
  put(covered, record.mono.time_since_epoch().count());
  covered += record.payload;
  put(out, static_cast<std::uint32_t>(record.payload.size()));
  put(out, crc(covered));
  out += std::string_view(covered).substr(4);
}

Read read_record(std::string_view bytes, std::size_t& offset, Record& out) {
  if (offset == bytes.size()) return Read::end;
  const std::string_view rest = bytes.substr(offset);
  if (rest.size() < kRecordHeadBytes) return Read::torn;
  const auto length = get<std::uint32_t>(rest, 0);
  if (length == 0 || length > kMaxPayload) {
    // A tail of blanks is what some file systems leave after a power cut.
    return rest.find_first_not_of('\0') == std::string_view::npos ? Read::torn : Read::damaged;
  }
  if (rest.size() - kRecordHeadBytes < length) return Read::torn;
  std::string covered;
  covered.reserve(kRecordHeadBytes + length);
  put(covered, length);
  covered += rest.substr(8, kRecordHeadBytes - 8 + length);
  if (crc(covered) != get<std::uint32_t>(rest, 4)) {
    const bool last = rest.size() == kRecordHeadBytes + length;
    return last ? Read::torn : Read::damaged;
  }
  out.id = get<std::uint64_t>(rest, 8);
  out.utc = UtcTime{Milliseconds{get<std::int64_t>(rest, 16)}};
  out.mono = SteadyTime{Milliseconds{get<std::int64_t>(rest, 24)}};
  out.payload = rest.substr(kRecordHeadBytes, length);
  offset += kRecordHeadBytes + length;
  return Read::record;
}

std::optional<std::size_t> find_record(std::string_view bytes, std::size_t offset) {
  Record record;
  while (++offset + kRecordHeadBytes < bytes.size()) {
    std::size_t next = offset;
    if (read_record(bytes, next, record) == Read::record) return offset;
  }
  return std::nullopt;
}

std::string acknowledged_text(std::uint64_t id) {
  const std::string number = std::to_string(id);
  return fmt::format("{}{} {:08x}\n", kAckMagic, number, crc(number));
}

std::optional<std::uint64_t> read_acknowledged(std::string_view text) {
  if (!text.starts_with(kAckMagic)) return std::nullopt;
  const std::string_view rest = trim(text.substr(kAckMagic.size()));
  const auto blank = rest.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string_view number = rest.substr(0, blank);
  if (rest.substr(blank + 1) != fmt::format("{:08x}", crc(number))) return std::nullopt;
  return parse_uint64(number);
}

}  // namespace tidewatt::agent::format
