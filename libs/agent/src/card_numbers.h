// Which hundred the cards of each source are numbered from: two sources must not share a number, since a card
// without uuid is known by it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "tidewatt/units/time.h"

namespace tidewatt::agent {

/// The sources that give cards get their hundreds in the order of the settings; one that gives none takes
/// none, so that a stray tool doesn't make the only cards "GPU 100". Thread-safe.
class CardNumbers {
 public:
  /// Another source of cards. @return its place in the order
  std::size_t enter();
  /// It has been read, and gave none.
  void gave_none(std::size_t place);
  /// It gives cards. @return the hundred they are numbered from, the same at every call
  /// Waits a moment for the first answers of those before it, lest the order depend on who is quicker.
  std::size_t hundred_of(std::size_t place);

 private:
  struct Entry {
    bool answered = false;
    std::optional<std::size_t> hundred;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
};

}  // namespace tidewatt::agent
