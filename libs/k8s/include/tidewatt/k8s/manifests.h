// What a cluster is given to run Tidewatt in it, as plain YAML.
#pragma once

#include <string>

namespace tidewatt::k8s {

struct ManifestOptions {
  std::string name_space = "tidewatt";
  std::string image;             ///< with both programs in the path
  std::string ca_bundle_base64;  ///< PEM of the authority of the Secret tidewatt-tls, for the webhooks; empty
                                 ///< = none of them
  std::string storage = "10Gi";  ///< of the ledger
  std::string zone;              ///< carbon zone of held pods that ask for no place; empty = none
};

/// Server, agents on every node, the controller of held pods, webhooks, and who may reach whom. Secrets
/// aren't in it: the certificate is the operator's, the agents' token the server's.
std::string manifests(const ManifestOptions& options);

/// What is wrong with the options, in words; empty = nothing. Only what passes may go into YAML.
std::string manifest_problem(const ManifestOptions& options);

}  // namespace tidewatt::k8s
