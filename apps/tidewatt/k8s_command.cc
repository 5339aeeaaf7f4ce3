// tidewatt k8s manifests: what a cluster is given to run Tidewatt in it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command.h"
#include "controller/controller_command.h"
#include "input.h"
#include "tidewatt/k8s/base64.h"
#include "tidewatt/k8s/manifests.h"

namespace tidewatt::cli {
namespace {

constexpr std::size_t kLargestBundle = 1U << 20U;

struct ManifestsCommand {
  k8s::ManifestOptions options;
  std::string ca_file;
};

int print_manifests(ManifestsCommand& command) {
  if (!command.ca_file.empty()) {
    const auto pem = read_all(command.ca_file, kLargestBundle);
    if (!pem) return report("k8s manifests", pem.error());
    if (pem->find("-----BEGIN CERTIFICATE-----") == std::string::npos)
      return report("k8s manifests", {ErrorCode::invalid_input, command.ca_file + " holds no certificate",
                                      "give the PEM file of the authority"});
    command.options.ca_bundle_base64 = k8s::base64(*pem);
  }
  if (const auto problem = k8s::manifest_problem(command.options); !problem.empty())
    usage_error("k8s manifests", problem);
  fmt::print("{}", k8s::manifests(command.options));
  return kOk;
}

}  // namespace

void add_k8s_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("k8s", "Kubernetes: what a cluster needs, and the controller in it");
  group->require_subcommand(1);
  add_k8s_controller(*group, exit_code);
  add_k8s_ungate(*group, exit_code);
  group->footer("Example: tidewatt k8s manifests --image registry.example/tidewatt:0.1.0");

  auto* command =
      group->add_subcommand("manifests", "Print server, agents, controller and webhooks as YAML for kubectl");
  const auto made = std::make_shared<ManifestsCommand>();
  command->add_option("--image", made->options.image, "The image with both programs")->required();
  command->add_option("--namespace", made->options.name_space, "Where it runs (default tidewatt)");
  command
      ->add_option("--ca-file", made->ca_file,
                   "PEM of the authority that signed the server's certificate; without it no webhooks")
      ->type_name("FILE");
  command->add_option("--storage", made->options.storage, "Size of the ledger's volume (default 10Gi)");
  command->add_option("--zone", made->options.zone,
                      "Carbon zone for the controller, like DE; without it held pods are let go at once");
  command->footer(
      "Example: tidewatt k8s manifests --image registry.example/tidewatt:0.1.0 --ca-file ca.crt | kubectl "
      "apply -f -");
  command->callback([made, &exit_code] { exit_code = print_manifests(*made); });
}

}  // namespace tidewatt::cli
