// What the build embeds: the web pages and the OpenAPI document.
#pragma once

#include <span>
#include <string_view>

namespace tidewatt::api {

struct WebFile {
  std::string_view path;  ///< "/assets/index-3f2a.js"
  std::string_view content_type;
  std::string_view gzip;   ///< the content, gzip-compressed
  std::string_view etag;   ///< with quotes
  bool immutable = false;  ///< its name changes with its content
};
/// Sorted by path; empty when the pages were not built.
std::span<const WebFile> web_files();
/// docs/api/openapi.yaml as JSON.
std::string_view openapi_document();

}  // namespace tidewatt::api
