// SPDX-License-Identifier: Apache-2.0
#include "page/page.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "monitor/clocks.h"
#include "monitor/tell/channel.h"
#include "mpm/error.hpp"

namespace mpm::page {
namespace {

namespace ip = boost::asio::ip;

constexpr unsigned kSilenceS = 10;
constexpr unsigned kMaxAccepted =
    256;  // more than Connections allows: those that it closes are still open for a moment
constexpr std::size_t kMaxRequestBytes = 16 << 10;
constexpr const char* kCookie = "mpm_session";

// Of every answer. Scripts and styles are files of ours: none that a name smuggled into a page would run.
constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors ";
constexpr std::pair<const char*, const char*> kHeaders[] = {{"X-Content-Type-Options", "nosniff"},
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

// Of "172.30.32.2". An IPv4 address that came to an IPv6 socket is the same address.
ip::address plainAddress(const ip::address& address) {
  return address.is_v6() && address.to_v6().is_v4_mapped() ? ip::make_address_v4(ip::v4_mapped, address.to_v6())
                                                           : address;
}
std::optional<ip::address> readProxy(const std::string& text) {
  if (text.empty()) return {};
  boost::system::error_code error;
  const ip::address address = ip::make_address(text, error);
  if (error) throw Error("proxy: '" + visibleText(text) + "' is no IP address, such as 172.30.32.2");
  return plainAddress(address);
}

// Where a connection comes from.
ip::address senderOf(const sockaddr* address) {
  if (address->sa_family == AF_INET)
    return ip::address_v4(ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr));
  ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, bytes.size());
  return plainAddress(ip::address_v6(bytes));
}

std::string readToken(const std::string& path) {
  const std::string token = monitor::readSecret(path);
  if (token.size() < 16 || !std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; })) {
    throw Error("the first line of '" + path +
                "' is no token of 16 or more letters, digits and signs; 'openssl rand -hex 16' makes one");
  }
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

// One client for the limits: an IPv4 address, or the first half of an IPv6 address, of which a household has them all.
std::string clientOf(const sockaddr* address) {
  const ip::address sender = senderOf(address);
  if (sender.is_v4()) return sender.to_string();
  const ip::address_v6::bytes_type bytes = sender.to_v6().to_bytes();
  return {bytes.begin(), bytes.begin() + 8};
}

// The open connections. A client that asks slowly, or not at all, loses its connection and takes no room from others.
class Connections {
 public:
  explicit Connections(const HttpLimits& limits) : limits_(limits) {}

  void open(const MHD_Connection* connection, int socket, const std::string& client) {
    const auto ofClient = [&](const Open& one) { return one.client == client; };
    if (count(ofClient) >= limits_.of_client) closeOldest(ofClient);
    const auto anyone = [](const Open&) { return true; };
    if (count(anyone) >= limits_.connections) closeOldest(anyone);
    open_[connection] = {.socket = socket, .client = client, .since = steadyNow(), .turn = ++turns_};
  }
  void forget(const MHD_Connection* connection) { open_.erase(connection); }
  // `answering`: the request is whole; else the answer was sent, and the next request may come.
  void set(const MHD_Connection* connection, bool answering) {
    const auto found = open_.find(connection);
    if (found == open_.end()) return;
    found->second.answering = answering;
    found->second.since = steadyNow();
    found->second.turn = ++turns_;
  }
  void closeOverdue() {
    const std::int64_t now = steadyNow();
    for (auto& [connection, one] : open_)
      if (now - one.since > (one.answering ? limits_.answer_ms : limits_.request_ms)) close(one);
  }
  bool empty() const { return open_.empty(); }

 private:
  struct Open {
    int socket = -1;
    std::string client{};
    bool answering = false, closed = false;
    std::int64_t since = 0;  // steady
    std::int64_t turn = 0;   // its order among all, also within a millisecond
  };

  static void close(Open& one) {
    if (!std::exchange(one.closed, true)) ::shutdown(one.socket, SHUT_RDWR);  // libmicrohttpd sees its end
  }
  template <typename Which>
  std::int64_t count(Which which) const {
    return std::ranges::count_if(open_, [&](const auto& of) { return !of.second.closed && which(of.second); });
  }
  // One whose request is not whole yet goes before all others.
  template <typename Which>
  void closeOldest(Which which) {
    Open* oldest = nullptr;
    for (auto& [connection, one] : open_) {
      if (!one.closed && which(one))
        if (!oldest || std::tie(one.answering, one.turn) < std::tie(oldest->answering, oldest->turn)) oldest = &one;
    }
    if (oldest) close(*oldest);
  }

  HttpLimits limits_;
  std::map<const MHD_Connection*, Open> open_;
  std::int64_t turns_ = 0;
};

}  // namespace

struct HttpServer::Impl {
  std::string token, session;  // session: the cookie of those who showed the token
  std::optional<ip::address> proxy;
  std::function<Response(const Request&)> answer;
  Connections connections;
  MHD_Daemon* daemon = nullptr;
  int stopped = ::eventfd(0, EFD_CLOEXEC);
  std::jthread thread;

  explicit Impl(const HttpLimits& limits) : connections(limits) {}
  ~Impl() {
    if (thread.joinable()) {
      ::eventfd_write(stopped, 1);
      thread.join();
    }
    if (daemon) MHD_stop_daemon(daemon);
    ::close(stopped);
  }

  static Impl& of(void* self) { return *static_cast<Impl*>(self); }

  void run() {
    constexpr int kLookMs = 500;
    const int events = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    while (true) {
      MHD_UNSIGNED_LONG_LONG soon = 0;
      int wait = connections.empty() ? -1 : kLookMs;
      if (MHD_get_timeout(daemon, &soon) == MHD_YES && soon < kLookMs) wait = static_cast<int>(soon);
      std::array<pollfd, 2> files = {{{events, POLLIN, 0}, {stopped, POLLIN, 0}}};
      ::poll(files.data(), files.size(), wait);
      if (files[1].revents != 0) return;
      MHD_run(daemon);
      connections.closeOverdue();
    }
  }

  static void notice(void* self, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode what) {
    const auto about = [&](MHD_ConnectionInfoType type) { return MHD_get_connection_info(connection, type); };
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) return of(self).connections.forget(connection);
    of(self).connections.open(connection, about(MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
                              clientOf(about(MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr));
  }
  static void answered(void* self, MHD_Connection* connection, void**, MHD_RequestTerminationCode) {
    of(self).connections.set(connection, false);
  }

  using Headers = std::map<const char*, std::string>;

  // `headers`: gets those that only some answers have.
  Response respond(MHD_Connection* connection, Request request, std::string_view method, Headers& headers) const {
    const bool proxied =
        proxy &&
        senderOf(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr) == proxy;
    headers["Content-Security-Policy"] = std::string(kContentSecurityPolicy) + (proxied ? "'self'" : "'none'");
    headers["X-Frame-Options"] = proxied ? "SAMEORIGIN" : "DENY";
    if (method != "GET" && method != "HEAD") {
      headers["Allow"] = "GET, HEAD";
      return {405, "text/plain", "only GET and HEAD\n"};
    }
    const auto header = [&](const char* name) { return valueOf(connection, MHD_HEADER_KIND, name); };
    const bool linked = isSecret(request.arguments["token"], token);
    if (proxied) {
      request.allowed = true;
    } else if (linked || isSecret(header("Authorization"), token.empty() ? "" : "Bearer " + token)) {
      request.allowed = true;  // "Secure" only where the browser came by TLS: else it would keep no such cookie
      headers["Set-Cookie"] = kCookie + ("=" + session) + "; Path=/; HttpOnly; SameSite=Strict" +
                              (header("X-Forwarded-Proto") == "https" ? "; Secure" : "");
    } else if (token.empty() && proxy) {
      return {403, "text/plain", "only for the proxy of this page\n"};
    } else if (token.empty()) {
      const auto host = endpointOf(header("Host"), 80);
      request.allowed = host && host->address().is_loopback();
    } else {
      request.allowed = isSecret(valueOf(connection, MHD_COOKIE_KIND, kCookie), session);
      if (!request.allowed) headers["WWW-Authenticate"] = "Bearer";
    }
    if (!linked) return answer(request);
    // To the page, without the token, which would stay in the history of the browser. A proxy may have the page below a
    // path that is not known here.
    headers["Location"] = "./";
    for (auto deeper = std::ranges::count(request.path, '/'); deeper > 1; --deeper) headers["Location"] += "../";
    return {303, "text/plain", ""};
  }

  // Called by libmicrohttpd once the headers are there. A body is not waited for: the answer closes the connection.
  static MHD_Result handle(void* self, MHD_Connection* connection, const char* path, const char* method, const char*,
                           const char*, std::size_t*, void**) try {
    of(self).connections.set(connection, true);
    Request request{.path = path, .arguments = {}};
    const auto add = [](void* to, MHD_ValueKind, const char* name, const char* value) {
      static_cast<Request*>(to)->arguments[name] = value ? value : "";
      return MHD_YES;
    };
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add, &request);
    Headers headers(std::begin(kHeaders), std::end(kHeaders));
    Response answered = of(self).respond(connection, std::move(request), method, headers);
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

HttpServer::HttpServer(const monitor::WebPage& where, std::function<Response(const Request&)> answer,
                       const HttpLimits& limits)
    : impl_(std::make_unique<Impl>(limits)) {
  const std::string& address = where.address;
  const auto endpoint = endpointOf(address);
  if (!endpoint)
    throw Error("'" + visibleText(address) + "' is no IP address with a port, such as 127.0.0.1:8080 or [::1]:8080");
  if (!where.token_file.empty()) impl_->token = readToken(where.token_file);
  impl_->proxy = readProxy(where.proxy);
  if (impl_->token.empty() && !impl_->proxy && !endpoint->address().is_loopback())
    throw Error("other machines can reach '" + address + "': name a file with a token, token-file, or a proxy");
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
    impl_->daemon = MHD_start_daemon(
        MHD_USE_EPOLL, 0, nullptr, nullptr, &Impl::handle, impl_.get(), MHD_OPTION_LISTEN_SOCKET, acceptor.release(),
        MHD_OPTION_CONNECTION_LIMIT, kMaxAccepted, MHD_OPTION_CONNECTION_TIMEOUT, kSilenceS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, kMaxRequestBytes, MHD_OPTION_NOTIFY_CONNECTION, &Impl::notice, impl_.get(),
        MHD_OPTION_NOTIFY_COMPLETED, &Impl::answered, impl_.get(), MHD_OPTION_END);
  } catch (const boost::system::system_error& error) {
    throw Error("cannot listen at '" + address + "': " + error.code().message());
  }
  if (!impl_->daemon) throw Error("cannot start a server at '" + address + "'");
  impl_->thread = std::jthread([impl = impl_.get()] { impl->run(); });
}

HttpServer::~HttpServer() = default;

}  // namespace mpm::page
