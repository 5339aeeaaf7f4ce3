// One beat's curve point as a compact blob. Texts (domains, task ids) are numbers from a name table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/curve.h"

namespace tidewatt::store {

using NameToId = std::function<std::int64_t(std::string_view)>;
/// nullptr = no such name.
using IdToName = std::function<const std::string*(std::int64_t)>;

/// Everything but the time `at`, which is the row's key. Unknown stays unknown.
void encode_point(const ledger::CurvePoint& point, const NameToId& id_of, std::string& out);
/// @error corrupt  for anything that encode_point didn't write
Result<ledger::CurvePoint> decode_point(UtcTime at, std::string_view bytes, const IdToName& name_of);

}  // namespace tidewatt::store
