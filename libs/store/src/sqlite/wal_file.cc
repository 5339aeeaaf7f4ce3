#include "wal_file.h"

#include <bit>

namespace tidewatt::store {
namespace {

constexpr std::uint32_t kWalMagic = 0x377f0682;  ///< its lowest bit: checksums are over big-endian words
constexpr std::size_t kFrameHead = 24;
constexpr std::size_t kUsualPage = 4096;

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}
std::uint32_t big_word(std::string_view bytes, std::size_t at) {
  return byte_at(bytes, at) << 24U | byte_at(bytes, at + 1) << 16U | byte_at(bytes, at + 2) << 8U |
         byte_at(bytes, at + 3);
}
std::uint32_t little_word(std::string_view bytes, std::size_t at) {
  return byte_at(bytes, at + 3) << 24U | byte_at(bytes, at + 2) << 16U | byte_at(bytes, at + 1) << 8U |
         byte_at(bytes, at);
}
std::uint64_t salts_at(std::string_view bytes, std::size_t at) {
  return std::uint64_t{big_word(bytes, at)} << 32U | big_word(bytes, at + 4);
}
bool is_page_size(std::size_t size) { return size >= 512 && size <= 65'536 && std::has_single_bit(size); }

}  // namespace

WalScan::Checksum WalScan::sum(Checksum start, std::string_view bytes) const {
  auto [s1, s2] = start;
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    s1 += (big_endian_ ? big_word(bytes, at) : little_word(bytes, at)) + s2;
    s2 += (big_endian_ ? big_word(bytes, at + 4) : little_word(bytes, at + 4)) + s1;
  }
  return {s1, s2};
}

WalScan::Checksum WalScan::stored(std::string_view bytes, std::size_t at) {
  return {big_word(bytes, at), big_word(bytes, at + 4)};
}

WalScan::WalScan(std::string_view header) {
  const auto magic = big_word(header, 0);
  const std::size_t page = big_word(header, 8);
  big_endian_ = (magic | 1U) == (kWalMagic | 1U) && magic != kWalMagic;
  frame_size_ = kFrameHead + (is_page_size(page) ? page : kUsualPage);
  running_ = stored(header, 24);
  readable_ =
      (magic | 1U) == (kWalMagic | 1U) && is_page_size(page) && sum({}, header.substr(0, 24)) == running_;
  if (readable_) salts_ = content_.salts = salts_at(header, 16);
}

void WalScan::add(std::string_view frame) {
  const auto page = big_word(frame, 0);
  const bool commits = big_word(frame, 4) != 0;
  const auto salts = salts_at(frame, 8);
  if (!salts_ && page != 0) salts_ = content_.salts = salts;
  const bool ours = page != 0 && salts == salts_;
  const bool follows =
      ours && sum(sum(running_, frame.substr(0, 8)), frame.substr(kFrameHead)) == stored(frame, 16);
  running_ = stored(frame, 16);
  readable_ = readable_ && follows;
  if (!ours) {
    commit_was_last_ = false;
    return;
  }
  ++content_.frames;
  if (!readable_) {
    add_behind_damage(follows, commits);
  } else if (commits) {
    content_.read_frames = content_.frames;
    ++content_.read_commits;
  }
}

void WalScan::add_behind_damage(bool follows, bool commits) {
  // What was flushed: a commit with another one behind it, or with the begin of one that goes on from it.
  if (open_commit_ && (commits || (commit_was_last_ && follows))) {
    ++content_.lost_commits;
    open_commit_ = false;
  }
  open_commit_ = open_commit_ || commits;
  commit_was_last_ = commits;
}

}  // namespace tidewatt::store
