#include "shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidewatt::sensors {

SharedLibrary::SharedLibrary(void* handle, std::string what, std::string name)
    : handle_(handle), what_(std::move(what)), name_(std::move(name)) {}

SharedLibrary::~SharedLibrary() { ::dlclose(handle_); }

Result<std::unique_ptr<SharedLibrary>> SharedLibrary::open(std::string_view what,
                                                           const std::vector<std::string>& names) {
  std::string why;
  for (const auto& name : names) {
    if (void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL); handle != nullptr)
      return std::unique_ptr<SharedLibrary>{new SharedLibrary(handle, std::string{what}, name)};
    const char* words = ::dlerror();
    const std::string said = words != nullptr ? words : name;
    // One that is there but lacks a library of its own says more than one that isn't.
    if (why.empty() || !said.starts_with(name)) why = said;
  }
  return fail(ErrorCode::not_found,
              fmt::format("{} can't be opened: {} (looked for {})", what, why, fmt::join(names, ", ")),
              "install the vendor's driver, or mount its library into the container");
}

Status SharedLibrary::complete() const {
  if (lacking_.empty()) return {};
  return fail(ErrorCode::invalid_input, fmt::format("{}: {} has no {}", what_, name_, lacking_),
              "another library of that name, or one too old");
}

void* SharedLibrary::address_of(const char* symbol) const { return ::dlsym(handle_, symbol); }

}  // namespace tidewatt::sensors
