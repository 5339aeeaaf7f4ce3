// A library opened at run time.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"

namespace tidewatt::sensors {

/// Destruction closes it.
class SharedLibrary {
 public:
  /// Opens the first of these names or paths that is there, with local symbols: several vendors' libraries
  /// export the same names.
  /// @param what  how errors call it: "ROCm SMI"
  /// @error not_found  none can be opened; the loader's words about the last one that exists, else the last
  static Result<std::unique_ptr<SharedLibrary>> open(std::string_view what,
                                                     const std::vector<std::string>& names);
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  /// Sets the function to the first of these symbols; nullptr when the library has none of them.
  template <class F>
  void find(F*& function, std::initializer_list<const char*> symbols) const {
    function = nullptr;
    for (const char* symbol : symbols)
      if (void* found = address_of(symbol); found != nullptr) {
        function = reinterpret_cast<F*>(found);
        return;
      }
  }
  /// The same for one that nothing works without. Remembers its name if it's missing.
  template <class F>
  void need(F*& function, std::initializer_list<const char*> symbols) {
    find(function, symbols);
    if (function == nullptr && lacking_.empty()) lacking_ = *symbols.begin();
  }
  /// @error invalid_input  when a symbol that was needed is missing: another library of the same name
  [[nodiscard]] Status complete() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  SharedLibrary(void* handle, std::string what, std::string name);
  [[nodiscard]] void* address_of(const char* symbol) const;

  void* handle_;
  std::string what_;
  std::string name_;
  std::string lacking_;
};

}  // namespace tidewatt::sensors
