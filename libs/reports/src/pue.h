// PUE of a period from meters: what the site drew over what its machines drew.
#pragma once

#include "tidewatt/reports/gather.h"

namespace tidewatt::reports {

/// Reads the meters of all nodes of the question's clusters, whoever asks and for which lines.
Result<MeteredPue> metered_pue(ledger::ImageSource& source, const Question& question);

}  // namespace tidewatt::reports
