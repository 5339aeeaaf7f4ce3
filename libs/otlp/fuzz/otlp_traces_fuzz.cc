// Whatever a sender sends: no crash, one-line errors, and spans that can be shared out. The bytes are tried
// in either encoding, and what comes of them goes through a book.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tidewatt/otlp/traces.h"
#include "tidewatt/traces/task_book.h"

namespace {

void check(std::string_view body, tidewatt::otlp::Encoding encoding) {
  using namespace tidewatt;
  const auto parsed = otlp::parse_traces(body, encoding, {.spans = 200, .attributes = 50, .resources = 20});
  if (!parsed) {
    if (parsed.error().to_string().find('\n') != std::string::npos) std::abort();
    return;
  }
  for (const auto& sent : parsed->resources) {
    traces::TaskBook book{traces::BookRules{}};
    UtcTime newest{};
    for (const auto& span : sent.spans) {
      if (span.end < span.begin || span.id == 0 || span.route.size() > otlp::kLongestName) std::abort();
      newest = std::chrono::floor<Milliseconds>(span.end);
      book.add(span, newest);
    }
    const auto hour = start_of(hour_of(newest));
    const auto piece = [&](int second, std::int64_t energy) {
      const auto begin = hour + Milliseconds{1000 * second};
      book.add({"gpu", "n/0", begin, {begin, begin + Milliseconds{1800'000}}, Microjoules{energy}});
    };
    piece(0, 1);
    piece(1800, 1'000'003);
    const auto report = book.report(hour_of(hour), hour_of(hour) + std::chrono::hours{1});
    WideMicrojoules sum;
    for (const auto& endpoint : report.endpoints)
      for (const auto& [domain, energy] : endpoint.energy) sum += energy;
    for (const auto& [domain, energy] : report.no_span) sum += energy;
    if (sum != WideMicrojoules{Microjoules{1'000'003}}) std::abort();
    book.settle(newest);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  check(bytes, tidewatt::otlp::Encoding::protobuf);
  check(bytes, tidewatt::otlp::Encoding::json);
  return 0;
}
