// Which sources read the same devices: one vendor's ways to its cards, and what must not stand twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/agent/agent_settings.h"

namespace tidewatt::agent {

/// One vendor's ways to its cards, the better first.
struct Family {
  std::string_view name;
  std::vector<std::string> libraries;
  std::vector<std::string> tools;
};

const std::vector<Family>& families();

/// The family whose cards this source reads; nullptr when it reads no vendor's cards by one way ("auto",
/// "sim").
const Family* family_of(const SourceSpec& spec);

/// A line for each source that would measure again what another one measures: the same devices twice are
/// booked twice. Vendors that are named beside "auto" are no mistake: auto leaves them out.
std::vector<std::string> check_sources_once(const std::vector<SourceSpec>& sources);

}  // namespace tidewatt::agent
