// Whatever an API server sends: no crash, one-line errors, patches that are made of what was read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tidewatt/k8s_json/held.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  for (const auto kind : {k8s::ObjectKind::pod, k8s::ObjectKind::job}) {
    const auto event = k8s_json::read_watch_event(kind, text);
    if (!event && event.error().to_string().find('\n') != std::string::npos) std::abort();
    if (event && event->type == k8s_json::WatchEvent::Type::changed) {
      const auto decision = k8s::decide_gate(event->held, std::nullopt, false, UtcTime{});
      if (!decision.open && decision.start <= UtcTime{}) std::abort();
      (void)k8s_json::open_patch(event->held, decision, UtcTime{});
      (void)k8s_json::plan_patch(event->held, UtcTime{}, decision.why);
    }
    (void)k8s_json::read_held_list(kind, text);
  }
  (void)k8s_json::read_lease(text);
  if (k8s_json::status_message(500, text).find('\n') != std::string::npos) std::abort();
  return 0;
}
