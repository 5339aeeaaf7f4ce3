#include "input.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include "command.h"

namespace tidewatt::cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

tl::unexpected<Error> cannot_open(const std::string& path) {
  const int why = errno;
  const auto code = why == ENOENT   ? ErrorCode::not_found
                    : why == EACCES ? ErrorCode::permission_denied
                                    : ErrorCode::io;
  return fail(code, path + ": " + std::strerror(why));
}

/// Standard input for "-", else `file`.
Result<std::istream*> open(const std::string& path, std::ifstream& file) {
  if (path == "-") return &std::cin;
  errno = 0;
  file.open(path, std::ios::binary);
  if (!file) return cannot_open(path);
  errno = 0;
  const bool is_folder = file.peek() == EOF && errno == EISDIR;
  if (is_folder) return fail(ErrorCode::invalid_input, path + ": is a folder, not a file");
  file.clear();
  return &file;
}

}  // namespace

Status for_each_line(const std::string& path,
                     const std::function<Status(std::string_view, std::size_t)>& each) {
  std::ifstream file;
  TW_TRY(std::istream* const opened, open(path, file));
  std::istream& in = *opened;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (number == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    if (!line.empty() && line.back() == '\r') line.pop_back();
    TW_TRY_STATUS(each(line, number));
  }
  if (in.bad()) return fail(ErrorCode::io, path + ": could not be read to its end");
  return {};
}

Result<std::string> read_all(const std::string& path, std::size_t most) {
  std::ifstream file;
  TW_TRY(std::istream* const opened, open(path, file));
  std::istream& in = *opened;
  std::string bytes;
  char buffer[65536];
  while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
    bytes.append(buffer, static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > most)
      return fail(ErrorCode::invalid_input, path + ": larger than " + std::to_string(most >> 20U) + " MiB");
  }
  return bytes;
}

void usage_error(const std::string& option, const std::string& what) {
  throw CLI::ValidationError(option, what);
}

int report(std::string_view command, const Error& error) {
  const auto text = error.to_string();
  std::fprintf(stderr, "tidewatt %.*s: %s\n", static_cast<int>(command.size()), command.data(), text.c_str());
  return kFailed;
}

}  // namespace tidewatt::cli
