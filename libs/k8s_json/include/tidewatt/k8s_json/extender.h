// What kube-scheduler sends to an extender (extender/v1 ExtenderArgs), and the answers it takes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/k8s/cluster_view.h"
#include "tidewatt/k8s/tolerance.h"

namespace tidewatt::k8s_json {

struct OfferedNode {
  std::string_view name;
  k8s::Place place;      ///< by its labels; empty where only names are sent
  std::string_view raw;  ///< the whole object as it was sent; empty where only names are sent
};

struct ExtenderArgs {
  std::optional<k8s::Tolerance> tolerance;  ///< of the pod
  bool by_name = false;                     ///< NodeNames was sent (nodeCacheCapable), not Nodes
  std::vector<OfferedNode> nodes;
};

/// Its buffers are reused from body to body. Not thread-safe.
class ExtenderReader {
 public:
  ExtenderReader();
  ~ExtenderReader();
  ExtenderReader(const ExtenderReader&) = delete;
  ExtenderReader& operator=(const ExtenderReader&) = delete;

  /// Keys in any case, as Go decodes them; null lists are empty ones.
  /// @return views that hold until the next call
  /// @error invalid_input  no JSON object, or a node without a name
  Result<ExtenderArgs> read(std::string_view body);

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// ExtenderFilterResult. @param refusals one a node: why it is kept out, nullopt = it isn't
std::string filter_answer(const ExtenderArgs& args, std::span<const std::optional<std::string>> refusals);
/// HostPriorityList. @param scores one a node
std::string prioritize_answer(const ExtenderArgs& args, std::span<const int> scores);

}  // namespace tidewatt::k8s_json
