// Why a device's power is unknown, for people: readings carry short codes, which other programs may match.
#pragma once

#include <string>
#include <string_view>

namespace tidewatt::metering {

/// A reading's reason in words. Text that is no known code comes back as it is.
std::string reason_in_words(std::string_view reason);

}  // namespace tidewatt::metering
