// A certificate authority for tests, made anew each time.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

namespace tidewatt::net {

class TestCertificate {
 public:
  /// Self-signed. @param names  as OpenSSL writes them: "DNS:localhost,IP:127.0.0.1"
  explicit TestCertificate(const std::string& names, std::chrono::seconds good_for = std::chrono::hours{24})
      : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), cert_(X509_new(), X509_free) {
    X509_set_version(cert_.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert_.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert_.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert_.get()), static_cast<long>(good_for.count()));
    X509_set_pubkey(cert_.get(), key_.get());
    X509_NAME* const name = X509_get_subject_name(cert_.get());
    const std::string common = "tidewatt test";
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(common.data()),
                               static_cast<int>(common.size()), -1, 0);
    X509_set_issuer_name(cert_.get(), name);
    const std::unique_ptr<X509_EXTENSION, void (*)(X509_EXTENSION*)> alternative{
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str()), X509_EXTENSION_free};
    X509_add_ext(cert_.get(), alternative.get(), -1);
    X509_sign(cert_.get(), key_.get(), EVP_sha256());
  }

  void write(const std::string& certificate_file, const std::string& key_file) const {
    const File certificate{std::fopen(certificate_file.c_str(), "w"), std::fclose};
    PEM_write_X509(certificate.get(), cert_.get());
    const File key{std::fopen(key_file.c_str(), "w"), std::fclose};
    PEM_write_PrivateKey(key.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }

 private:
  using File = std::unique_ptr<FILE, int (*)(FILE*)>;
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_;
  std::unique_ptr<X509, void (*)(X509*)> cert_;
};

}  // namespace tidewatt::net
