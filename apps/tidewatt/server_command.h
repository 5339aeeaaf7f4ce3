// `tidewatt server` and `tidewatt demo`.
#pragma once

namespace CLI {
class App;
}

namespace tidewatt::cli {

/// Both leave their exit code behind, as the other commands do.
void add_server_command(CLI::App& app, int& exit_code);
void add_demo_command(CLI::App& app, int& exit_code);

}  // namespace tidewatt::cli
