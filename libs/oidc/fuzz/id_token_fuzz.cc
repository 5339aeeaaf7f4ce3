// What an issuer, or somebody who plays one, sends: tokens, key sets and claims. Nothing forged is believed.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/oidc/id_token.h"
#include "tidewatt/oidc/keys.h"
#include "tidewatt/oidc/token.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt;
  if (size == 0) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  if (data[0] % 3 == 0) {
    // The keys are not the fuzzer's, so no signature of its making can be theirs.
    static const auto keys = oidc::KeySet::parse(
        R"({"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","x":"axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",)"
        R"("y":"T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"}]})");
    const auto token = oidc::parse_token(text);
    if (token && keys && keys->verify(*token)) std::abort();
  } else if (data[0] % 3 == 1) {
    (void)oidc::KeySet::parse(text);
  } else {
    const oidc::Expected expected{"https://id.example", "tidewatt", "nonce", "realm.groups"};
    const auto identity = oidc::check_id_token(text, expected, UtcTime{Milliseconds{1'800'000'000'000}});
    if (identity && (identity->subject.empty() || identity->name.size() > 128)) std::abort();
  }
  return 0;
}
