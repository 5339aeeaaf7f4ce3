#include "gzip_text.h"

#include <zlib.h>

#include <array>
#include <memory>

#include "input.h"

namespace tidewatt::cli {
namespace {

constexpr std::size_t kMostUnpacked = std::size_t{256} << 20U;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr int kGzipWindow = 15 + 16;

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

/// One member after the other, as gzip allows.
Result<std::string> unpack(const std::string& path, const std::string& packed) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK)
    return fail(ErrorCode::internal, path + ": zlib can't start");
  const std::unique_ptr<z_stream, EndInflate> ending{&stream};
  std::string input = packed;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    const int state = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer.data(), buffer.size() - stream.avail_out);
    if (text.size() > kMostUnpacked)
      return fail(ErrorCode::invalid_input, path + ": larger than 256 MiB unpacked");
    if (state == Z_STREAM_END) {
      if (stream.avail_in == 0) return text;
      if (inflateReset(&stream) != Z_OK) return fail(ErrorCode::internal, path + ": zlib can't go on");
      continue;
    }
    if (state != Z_OK)
      return fail(ErrorCode::corrupt, path + ": the gzip data is damaged or cut off", "fetch the file again");
  }
}

}  // namespace

Result<std::string> read_text_or_gzip(const std::string& path) {
  TW_TRY(std::string bytes, read_all(path));
  if (!bytes.starts_with(kGzipMagic)) return bytes;
  return unpack(path, bytes);
}

}  // namespace tidewatt::cli
