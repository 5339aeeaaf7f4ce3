// The parts of `tidewatt ledger` that work on a kept ledger.
#pragma once

namespace CLI {
class App;
}

namespace tidewatt::cli {

/// seal, verify, export
void add_months_commands(CLI::App& group, int& exit_code);

}  // namespace tidewatt::cli
