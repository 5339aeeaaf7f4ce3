// What every plot needs: text that is safe in XML, and round steps for an axis.
#pragma once

#include <string>

namespace tidewatt::cli {

/// Text for an element; control characters are left out.
std::string escape_xml(const std::string& text);
/// 1, 2 or 5 times a power of ten, so that about five lines fit from 0 to `highest` (in the axis's unit).
double step_between_lines(double highest);

}  // namespace tidewatt::cli
