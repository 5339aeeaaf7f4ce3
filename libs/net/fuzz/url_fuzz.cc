// Request targets, queries and URLs: no crash, and nothing that is decoded holds a NUL.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "../src/url.h"
#include "tidewatt/net/client.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt::net;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto target = parse_target(text)) {
    if (target->path != "*" && (!target->path.starts_with('/') || !target->raw_path.starts_with('/')))
      std::abort();
    if (target->path.find('\0') != std::string::npos) std::abort();
    if (target->query.size() > target->query_items.size()) std::abort();
  }
  if (const auto decoded = percent_decode(text); decoded && decoded->size() > text.size()) std::abort();
  const auto url = parse_url(text);
  if (url && (url->host.empty() || url->port == 0 || !url->target.starts_with('/') ||
              url->host_header.find_first_of("\r\n ") != std::string::npos))
    std::abort();
  if (!url && server_url_problem(text).empty()) std::abort();
  return 0;
}
