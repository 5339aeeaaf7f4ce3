#include "tidewatt/metering/redfish_links.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/json_text.h"

namespace tidewatt::metering {
namespace {

using nlohmann::json;

// A path on the same service, whatever the document says: credentials go nowhere else.
void add_link(std::vector<std::string>& links, const json& holder) {
  if (!holder.is_object()) return;
  const auto found = holder.find("@odata.id");
  if (found == holder.end() || !found->is_string()) return;
  auto path = found->get<std::string>();
  const bool plain =
      std::all_of(path.begin(), path.end(), [](unsigned char c) { return c > 0x20 && c < 0x7F; });
  if (!plain || !path.starts_with('/') || path.starts_with("//")) return;
  if (std::find(links.begin(), links.end(), path) == links.end()) links.push_back(std::move(path));
}

}  // namespace

std::vector<std::string> redfish_members(std::string_view collection) {
  std::vector<std::string> links;
  const auto document = tools::parse_json(collection);
  if (!document.is_object()) return links;
  const auto members = document.find("Members");
  if (members == document.end() || !members->is_array()) return links;
  for (const auto& member : *members) add_link(links, member);
  return links;
}

std::vector<std::string> redfish_power_documents(std::string_view chassis) {
  std::vector<std::string> links;
  const auto document = tools::parse_json(chassis);
  if (!document.is_object()) return links;
  for (const char* name : {"Power", "EnvironmentMetrics"})
    if (const auto link = document.find(name); link != document.end()) add_link(links, *link);
  return links;
}

}  // namespace tidewatt::metering
