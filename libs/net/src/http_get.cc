#include "tidewatt/net/client.h"

namespace tidewatt::net {
namespace {

class ClientGet final : public HttpGet {
 public:
  explicit ClientGet(std::unique_ptr<HttpClient> client) : client_(std::move(client)) {}

  Result<HttpAnswer> get(const std::string& url,
                         const std::vector<std::pair<std::string, std::string>>& headers) override {
    ClientRequest request;
    request.url = url;
    for (const auto& [name, value] : headers) request.headers[name] = value;
    TW_TRY(auto response, client_->send(request));
    return HttpAnswer{response.status, std::move(response.body)};
  }

 private:
  std::unique_ptr<HttpClient> client_;
};

}  // namespace

std::unique_ptr<HttpGet> make_http_get(ClientOptions options) {
  return std::make_unique<ClientGet>(make_http_client(std::move(options)));
}

}  // namespace tidewatt::net
