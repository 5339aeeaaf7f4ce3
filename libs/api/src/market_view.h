// What the handlers of quotas and of the market share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "body.h"
#include "handlers.h"
#include "market_desk.h"

namespace tidewatt::api {

/// Money in units of the currency.
Json money_json(std::int64_t millionths);
std::optional<market::Priority> priority_from(std::string_view name);
/// ?month=2026-11, else this month.
Result<market::Period> month_of_call(const Core& core, const Call& call);
Result<market::Period> month_of_body(const Core& core, const Body& body);
/// The body's team; a tenant's own, which is all it may name. @error permission_denied
Result<std::string> own_team(const Call& call, const Body& body);
/// The number that the path ends with.
Result<std::uint64_t> id_of_path(const Call& call);
/// Keys of operators and of each team are apart: nobody learns or blocks another's. @error invalid_input no
/// key
Result<market::Request> request_of(const Call& call, const std::string& key, market::Command command);
/// Into the audit log, unless it was a repetition.
void tell_audit(Core& core, const Call& call, const market::Outcome& done);
/// What a refused caller can do.
std::string advice_of(const market::Admit& ask, const market::Decision& decision);

}  // namespace tidewatt::api
