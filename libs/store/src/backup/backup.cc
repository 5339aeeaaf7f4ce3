#include "tidewatt/store/backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "../codec.h"
#include "records.h"

namespace tidewatt::store {
namespace {

using namespace ledger;

constexpr std::string_view kMagic = "tidewatt backup 1\n";
constexpr int kLevel = 9;
/// A cursor of a large node has some 100 kB.
constexpr std::uint64_t kLargestRecord = std::uint64_t{64} << 20U;
constexpr std::size_t kLongestHead = 11;  ///< a kind and a varint

Error io_error(const std::string& path, std::string_view doing) {
  const int code = errno;
  const auto meaning = code == EEXIST                     ? ErrorCode::conflict
                       : code == ENOENT                   ? ErrorCode::not_found
                       : code == EACCES || code == EPERM  ? ErrorCode::permission_denied
                       : code == ENOSPC || code == EDQUOT ? ErrorCode::unavailable
                                                          : ErrorCode::io;
  return {meaning, fmt::format("{}: {}: {}", path, doing, std::strerror(code)),
          code == EEXIST ? "give a new name; nothing is ever overwritten" : ""};
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

class Sha256 {
 public:
  Sha256() { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  void update(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), bytes.data(), &size);
    return {bytes.begin(), bytes.begin() + size};
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_{EVP_MD_CTX_new()};
};

class FileSink final : public ImageSink {
 public:
  FileSink(int fd, std::string path) : fd_(fd), path_(std::move(path)), buffer_(ZSTD_CStreamOutSize(), '\0') {
    ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_checksumFlag, 1);
  }
  Status begin() { return write(kMagic); }
  Status add(const TaskInfo& task) override { return put(RecordKind::task, encode_record(task)); }
  Status add(const EpochReport& report) override { return put(RecordKind::epoch, encode_record(report)); }
  Status add(const TokenHour& hour) override { return put(RecordKind::token_hour, encode_record(hour)); }
  Status add(const TokenCounter& counter) override {
    return put(RecordKind::token_counter, encode_record(counter));
  }
  Status add(const TokenRecord& token) override { return put(RecordKind::token, encode_record(token)); }
  Status add(const AuditEntry& entry) override { return put(RecordKind::audit, encode_record(entry)); }
  Status add(const MarketEntry& entry) override { return put(RecordKind::market, encode_record(entry)); }
  Status add(const NodeImage& node) override { return put(RecordKind::node, encode_record(node)); }
  Status add(const Seal& seal) override { return put(RecordKind::seal, encode_record(seal)); }
  Status add(const Account& account) override {
    count(summary_, RecordKind::account, &account);
    return put(RecordKind::account, encode_record(account));
  }
  Status add(const Adjustment& adjustment) override {
    return put(RecordKind::adjustment, encode_record(adjustment));
  }
  Status add(const HourlyRow& row) override { return put(RecordKind::hour, encode_record(row)); }

  Result<BackupSummary> finish() {
    TW_TRY_STATUS(put(RecordKind::end, encode_end(summary_, sha256_.finish())));
    TW_TRY_STATUS(compress({}, ZSTD_e_end));
    TW_TRY_STATUS(write(file_hash_.finish()));
    if (::fsync(fd_) != 0) return tl::unexpected(io_error(path_, "writing"));
    return summary_;
  }

 private:
  Status put(RecordKind kind, const std::string& payload) {
    if (kind != RecordKind::account && kind != RecordKind::end) count(summary_, kind, nullptr);
    record_.clear();
    ByteWriter w(record_);
    w.byte(static_cast<std::uint8_t>(kind));
    w.text(payload);
    if (kind != RecordKind::end) sha256_.update(record_);
    return compress(record_, ZSTD_e_continue);
  }
  Status compress(std::string_view bytes, ZSTD_EndDirective end) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
      const auto left = ZSTD_compressStream2(zstd_.get(), &out, &in, end);
      if (ZSTD_isError(left) != 0)
        return fail(ErrorCode::internal, fmt::format("{}: zstd: {}", path_, ZSTD_getErrorName(left)));
      TW_TRY_STATUS(write({buffer_.data(), out.pos}));
      if (end == ZSTD_e_end ? left == 0 : in.pos == in.size) return {};
    }
  }
  Status write(std::string_view bytes) {
    file_hash_.update(bytes);
    while (!bytes.empty()) {
      const auto n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return tl::unexpected(io_error(path_, "writing"));
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
  }

  struct Free {
    void operator()(ZSTD_CCtx* zstd) const { ZSTD_freeCCtx(zstd); }
  };
  int fd_;
  std::string path_;
  std::string buffer_;
  std::string record_;
  std::unique_ptr<ZSTD_CCtx, Free> zstd_{ZSTD_createCCtx()};
  Sha256 sha256_;
  Sha256 file_hash_;
  BackupSummary summary_;
};

/// The uncompressed stream of a backup, a piece at a time.
class Reader {
 public:
  Reader(int fd, std::string path) : fd_(fd), path_(std::move(path)), in_(ZSTD_DStreamInSize(), '\0') {}

  Status begin() {
    std::string magic(kMagic.size(), '\0');
    TW_TRY(const auto n, fill(magic));
    if (std::string_view(magic).substr(0, n) != kMagic)
      return fail(ErrorCode::corrupt, path_ + " is no Tidewatt backup, or of a newer version",
                  "give a file that tidewatt backup wrote");
    file_hash_.update(magic);
    return {};
  }
  /// At least `size` bytes in `ahead()`, where there are so many.
  Status want(std::size_t size) {
    while (ahead_.size() - at_ < size && !ended_) TW_TRY_STATUS(inflate());
    return {};
  }
  [[nodiscard]] std::string_view ahead() const { return std::string_view(ahead_).substr(at_); }
  void take(std::size_t size) {
    at_ += size;
    if (at_ < kCompactAt && at_ < ahead_.size()) return;
    ahead_.erase(0, at_);
    at_ = 0;
  }
  /// The frame ended as it should, and nothing is behind it.
  Status finish() {
    TW_TRY_STATUS(want(1));
    if (!ended_ || !ahead().empty()) return damaged("something stands behind its end");
    // Bits that mean nothing to zstd are part of the file, too.
    const auto expected = file_hash_.finish();
    auto rest = in_.substr(pos_, filled_ - pos_);
    std::string more(expected.size() + 1, '\0');
    TW_TRY(const auto n, fill(more));
    rest += more.substr(0, n);
    if (rest != expected) return damaged("the file gives another hash than its end says");
    return {};
  }
  [[nodiscard]] tl::unexpected<Error> damaged(std::string_view how) const {
    return fail(ErrorCode::corrupt, fmt::format("{}: the backup is damaged: {}", path_, how),
                "use another backup");
  }

 private:
  static constexpr std::size_t kCompactAt = std::size_t{1} << 20U;

  Result<std::size_t> fill(std::string& buffer) const {
    std::size_t size = 0;
    while (size < buffer.size()) {
      const auto n = ::read(fd_, buffer.data() + size, buffer.size() - size);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return tl::unexpected(io_error(path_, "reading"));
      if (n == 0) break;
      size += static_cast<std::size_t>(n);
    }
    return size;
  }
  Status inflate() {
    if (pos_ == filled_) {
      TW_TRY(filled_, fill(in_));
      pos_ = 0;
      if (filled_ == 0) return damaged("it ends in the middle");
    }
    std::array<char, 65'536> piece{};
    ZSTD_inBuffer in{in_.data(), filled_, pos_};
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    const auto left = ZSTD_decompressStream(zstd_.get(), &out, &in);
    if (ZSTD_isError(left) != 0) return damaged(ZSTD_getErrorName(left));
    file_hash_.update(std::string_view(in_).substr(pos_, in.pos - pos_));
    pos_ = in.pos;
    ahead_.append(piece.data(), out.pos);
    ended_ = left == 0;
    return {};
  }

  struct Free {
    void operator()(ZSTD_DCtx* zstd) const { ZSTD_freeDCtx(zstd); }
  };
  int fd_;
  std::string path_;
  std::string in_;
  std::size_t filled_ = 0;
  std::size_t pos_ = 0;
  std::string ahead_;
  std::size_t at_ = 0;
  Sha256 file_hash_;
  bool ended_ = false;
  std::unique_ptr<ZSTD_DCtx, Free> zstd_{ZSTD_createDCtx()};
};

/// The file that a backup is written to under another name than its own. One that a killed backup left is
/// begun anew; one that is being written, or that is no backup's, is left alone.
Result<int> take_part(const std::string& part) {
  const int fd = ::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return tl::unexpected(io_error(part, "making the backup"));
  std::string start(kMagic.size(), '\0');
  struct stat ours{};
  struct stat there{};
  Status usable;
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 || ::stat(part.c_str(), &there) != 0 || ::fstat(fd, &ours) != 0 ||
      ours.st_ino != there.st_ino) {
    usable = fail(ErrorCode::conflict, part + ": another backup is being written there", "give a new name");
  } else if (const auto n = ::pread(fd, start.data(), start.size(), 0);
             n < 0 || !kMagic.starts_with(std::string_view(start).substr(0, static_cast<std::size_t>(n)))) {
    usable =
        fail(ErrorCode::conflict, part + " is there, and is no backup that was cut off", "give a new name");
  } else if (::ftruncate(fd, 0) != 0) {
    usable = tl::unexpected(io_error(part, "making the backup"));
  }
  if (usable) return fd;
  ::close(fd);
  return tl::unexpected(std::move(usable).error());
}

}  // namespace

Result<BackupSummary> write_backup(ImageSource& source, const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) {
    errno = EEXIST;
    return tl::unexpected(io_error(path, "making the backup"));
  }
  const auto part = path + ".part";
  TW_TRY(const int fd, take_part(part));
  const File file(fd);
  FileSink sink(file.fd(), part);
  const auto write = [&]() -> Result<BackupSummary> {
    TW_TRY_STATUS(sink.begin());
    ImageParts parts;
    parts.registry = parts.nodes = parts.seals = parts.accounts = parts.adjustments = parts.hourly = true;
    TW_TRY_STATUS(source.read_image(parts, sink));
    TW_TRY(const auto summary, sink.finish());
    // Unlike a rename, a link never replaces what came meanwhile.
    if (::link(part.c_str(), path.c_str()) != 0) return tl::unexpected(io_error(path, "naming the backup"));
    return summary;
  };
  auto summary = write();
  (void)::unlink(part.c_str());
  return summary;
}

Result<BackupSummary> read_backup(const std::string& path, ImageSink& sink) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) return tl::unexpected(io_error(path, "opening the backup"));
  Reader reader(file.fd(), path);
  TW_TRY_STATUS(reader.begin());
  Sha256 sha256;
  BackupSummary summary;
  while (true) {
    TW_TRY_STATUS(reader.want(kLongestHead));
    ByteReader head(reader.ahead());
    const auto kind = static_cast<RecordKind>(head.byte());
    const auto size = head.u64();
    if (!head.ok() || size > kLargestRecord) return reader.damaged("a record's head can't be read");
    // As long as ByteWriter made it.
    std::string start;
    ByteWriter w(start);
    w.byte(static_cast<std::uint8_t>(kind));
    w.u64(size);
    TW_TRY_STATUS(reader.want(start.size() + size));
    if (reader.ahead().size() < start.size() + size) return reader.damaged("a record is cut off");
    const auto record = reader.ahead().substr(0, start.size() + size);
    const auto payload = record.substr(start.size());
    if (kind == RecordKind::end) {
      TW_TRY(const auto end, decode_end(payload));
      if (end.sha256 != sha256.finish()) return reader.damaged("its content gives another hash than it says");
      if (end.summary != summary) return reader.damaged("it doesn't hold what it says");
      reader.take(record.size());
      TW_TRY_STATUS(reader.finish());
      return summary;
    }
    sha256.update(record);
    if (auto given = give_record(kind, payload, summary, sink); !given)
      return tl::unexpected(given.error().with_context(path));
    reader.take(record.size());
  }
}

}  // namespace tidewatt::store
