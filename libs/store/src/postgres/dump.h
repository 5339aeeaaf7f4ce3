// A whole image of the ledger as of one snapshot: the tables and the journal.
#pragma once

#include <atomic>

#include "connection.h"
#include "tidewatt/base/result.h"
#include "tidewatt/ledger/image.h"

namespace tidewatt::store::pg {

Status read_image(Connection& db, const ledger::ImageParts& parts, ledger::ImageSink& sink);

/// For statements that may take ten minutes: sorting years of hourly rows does.
Target patient_target(const Target& target, const std::atomic<bool>& give_up);

}  // namespace tidewatt::store::pg
