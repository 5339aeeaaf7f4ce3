// What the controller remembers, as a file. JSON, schema tidewatt-slurm-controller/1.
#pragma once

#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/slurm/controller.h"

namespace tidewatt::slurm {

std::string to_text(const Jobs& jobs);
/// @error corrupt  what is missing or of the wrong type
Result<Jobs> parse_jobs(std::string_view text);

}  // namespace tidewatt::slurm
