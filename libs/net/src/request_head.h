// From Beast's parsed head to a Request, with the checks Beast leaves to us.
#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <map>
#include <optional>
#include <string>

#include "decompress.h"
#include "tidewatt/net/http.h"

namespace tidewatt::net {

struct CheckedHead {
  Request request;
  Encoding encoding = Encoding::identity;
  bool is_head = false;
  bool expects_continue = false;
  bool has_body = false;
  std::optional<std::uint64_t> content_length;
  std::optional<Response> refusal;  ///< answer with it and close
};

using BeastRequest = boost::beast::http::request<boost::beast::http::string_body>;

/// By path, an encoding that isn't ours to unpack.
using OwnEncodings = std::map<std::string, std::string, std::less<>>;

CheckedHead check_head(const BeastRequest& message, std::size_t max_body_bytes,
                       const OwnEncodings& own_encodings = {});

}  // namespace tidewatt::net
