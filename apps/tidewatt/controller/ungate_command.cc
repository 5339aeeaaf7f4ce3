// `tidewatt k8s ungate`: lets go what is held, without controller, server or Lease.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "../command.h"
#include "../input.h"
#include "../server_access.h"
#include "controller_command.h"
#include "kube_api.h"
#include "kube_objects.h"
#include "tidewatt/k8s_json/held.h"
#include "tidewatt/os/posix.h"

namespace tidewatt::cli {
namespace {

constexpr Milliseconds kUngateDeadline{60'000};

struct UngateCommand {
  KubeAccess kube;
  bool all = false;
  bool expired = false;
};

struct Counts {
  std::size_t opened = 0, waiting = 0, failed = 0;
};

void ungate(KubeApi& api, const k8s::Held& held, const UngateCommand& command, UtcTime now, Counts& counts) {
  if (!held.held || held.deleting) return;
  k8s::GateDecision decision{true, "by-hand", "let go by tidewatt k8s ungate --all", now};
  if (!command.all) {
    decision = decide_gate(held, std::nullopt, false, now);
    if (decision.by != "latest-start" || !decision.open) {
      ++counts.waiting;
      return;
    }
  }
  const auto answer = api.ask("PATCH", object_path(held), k8s_json::open_patch(held, decision, now),
                              "application/json-patch+json");
  constexpr int kNotFound = 404;
  if (answer && answer->status == 200) {
    ++counts.opened;
  } else if (!answer || answer->status != kNotFound) {
    ++counts.failed;
    fmt::print(stderr, "{}: {}\n", object_path(held),
               answer ? k8s_json::status_message(answer->status, answer->body) : answer.error().to_string());
  }
}

int run_ungate(UngateCommand& command) {
  if (command.all == command.expired)
    usage_error("k8s ungate", "give --expired, or --all for everything that is held");
  if (const auto done = command.kube.complete(); !done) return report("k8s ungate", done.error());
  KubeApi api{command.kube, kUngateDeadline};
  Counts counts;
  const os::SystemClock clock;
  for (const auto& collection : held_collections()) {
    if (!collection.holds) continue;
    const auto items = list_held(api, collection);
    if (!items) return report("k8s ungate", items.error().with_context(collection.what));
    for (const auto& held : items->items) ungate(api, held, command, clock.utc_now(), counts);
  }
  fmt::print("{} let go, {} still held, {} failed\n", counts.opened, counts.waiting, counts.failed);
  return counts.failed == 0 ? kOk : kFailed;
}

}  // namespace

void add_k8s_ungate(CLI::App& group, int& exit_code) {
  auto* command = group.add_subcommand("ungate", "Open gates, and resume Jobs, without the controller");
  const auto made = std::make_shared<UngateCommand>();
  made->kube.add_options(*command);
  command->add_flag("--expired", made->expired, "What is held beyond its latest start");
  command->add_flag("--all", made->all, "Everything that is held: before Tidewatt is removed from a cluster");
  command->footer("Example: tidewatt k8s ungate --all --kubeconfig ~/.kube/config");
  command->callback([made, &exit_code] { exit_code = run_ungate(*made); });
}

}  // namespace tidewatt::cli
