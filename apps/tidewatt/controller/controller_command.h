// `tidewatt k8s controller` opens gates and resumes Jobs when their window comes; `tidewatt k8s ungate` at
// once.
#pragma once

namespace CLI {
class App;
}

namespace tidewatt::cli {

void add_k8s_controller(CLI::App& group, int& exit_code);
void add_k8s_ungate(CLI::App& group, int& exit_code);

}  // namespace tidewatt::cli
