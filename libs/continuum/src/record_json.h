// Setup, senses and counts as JSON, and back with every bound checked.
#pragma once

#include <nlohmann/json.hpp>

#include "tidewatt/continuum/record.h"

namespace tidewatt::continuum {

using Json = nlohmann::json;

Json to_json(const Setup& setup);
Json to_json(const Counts& counts);
Json to_json(const Senses& senses);
Result<Setup> setup_from(const Json& json);
Result<Counts> counts_from(const Json& json, const Setup& setup);
Result<Senses> senses_from(const Json& json, const Setup& setup);
/// One level per knob, each within it.
Result<std::vector<std::size_t>> levels_from(const Json& json, const Setup& setup);

}  // namespace tidewatt::continuum
