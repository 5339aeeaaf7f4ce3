// Whatever bytes the journal holds: a record or an error; a record reads back as itself, and the book takes
// it or says why not.
#include <cstdlib>

#include "tidewatt/market/book.h"
#include "tidewatt/market/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt::market;
  auto record = decode({reinterpret_cast<const char*>(data), size});
  if (!record) return 0;
  const auto again = decode(encode(*record));
  if (!again || *again != *record) std::abort();
  record->seq = 1;
  Book book;
  (void)book.apply(*record);
  return 0;
}
