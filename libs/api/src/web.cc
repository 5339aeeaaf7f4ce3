#include "web.h"

#include <algorithm>
#include <string>

#include "core.h"
#include "tidewatt/api/web_files.h"
#include "tidewatt/net/compress.h"

namespace tidewatt::api {
namespace {

constexpr std::size_t kLargestFile = 32U << 20U;
constexpr std::size_t kLargestRatio = 1000;

constexpr std::string_view kNoPages =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Tidewatt</title>"
    "<h1>Tidewatt runs, its pages are not in this build</h1>"
    "<p>Build them in: <code>cmake --preset fast -DTIDEWATT_WEB=ON</code> (needs Node.js 18 or newer), then "
    "build again.</p>"
    "<p>The HTTP API is at <a href=\"/api/openapi.json\">/api/openapi.json</a>.</p></html>\n";

const WebFile* find_file(std::string_view path) {
  const auto files = web_files();
  const auto found =
      std::lower_bound(files.begin(), files.end(), path,
                       [](const WebFile& file, std::string_view wanted) { return file.path < wanted; });
  return found != files.end() && found->path == path ? &*found : nullptr;
}

bool takes_gzip(const net::Request& request) {
  const auto accepted = request.header("accept-encoding");
  return accepted && accepted->find("gzip") != std::string_view::npos &&
         accepted->find("gzip;q=0") == std::string_view::npos;
}

net::Response serve(const net::Request& request, const WebFile& file) {
  net::Response response;
  response.headers["content-type"] = file.content_type;
  response.headers["etag"] = file.etag;
  response.headers["vary"] = "accept-encoding";
  response.headers["cache-control"] = file.immutable ? "public, max-age=31536000, immutable" : "no-cache";
  if (matches_etag(request, file.etag)) {
    response.status = 304;
    return response;
  }
  if (takes_gzip(request)) {
    response.headers["content-encoding"] = "gzip";
    response.body = file.gzip;
    return response;
  }
  auto plain = net::gunzip(file.gzip, kLargestFile, kLargestRatio);
  if (!plain) return problem_answer("internal", plain.error().to_string());
  response.body = *std::move(plain);
  return response;
}

}  // namespace

bool matches_etag(const net::Request& request, std::string_view etag) {
  const auto sent = request.header("if-none-match");
  return sent && (*sent == "*" || sent->find(etag) != std::string_view::npos);
}

net::Response serve_web(const net::Request& request) {
  if (const WebFile* file = find_file(request.path)) return serve(request, *file);
  // A missing asset must not be answered by a page: the browser would run HTML as a script.
  const auto last = request.path.substr(request.path.rfind('/') + 1);
  if (last.find('.') != std::string::npos && !web_files().empty())
    return problem_answer("not_found", "there is no such file");
  if (const WebFile* index = find_file("/index.html")) return serve(request, *index);
  net::Response response;
  response.headers["content-type"] = "text/html; charset=utf-8";
  response.headers["cache-control"] = "no-store";
  response.body = kNoPages;
  return response;
}

void add_security_headers(net::Response& response, bool tls) {
  response.headers.try_emplace(
      "content-security-policy",
      "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
      "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'");
  response.headers["x-content-type-options"] = "nosniff";
  response.headers["x-frame-options"] = "DENY";
  response.headers["referrer-policy"] = "same-origin";
  response.headers["cross-origin-opener-policy"] = "same-origin";
  if (tls) response.headers["strict-transport-security"] = "max-age=31536000";
}

}  // namespace tidewatt::api
