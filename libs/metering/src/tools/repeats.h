// Two rows with one device's number: a later sample of a loop, or two devices.
#pragma once

#include <string_view>
#include <vector>

namespace tidewatt::metering::tools {

/// The column by which two rows of one number are two devices: a PCI address, a second number, a name. What
/// is measured differs from sample to sample and says nothing. Empty = the later row is a later sample.
/// @param names, before, now  equally long
/// @param skip  columns that need no look: the number itself
/// @param other_time  the rows print different times: then only a column that is known to name devices counts
std::string_view telling_column(const std::vector<std::string_view>& names,
                                const std::vector<std::string_view>& before,
                                const std::vector<std::string_view>& now,
                                const std::vector<std::size_t>& skip, bool other_time);

}  // namespace tidewatt::metering::tools
