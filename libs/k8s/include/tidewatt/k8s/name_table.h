// Names and their places, found without following a pointer for each: thousands are looked up for one
// question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidewatt::k8s {

/// Names once added stay. Not for more than 2^31 of them, nor 4 GiB of text.
class NameTable {
 public:
  /// @return its number, from 0 in the order of adding; the number it has where it is known already
  std::size_t add(std::string_view name);
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] std::size_t size() const { return begins_.size() - 1; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0;  ///< from 1; 0 = free
  };
  [[nodiscard]] std::string_view name(std::size_t number) const;
  /// The slot that holds the name, or the free one where it belongs.
  [[nodiscard]] std::size_t slot_of(std::string_view name, std::uint32_t hash) const;
  void grow();

  std::string text_;                                 ///< all names, one behind the other
  std::vector<std::uint32_t> begins_ = {0};          ///< of each name in it, and the end
  std::vector<Slot> slots_ = std::vector<Slot>(16);  ///< a power of two, at most half of them taken
};

}  // namespace tidewatt::k8s
