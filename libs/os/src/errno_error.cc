#include "errno_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace tidewatt::os {
namespace {

ErrorCode code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::permission_denied;
    case EAGAIN:
    case EBUSY:
    case EMFILE:
    case ENFILE:
      return ErrorCode::unavailable;
    case ETIMEDOUT:
      return ErrorCode::timed_out;
    case EEXIST:
      return ErrorCode::conflict;
    case EISDIR:
    case ENAMETOOLONG:
    case EINVAL:
      return ErrorCode::invalid_input;
    default:
      return ErrorCode::io;
  }
}

std::string hint_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "run as a user who may, or change its owner or mode";
    case EROFS:
      return "the file system is mounted read-only";
    case ENOSPC:
    case EDQUOT:
      return "free some space on that file system";
    case EMFILE:
      return "raise the limit of open files (LimitNOFILE=)";
    default:
      return {};
  }
}

}  // namespace

tl::unexpected<Error> errno_failure(int error, std::string_view path, std::string_view what) {
  return fail(code_of(error),
              fmt::format("{}: can't {}: {}", path, what, std::generic_category().message(error)),
              hint_of(error));
}

}  // namespace tidewatt::os
