#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tidewatt::wire {

/// The elements of a JSON array as text, found by brackets and strings alone: one element that is no JSON
/// doesn't hide its neighbours. nullopt when the text is no array, is cut short, or has more than `most`
/// elements.
std::optional<std::vector<std::string_view>> split_array(std::string_view text, std::size_t most);

}  // namespace tidewatt::wire
