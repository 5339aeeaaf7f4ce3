// Any bytes: no crash, and no more is read or lost than stands there.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "../src/sqlite/wal_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tidewatt::store::WalScan;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() < WalScan::kHeaderSize) return 0;
  WalScan scan(bytes.substr(0, WalScan::kHeaderSize));
  bytes.remove_prefix(WalScan::kHeaderSize);
  std::uint64_t frames = 0;
  for (; bytes.size() >= scan.frame_size(); bytes.remove_prefix(scan.frame_size()), ++frames)
    scan.add(bytes.substr(0, scan.frame_size()));
  const auto& found = scan.content();
  if (found.frames > frames || found.read_frames + found.lost_commits > found.frames) std::abort();
  if (found.read_commits > found.read_frames) std::abort();
  return 0;
}
