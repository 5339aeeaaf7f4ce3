#include "tidewatt/net/compress.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "decompress.h"

namespace tidewatt::net {
namespace {

constexpr int kGzipWindow = 15 + 16;  // + 16: gzip, not raw zlib
constexpr int kGzipLevel = 3;         // beyond it time doubles for some percent of size
constexpr int kZstdLevel = 1;
constexpr int kZstdWindowLog = 23;  // 8 MiB: a frame may ask for much more memory than it needs
constexpr std::size_t kFirstRoom = 16U << 10U;

/// Grows the output by doubling, within what the limits allow plus one byte that tells "full" from "over".
class Room {
 public:
  Room(std::string& out, std::size_t input, InflateLimits limits) : out_(out) {
    const bool overflows =
        input > std::numeric_limits<std::size_t>::max() / std::max<std::size_t>(limits.ratio, 1);
    most_ = std::min(limits.bytes, overflows ? limits.bytes : input * limits.ratio);
    out_.clear();
    out_.resize(std::min({std::max(kFirstRoom, 4 * input), limits.bytes + 1, most_ + 1}));
  }
  void grow() { out_.resize(std::min(out_.size() * 2, most_ + 1)); }
  [[nodiscard]] bool is_over(std::size_t used) const { return used > most_; }

 private:
  std::string& out_;
  std::size_t most_ = 0;
};

Inflated inflate_gzip(std::string_view bytes, InflateLimits limits, std::string& out) {
  z_stream stream{};
  if (bytes.size() > std::numeric_limits<uInt>::max()) return Inflated::too_large;
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::bad_alloc{};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard{&stream, &inflateEnd};
  Room room{out, bytes.size(), limits};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::size_t used = 0;
  for (;;) {
    if (used == out.size()) room.grow();
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size() - used, 1U << 30U));
    const uInt before = stream.avail_out;
    const int state = inflate(&stream, Z_NO_FLUSH);
    used += before - stream.avail_out;
    if (room.is_over(used)) return Inflated::too_large;
    if (state == Z_STREAM_END) {
      if (stream.avail_in == 0) break;
      if (inflateReset(&stream) != Z_OK) return Inflated::broken;  // another member follows
    } else if (state != Z_OK) {
      return Inflated::broken;  // also Z_BUF_ERROR: the input ended too early
    }
  }
  out.resize(used);
  return Inflated::ok;
}

Inflated inflate_zstd(std::string_view bytes, InflateLimits limits, std::string& out) {
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context{ZSTD_createDCtx(), &ZSTD_freeDCtx};
  if (!context) throw std::bad_alloc{};
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kZstdWindowLog);
  Room room{out, bytes.size(), limits};
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  std::size_t used = 0;
  std::size_t left = 1;  // 0 = a frame is complete
  while (input.pos < input.size || left != 0) {
    if (used == out.size()) room.grow();
    ZSTD_outBuffer output{out.data(), out.size(), used};
    const std::size_t before = input.pos;
    left = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(left) != 0) return Inflated::broken;
    const bool stuck = output.pos == used && input.pos == before;
    used = output.pos;
    if (room.is_over(used)) return Inflated::too_large;
    if (stuck && left != 0) return Inflated::broken;  // the input ended too early
  }
  out.resize(used);
  return Inflated::ok;
}

Result<std::string> inflated_or_failure(Encoding encoding, std::string_view name, std::string_view bytes,
                                        InflateLimits limits) {
  std::string out;
  switch (decompress(encoding, bytes, limits, out)) {
    case Inflated::ok:
      return out;
    case Inflated::broken:
      return fail(ErrorCode::invalid_input,
                  fmt::format("{} bytes are not whole {} data", bytes.size(), name));
    case Inflated::too_large:
      break;
  }
  return fail(ErrorCode::invalid_input,
              fmt::format("{} {} bytes unpack to more than {} bytes or {} times their size", bytes.size(),
                          name, limits.bytes, limits.ratio));
}

}  // namespace

std::optional<Encoding> parse_encoding(std::string_view name) {
  std::string lower{name};
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (lower.empty() || lower == "identity") return Encoding::identity;
  if (lower == "gzip" || lower == "x-gzip") return Encoding::gzip;
  if (lower == "zstd") return Encoding::zstd;
  return std::nullopt;
}

Inflated decompress(Encoding encoding, std::string_view bytes, InflateLimits limits, std::string& out) {
  switch (encoding) {
    case Encoding::gzip:
      return inflate_gzip(bytes, limits, out);
    case Encoding::zstd:
      return inflate_zstd(bytes, limits, out);
    case Encoding::identity:
      break;
  }
  if (bytes.size() > limits.bytes) return Inflated::too_large;
  out = bytes;
  return Inflated::ok;
}

Result<std::string> gunzip(std::string_view bytes, std::size_t limit, std::size_t ratio) {
  return inflated_or_failure(Encoding::gzip, "gzip", bytes, {limit, ratio});
}

Result<std::string> unzstd(std::string_view bytes, std::size_t limit, std::size_t ratio) {
  return inflated_or_failure(Encoding::zstd, "zstd", bytes, {limit, ratio});
}

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, kGzipLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc{};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard{&stream, &deflateEnd};
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (bytes.size() > std::numeric_limits<uInt>::max() || deflate(&stream, Z_FINISH) != Z_STREAM_END)
    throw std::length_error{"gzip: more than 4 GiB at once"};
  out.resize(stream.total_out);
  return out;
}

std::string zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc{};
  out.resize(size);
  return out;
}

}  // namespace tidewatt::net
