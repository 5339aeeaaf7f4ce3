#include "tidewatt/net/certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>

namespace tidewatt::net {
namespace {

std::optional<UtcTime> utc_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return UtcTime{std::chrono::seconds{::timegm(&parts)}};
}

}  // namespace

Result<CertificateLife> certificate_life(std::string_view pem) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bytes{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                  BIO_free};
  std::optional<CertificateLife> life;
  for (;;) {
    const std::unique_ptr<X509, void (*)(X509*)> certificate{
        bytes ? PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr) : nullptr, X509_free};
    if (!certificate) break;
    const auto begin = utc_of(X509_get0_notBefore(certificate.get()));
    const auto end = utc_of(X509_get0_notAfter(certificate.get()));
    if (!begin || !end) return fail(ErrorCode::invalid_input, "a certificate without a time");
    life = life ? CertificateLife{std::max(life->begin, *begin), std::min(life->end, *end)}
                : CertificateLife{*begin, *end};
  }
  // The end of the file is an error to OpenSSL, which would stick to this thread's next call.
  ERR_clear_error();
  if (!life)
    return fail(ErrorCode::invalid_input, "no certificate stands in it", "give a PEM file with the chain");
  return *life;
}

}  // namespace tidewatt::net
