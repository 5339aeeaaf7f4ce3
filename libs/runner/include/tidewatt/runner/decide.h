// What to do at this moment. Needs nobody: no server, no signal, no front end.
#pragma once

#include <string>

#include "tidewatt/runner/order.h"
#include "tidewatt/runner/plan.h"

namespace tidewatt::runner {

struct Decision {
  bool run = true;
  std::string why;
  UtcTime look_again;  ///< nothing changes before, unless the plan or the command does
};

Decision decide(const Order& order, const Record& record, const Plan& plan, UtcTime now);

}  // namespace tidewatt::runner
