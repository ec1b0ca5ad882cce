// SPDX-License-Identifier: Apache-2.0
// In place of http_server.cpp where CMake did not find libmicrohttpd.
#include "mpm/error.hpp"
#include "page/page.h"

namespace mpm::page {

struct HttpServer::Impl {};

HttpServer::HttpServer(const monitor::WebPage&, std::function<Response(const Request&)>, const HttpLimits&) {
  throw Error("this program was built without libmicrohttpd: install libmicrohttpd-dev and build it again");
}
HttpServer::~HttpServer() = default;

}  // namespace mpm::page
