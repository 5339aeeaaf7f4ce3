// COIN-OR CBC as the planner's solver of mixed-integer programmes.
#pragma once

#include <memory>

#include "tidewatt/planning/mip.h"

namespace tidewatt::solver {

/// A solver with one thread that counts nodes, not seconds: the same model gives the same answer.
std::unique_ptr<planning::MipSolver> make_cbc_solver();

}  // namespace tidewatt::solver
