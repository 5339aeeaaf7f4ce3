// What `tidewatt run` tells people.
#pragma once

#include <memory>
#include <string>

#include "tidewatt/base/file_system.h"
#include "tidewatt/runner/order.h"
#include "tidewatt/runner/plan.h"

namespace tidewatt::cli {

/// "2026-02-03 13:05Z"
std::string minute_text(UtcTime at);
/// "13:00-15:00, 18:00-19:00"
std::string windows_text(const runner::Plan& plan);
void print_start(const runner::Order& order, const runner::Plan& plan, const std::string& folder);
void print_outcome(const runner::Order& order, const runner::Record& record, const runner::Plan& plan,
                   UtcTime now, bool json);
void print_runs(const std::shared_ptr<FileSystem>& files, const std::string& base, bool json);

}  // namespace tidewatt::cli
