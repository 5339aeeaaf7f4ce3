// The files of a run's folder, as text. JSON, schema tidewatt-run/1.
#pragma once

#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/runner/order.h"
#include "tidewatt/runner/plan.h"

namespace tidewatt::runner {

std::string to_text(const Order& order);
std::string to_text(const Record& record);
std::string to_text(const Plan& plan);
/// @error corrupt  what is missing or of the wrong type
Result<Order> parse_order(std::string_view text);
Result<Record> parse_record(std::string_view text);
Result<Plan> parse_plan(std::string_view text);

}  // namespace tidewatt::runner
