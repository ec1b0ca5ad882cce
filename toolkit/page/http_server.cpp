// SPDX-License-Identifier: Apache-2.0
#include "page/page.h"

#include <fcntl.h>
#include <microhttpd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <string_view>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "monitor/tell/channel.h"
#include "mpm/error.hpp"

namespace mpm::page {
namespace {

namespace ip = boost::asio::ip;

constexpr unsigned kMaxConnections = 32, kSilenceS = 10;
constexpr std::size_t kMaxRequestBytes = 16 << 10;
constexpr const char* kCookie = "mpm_session";

// Of every answer. Scripts and styles are files of ours: none that a name smuggled into a page would run.
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
     " form-action 'none'; frame-ancestors 'none'"},
    {"X-Frame-Options", "DENY"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"}};

// Of "127.0.0.1:8080", "[::1]:8080" or "localhost:8080"; `usual`: the port where none is written. Asks no name server.
std::optional<ip::tcp::endpoint> endpointOf(const std::string& text, std::optional<std::uint16_t> usual = {}) {
  const std::size_t colon = text.find(':', text.starts_with('[') ? std::min(text.find(']'), text.size()) : 0);
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  const ip::address address = ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  const auto port = colon == std::string::npos ? usual : readNumber<std::uint16_t>(text.substr(colon + 1));
  return error || !port ? std::nullopt : std::optional(ip::tcp::endpoint(address, *port));
}

std::string readToken(const std::string& path) {
  const std::string token = monitor::readSecret(path);
  if (token.size() < 16 || !std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; }))
    throw Error("the first line of '" + path +
                "' is no token of 16 or more letters, digits and signs; 'openssl rand -hex 16' makes one");
  return token;
}

// In a time that depends on the lengths only. No text is the secret "".
bool isSecret(std::string_view given, std::string_view secret) {
  if (secret.empty()) return false;
  unsigned different = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i)
    different |= static_cast<unsigned char>(given[i] ^ secret[i % secret.size()]);
  return different == 0;
}

std::string valueOf(MHD_Connection* connection, MHD_ValueKind kind, const char* name) {
  const char* const value = MHD_lookup_connection_value(connection, kind, name);
  return value ? value : "";
}

}  // namespace

struct HttpServer::Impl {
  std::string token, session;  // session: the cookie of those who showed the token
  std::function<Response(const Request&)> answer;
  MHD_Daemon* daemon = nullptr;

  using Headers = std::map<const char*, std::string>;

  // `headers`: gets those that only some answers have.
  Response respond(MHD_Connection* connection, Request request, std::string_view method, Headers& headers) const {
    if (method != "GET" && method != "HEAD") {
      headers["Allow"] = "GET, HEAD";
      return {405, "text/plain", "only GET and HEAD\n"};
    }
    const auto header = [&](const char* name) { return valueOf(connection, MHD_HEADER_KIND, name); };
    const bool linked = isSecret(request.arguments["token"], token);
    if (linked || isSecret(header("Authorization"), token.empty() ? "" : "Bearer " + token)) {
      request.allowed = true;  // "Secure" only where the browser came by TLS: else it would keep no such cookie
      headers["Set-Cookie"] = kCookie + ("=" + session) + "; Path=/; HttpOnly; SameSite=Strict" +
                              (header("X-Forwarded-Proto") == "https" ? "; Secure" : "");
    } else if (token.empty()) {
      const auto host = endpointOf(header("Host"), 80);
      request.allowed = host && host->address().is_loopback();
    } else {
      request.allowed = isSecret(valueOf(connection, MHD_COOKIE_KIND, kCookie), session);
      if (!request.allowed) headers["WWW-Authenticate"] = "Bearer";
    }
    if (!linked) return answer(request);
    headers["Location"] = "/";  // without the token, which would stay in the history of the browser
    return {303, "text/plain", ""};
  }

  // Called by libmicrohttpd once the headers are there. A body is not waited for: the answer closes the connection.
  static MHD_Result handle(void* self, MHD_Connection* connection, const char* path, const char* method, const char*,
                           const char*, std::size_t*, void**) try {
    Request request{.path = path, .arguments = {}};
    const auto add = [](void* to, MHD_ValueKind, const char* name, const char* value) {
      static_cast<Request*>(to)->arguments[name] = value ? value : "";
      return MHD_YES;
    };
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add, &request);
    Headers headers(std::begin(kHeaders), std::end(kHeaders));
    Response answered = static_cast<Impl*>(self)->respond(connection, std::move(request), method, headers);
    headers["Content-Type"] = answered.type;
    MHD_Response* const response =
        MHD_create_response_from_buffer(answered.body.size(), answered.body.data(), MHD_RESPMEM_MUST_COPY);
    for (const auto& [name, value] : headers) MHD_add_response_header(response, name, value.c_str());
    const MHD_Result queued = MHD_queue_response(connection, static_cast<unsigned>(answered.status), response);
    MHD_destroy_response(response);
    return queued;
  } catch (const std::exception&) {  // out of memory: the connection is closed
    return MHD_NO;
  }
};

HttpServer::HttpServer(const std::string& address, const std::string& token_file,
                       std::function<Response(const Request&)> answer)
    : impl_(std::make_unique<Impl>()) {
  const auto endpoint = endpointOf(address);
  if (!endpoint)
    throw Error("'" + visibleText(address) + "' is no IP address with a port, such as 127.0.0.1:8080 or [::1]:8080");
  if (!token_file.empty()) impl_->token = readToken(token_file);
  if (impl_->token.empty() && !endpoint->address().is_loopback())
    throw Error("other machines can reach '" + address + "': name a file with a token, token-file");
  std::random_device random;
  for (int i = 0; i < 4; ++i) impl_->session += std::to_string(random());
  impl_->answer = std::move(answer);
  try {
    boost::asio::io_context context;
    ip::tcp::acceptor acceptor(context, *endpoint);
    ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);  // a command that we run must not keep the port
    acceptor.non_blocking(true);
    std::ostringstream url;
    url << "http://" << acceptor.local_endpoint() << "/";
    url_ = url.str();
    impl_->daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, nullptr, nullptr, &Impl::handle, impl_.get(),
                                     MHD_OPTION_LISTEN_SOCKET, acceptor.release(), MHD_OPTION_CONNECTION_LIMIT,
                                     kMaxConnections, MHD_OPTION_CONNECTION_TIMEOUT, kSilenceS,
                                     MHD_OPTION_CONNECTION_MEMORY_LIMIT, kMaxRequestBytes, MHD_OPTION_END);
  } catch (const boost::system::system_error& error) {
    throw Error("cannot listen at '" + address + "': " + error.code().message());
  }
  if (!impl_->daemon) throw Error("cannot start a server at '" + address + "'");
}

HttpServer::~HttpServer() { MHD_stop_daemon(impl_->daemon); }

}  // namespace mpm::page
