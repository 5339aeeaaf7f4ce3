#include "controller_metrics.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "../server_settings.h"

namespace tidewatt::cli {
namespace {

void family(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void one(std::string& out, std::string_view name, std::string_view type, std::string_view help,
         std::uint64_t value) {
  family(out, name, type, help);
  fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}

net::Response plain(std::string body) {
  return {200, {{"content-type", "text/plain; version=0.0.4; charset=utf-8"}}, std::move(body)};
}

}  // namespace

void ControllerCounts::opened(std::string_view by) {
  Count& count = by == "window"         ? by_window
                 : by == "latest-start" ? by_latest_start
                 : by == "job"          ? by_job
                                        : by_no_signal;
  count.fetch_add(1, std::memory_order_relaxed);
}

std::string controller_metrics_text(const ControllerCounts& counts, bool leads) {
  std::string out;
  one(out, "tidewatt_controller_leads", "gauge", "1 while this replica acts.", leads ? 1 : 0);
  family(out, "tidewatt_controller_opened_total", "counter", "What was let go, by why.");
  const std::pair<std::string_view, const ControllerCounts::Count*> reasons[] = {
      {"window", &counts.by_window},
      {"latest-start", &counts.by_latest_start},
      {"job", &counts.by_job},
      {"no-signal", &counts.by_no_signal}};
  for (const auto& [by, count] : reasons)
    fmt::format_to(std::back_inserter(out), "tidewatt_controller_opened_total{{by=\"{}\"}} {}\n", by,
                   count->load());
  one(out, "tidewatt_controller_write_failures_total", "counter",
      "Patches and events that the API server didn't take; each is tried again.",
      counts.write_failures.load());
  family(out, "tidewatt_controller_accounts_total", "counter",
         "Ended pods whose carbon was written, or that it isn't known.");
  fmt::format_to(std::back_inserter(out),
                 "tidewatt_controller_accounts_total{{carbon=\"known\"}} {}\n"
                 "tidewatt_controller_accounts_total{{carbon=\"missing\"}} {}\n",
                 counts.accounts_known.load(), counts.accounts_missing.load());
  if (!counts.complete) return out;  // nobody knows yet what is held
  one(out, "tidewatt_controller_held", "gauge", "Pods and Jobs that are held.", counts.held.load());
  one(out, "tidewatt_controller_overdue", "gauge", "Of them, those beyond their latest start: must read 0.",
      counts.overdue.load());
  one(out, "tidewatt_controller_looks_total", "counter", "Looks at everything.", counts.looks.load());
  return out;
}

Result<std::unique_ptr<net::Server>> serve_controller_metrics(const std::string& address,
                                                              const ControllerCounts& counts,
                                                              std::function<bool()> leads) {
  TW_TRY(const auto endpoint, parse_endpoint(address));
  net::ServerOptions options;
  options.address = endpoint.address;
  options.port = endpoint.port;
  options.max_body_bytes = 4096;
  options.max_connections = 32;
  options.worker_threads = 1;
  options.max_queued_requests = 32;
  return net::Server::listen(options, [&counts, leads = std::move(leads)](const net::Request& request) {
    if (request.method != "GET" && request.method != "HEAD")
      return net::problem(405, "method_not_allowed", "Method not allowed", "only GET is answered here");
    if (request.path == "/healthz") return plain("ok\n");
    if (request.path == "/metrics") return plain(controller_metrics_text(counts, leads()));
    return net::problem(404, "not_found", "Not found", "this controller answers /metrics and /healthz");
  });
}

}  // namespace tidewatt::cli
