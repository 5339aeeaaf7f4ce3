#include <sys/random.h>

#include <cerrno>
#include <system_error>

#include "tidewatt/os/posix.h"

namespace tidewatt::os {

std::uint64_t SecureRng::next() {
  std::uint64_t value = 0;
  for (;;) {
    // Up to 256 bytes come whole or not at all.
    const auto got = ::getrandom(&value, sizeof value, 0);
    if (got == static_cast<ssize_t>(sizeof value)) return value;
    // Going on with a guessable secret would be worse than stopping.
    if (got < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
  }
}

std::string random_hex_256(Rng& rng) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(64);
  for (int word = 0; word < 4; ++word) {
    const std::uint64_t bits = rng.next();
    for (int shift = 60; shift >= 0; shift -= 4)
      hex += kDigits[(bits >> static_cast<unsigned>(shift)) & 0xFU];
  }
  return hex;
}

std::string boot_id(const FileSystem& files) {
  auto text = files.read_text("/proc/sys/kernel/random/boot_id", 4096);
  if (!text) return {};
  const auto end = text->find_last_not_of(" \t\r\n");
  return end == std::string::npos ? std::string{} : text->substr(0, end + 1);
}

}  // namespace tidewatt::os
