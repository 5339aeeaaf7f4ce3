// What stands in a write-ahead log (https://sqlite.org/fileformat2.html#walformat), and what of it SQLite
// would silently leave out. Pure: bytes in, counts out.
//
// SQLite reads the log up to the first frame whose checksum doesn't fit, and takes what is behind for a
// commit that a power cut tore. A bit that flipped looks the same to it, and costs all commits behind. The
// two differ: each commit is flushed before the next one begins, so a torn one has no other behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidewatt::store {

struct WalContent {
  std::uint64_t salts = 0;         ///< tells this log from others
  std::uint64_t frames = 0;        ///< of this log; what is left of an earlier one in the same file isn't
  std::uint64_t read_frames = 0;   ///< up to the last commit that SQLite reads
  std::uint64_t read_commits = 0;  ///< that SQLite reads
  std::uint64_t lost_commits = 0;  ///< that were flushed, but stand behind a frame that is damaged

  [[nodiscard]] bool damaged() const { return lost_commits > 0; }
  /// Something stands behind what SQLite reads: a torn commit, or damage.
  [[nodiscard]] bool has_rest() const { return frames > read_frames; }
  friend bool operator==(const WalContent&, const WalContent&) = default;
};

class WalScan {
 public:
  static constexpr std::size_t kHeaderSize = 32;

  /// @param header  the first kHeaderSize bytes, damaged ones too
  explicit WalScan(std::string_view header);
  /// Bytes of one frame: its head and a page.
  [[nodiscard]] std::size_t frame_size() const { return frame_size_; }
  /// The next frame_size() bytes.
  void add(std::string_view frame);
  [[nodiscard]] const WalContent& content() const { return content_; }

 private:
  struct Checksum {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    friend bool operator==(const Checksum&, const Checksum&) = default;
  };
  [[nodiscard]] Checksum sum(Checksum start, std::string_view bytes) const;
  static Checksum stored(std::string_view bytes, std::size_t at);
  void add_behind_damage(bool follows, bool commits);

  bool big_endian_ = false;
  std::size_t frame_size_ = 0;
  std::optional<std::uint64_t> salts_;  ///< nullopt: the header is damaged, the first frame tells
  bool readable_ = false;               ///< all so far fits
  Checksum running_;                    ///< what the frame before says its checksum is
  bool open_commit_ = false;            ///< behind damage: a commit that isn't yet known to be flushed
  bool commit_was_last_ = false;        ///< the frame before is that commit's end
  WalContent content_;
};

}  // namespace tidewatt::store
