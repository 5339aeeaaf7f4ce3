// When a TLS certificate holds.
#pragma once

#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::net {

/// Of a chain: the time in which all of it holds.
struct CertificateLife {
  UtcTime begin{};
  UtcTime end{};
};

/// @param pem  the certificates of a PEM file; what else it holds (a key) is left alone
/// @error invalid_input  no certificate, or one that can't be read
Result<CertificateLife> certificate_life(std::string_view pem);

}  // namespace tidewatt::net
