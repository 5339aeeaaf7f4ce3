// One beat's curve point as a compact blob. Texts (domains, task ids) are numbers from a name table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec.h"
#include "tidewatt/base/result.h"
#include "tidewatt/ledger/curve.h"

namespace tidewatt::store {

using NameToId = std::function<std::int64_t(std::string_view)>;
/// nullptr = no such name.
using IdToName = std::function<const std::string*(std::int64_t)>;

/// Everything but the time `at`, which is the row's key. Unknown stays unknown.
void encode_point(const ledger::CurvePoint& point, const NameToId& id_of, std::string& out);

/// Decodes one point after another into the same one: neighbours have the same devices and holders.
class PointDecoder {
 public:
  explicit PointDecoder(IdToName name_of) : name_of_(std::move(name_of)) {}
  /// @return valid until the next call  @error corrupt  for anything that encode_point didn't write
  Result<const ledger::CurvePoint*> decode(UtcTime at, std::string_view bytes);

 private:
  /// The numbers behind the texts that stand in the point's sample at the same place.
  struct Texts {
    std::int64_t domain = 0;
    std::vector<std::int64_t> holders;
  };
  bool read(ByteReader& r, ledger::CurveSample& sample, Texts& texts);

  IdToName name_of_;
  ledger::CurvePoint point_;
  std::vector<Texts> texts_;
  std::vector<std::int64_t> holders_;
};

/// A node's stored points, decoded as they are read.
class StoredCurve final : public ledger::CurveReader {
 public:
  explicit StoredCurve(IdToName name_of) : decoder_(std::move(name_of)) {}
  /// Takes points over that were read into one buffer; add_adopted() names them by their places in it.
  void adopt(std::string bytes, std::size_t points);
  /// In time order, as add() is.
  void add_adopted(UtcTime at, std::size_t begin, std::size_t size);
  void add(UtcTime at, std::string_view bytes);

  const std::vector<UtcTime>& times() const override { return times_; }
  Result<const ledger::CurvePoint*> next() override;

 private:
  PointDecoder decoder_;
  struct Place {
    std::size_t begin;
    std::size_t size;
  };
  std::string bytes_;
  std::vector<UtcTime> times_;
  std::vector<Place> places_;
  std::size_t next_ = 0;
};

}  // namespace tidewatt::store
