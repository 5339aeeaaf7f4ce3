// A whole image of the database as of one instant: the tables and the journal, without the process that
// writes.
#pragma once

#include "db.h"
#include "tidewatt/base/result.h"
#include "tidewatt/ledger/image.h"

namespace tidewatt::store {

Status read_image(Database& db, const ledger::ImageParts& parts, ledger::ImageSink& sink);

}  // namespace tidewatt::store
