// SPDX-License-Identifier: Apache-2.0
#include "page/page.h"

#include <chrono>
#include <thread>

#include "page/client.h"
#include "support/in_folder.h"
#include "support/throws_with.h"

namespace mpm::page {
namespace {

using test::Client;
using ::testing::MatchesRegex;

constexpr const char* kToken = "0123456789abcdef-token";

class HttpServerTest : public mpm::test::InFolder {
 protected:
  std::string tokenFile(const std::string& token = kToken, fs::perms mode = fs::perms::owner_all) {
    std::ofstream(folder_ / "token") << token << "\nmore\n";
    fs::permissions(folder_ / "token", mode);
    return folder_ / "token";
  }
  // More than the buffers of a connection hold.
  static constexpr std::size_t kLarge = 64 << 20;
  static Response large(const Request&) { return {200, "text/plain", std::string(kLarge, 'x')}; }
  // Says what it was asked for.
  static Response echo(const Request& request) {
    std::string body = request.path + (request.allowed ? " allowed" : " not allowed");
    for (const auto& [name, value] : request.arguments)
      if (name != "token") body += " " + name + "=" + value;
    return {request.allowed ? 200 : 401, "text/plain", body};
  }
  static std::string get(const HttpServer& server, const std::string& target, const std::string& headers = "",
                         const std::string& host = "localhost", std::uint32_t from = 1) {
    return Client(server.url(), from)
        .exchange("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + headers + "\r\n");
  }
};

TEST_F(HttpServerTest, AnswersWithHeadersThatKeepOthersOut) {
  const HttpServer server({.address = "127.0.0.1:0"}, echo);
  EXPECT_THAT(server.url(), MatchesRegex("http://127.0.0.1:[0-9]+/"));
  const std::string answer = get(server, "/a%20b/..%2fc?x=1&y=%3Cb%3E&x=2&z");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\n/a b/../c allowed x=2 y=<b> z=")));
  for (const char* line : {"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; ",
                           "X-Frame-Options: DENY\r\n", "X-Content-Type-Options: nosniff\r\n",
                           "Cache-Control: no-store\r\n", "Content-Type: text/plain\r\n"})
    EXPECT_THAT(answer, HasSubstr(line));
  const std::string head =
      Client(server.url()).exchange("HEAD /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(head, AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\n")));
}

TEST_F(HttpServerTest, TakesNothing) {
  const HttpServer server({.address = "127.0.0.1:0"}, echo);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get"}) {
    EXPECT_THAT(
        Client(server.url())
            .exchange(
                method +
                std::string(" / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")),
        AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")));
  }
  EXPECT_THAT(get(server, "/" + std::string(100'000, 'x')), Not(HasSubstr(" 200 ")));
  EXPECT_THAT(get(server, "/", "X: " + std::string(100'000, 'x') + "\r\n"), Not(HasSubstr(" 200 ")));
}

TEST_F(HttpServerTest, AnotherHostNameIsNotAllowed) {
  const HttpServer server({.address = "127.0.0.1:0"}, echo);
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1", "127.1.2.3:80", "[::1]", "[::1]:8080"})
    EXPECT_THAT(get(server, "/x", "", host), HasSubstr("/x allowed")) << host;
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "127.evil.example:8080", "192.168.1.2", "", "[",
                           "[::1", ":80", "localhost.evil.example"})
    EXPECT_THAT(get(server, "/x", "", host), Not(HasSubstr("/x allowed"))) << host;
}

TEST_F(HttpServerTest, ATokenIsShownOnce) {
  const HttpServer server({"127.0.0.1:0", tokenFile()}, echo);
  EXPECT_THAT(get(server, "/x"), AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("WWW-Authenticate: Bearer\r\n"),
                                       Not(HasSubstr("Set-Cookie"))));
  const std::string token = kToken;
  for (const std::string& wrong :
       {std::string(), token.substr(1), token + "x", token.substr(0, token.size() - 1) + "x", token + token}) {
    EXPECT_THAT(get(server, "/x?token=" + wrong,
                    "Authorization: Bearer " + wrong + "\r\nCookie: mpm_session=" + wrong + "\r\n"),
                AllOf(StartsWith("HTTP/1.1 401 "), Not(HasSubstr("Set-Cookie"))));
  }
  const std::string bearer = get(server, "/x", "Authorization: Bearer " + token + "\r\n");
  EXPECT_THAT(bearer, AllOf(HasSubstr("/x allowed"), Not(HasSubstr(token)), Not(HasSubstr("Secure"))));
  const std::string linked = get(server, "/x?token=" + token, "X-Forwarded-Proto: https\r\n");
  EXPECT_THAT(linked, AllOf(StartsWith("HTTP/1.1 303 "), HasSubstr("Location: ./\r\n"), Not(HasSubstr(token)),
                            HasSubstr("; Path=/; HttpOnly; SameSite=Strict; Secure\r\n")));
  const std::size_t at = linked.find("Set-Cookie: ") + 12;
  const std::string cookie = linked.substr(at, linked.find(';', at) - at);
  EXPECT_GE(cookie.size(), std::string("mpm_session=").size() + 4);
  EXPECT_THAT(get(server, "/x", "Cookie: a=b; " + cookie + "\r\n"), HasSubstr("/x allowed"));
  EXPECT_THAT(get(server, "/x", "Cookie: " + cookie + "0\r\n"), HasSubstr("/x not allowed"));
  const HttpServer next({"127.0.0.1:0", tokenFile()}, echo);
  EXPECT_THAT(get(next, "/x", "Cookie: " + cookie + "\r\n"), HasSubstr("/x not allowed")) << "it ends with the server";
}

TEST_F(HttpServerTest, ALinkWithATokenLeadsToThePageAlsoBelowAPathOfAProxy) {
  const HttpServer server({"127.0.0.1:0", tokenFile()}, echo);
  EXPECT_THAT(get(server, "/api/snapshot/x?token=" + std::string(kToken)), HasSubstr("Location: ./../../\r\n"));
}

TEST_F(HttpServerTest, TheProxyNeedsNoToken) {
  const auto framed = AllOf(HasSubstr("frame-ancestors 'self'\r\n"), HasSubstr("X-Frame-Options: SAMEORIGIN\r\n"));
  const auto unframed = AllOf(HasSubstr("frame-ancestors 'none'\r\n"), HasSubstr("X-Frame-Options: DENY\r\n"));
  const std::string host = "home.example", bearer = "Authorization: Bearer " + std::string(kToken) + "\r\n";
  const HttpServer alone({.address = "127.0.0.1:0", .proxy = "127.0.0.2"}, echo);
  EXPECT_THAT(get(alone, "/x", "", host, 2), AllOf(HasSubstr("/x allowed"), framed));
  for (const std::uint32_t other : {1, 3}) {
    EXPECT_THAT(get(alone, "/x", "X-Forwarded-For: 127.0.0.2\r\n" + bearer, "localhost", other),
                AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("only for the proxy"), unframed));
  }
  const HttpServer both({"127.0.0.1:0", tokenFile(), "127.0.0.2"}, echo);
  EXPECT_THAT(get(both, "/x", "", host, 2), AllOf(HasSubstr("/x allowed"), framed));
  EXPECT_THAT(get(both, "/x", "", "localhost", 3), AllOf(StartsWith("HTTP/1.1 401 "), unframed));
  EXPECT_THAT(get(both, "/x", bearer, "localhost", 3), AllOf(HasSubstr("/x allowed"), unframed));
}

TEST_F(HttpServerTest, TheProxyComesToAnAddressOfIPv6Too) {
  std::unique_ptr<HttpServer> server;
  try {
    server = std::make_unique<HttpServer>(mpm::monitor::WebPage{.address = "[::]:0", .proxy = "127.0.0.2"}, echo);
  } catch (const Error&) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  EXPECT_THAT(get(*server, "/x", "", "home.example", 2), HasSubstr("/x allowed"));
  EXPECT_THAT(get(*server, "/x", "", "home.example", 3), StartsWith("HTTP/1.1 403 "));
}

// Clients that say nothing, or a line now and then, cost others nothing.
TEST_F(HttpServerTest, AnswersHoweverManyAreSlow) {
  const HttpServer server({"127.0.0.1:0", tokenFile()}, echo);
  const Client patient(server.url(), 2);
  EXPECT_TRUE(patient.send("GET /patient HTTP/1.1\r\n"));
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(std::make_unique<Client>(server.url()));
    if (i % 2 == 1) slow.back()->send("GET /slow HTTP/1.1\r\n");
    if (i % 40 == 0) {
      EXPECT_THAT(get(server, "/x"), StartsWith("HTTP/1.1 401 ")) << i;
    }
  }
  EXPECT_EQ(slow.front()->receive(), "") << "it has waited longest";
  EXPECT_TRUE(slow.back()->send("Host: localhost\r\n\r\n"));
  EXPECT_THAT(slow.back()->receive(), StartsWith("HTTP/1.1 401 "));
  EXPECT_TRUE(patient.send("Host: localhost\r\n\r\n"));
  EXPECT_THAT(patient.receive(), StartsWith("HTTP/1.1 401 ")) << "one address takes no room from another";
}

TEST_F(HttpServerTest, AddressesShareTheRoomThatThereIs) {
  const HttpServer server({.address = "127.0.0.1:0"}, echo, {.connections = 8, .of_client = 4});
  std::vector<std::unique_ptr<Client>> clients;
  for (const std::uint32_t from : {1, 1, 1, 2, 2, 2, 3, 3, 3}) {
    clients.push_back(std::make_unique<Client>(server.url(), from));
    clients.back()->send("GET /slow HTTP/1.1\r\n");
  }
  EXPECT_EQ(clients.front()->receive(), "") << "nine are one too many";
  for (std::size_t i = 1; i < clients.size(); ++i) {
    clients[i]->send("Host: localhost\r\n\r\n");
    EXPECT_THAT(clients[i]->receive(), StartsWith("HTTP/1.1 200 ")) << i;
  }
}

// Who reads an answer has asked before the others came, and is no reason to wait.
TEST_F(HttpServerTest, AnAnswerIsNotCutForThoseWhoHaveNotAsked) {
  const HttpServer server({.address = "127.0.0.1:0"}, large, {.of_client = 4});
  const Client reads(server.url());
  reads.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  std::size_t got = reads.receive().size();
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 4; ++i) slow.push_back(std::make_unique<Client>(server.url()));
  EXPECT_EQ(slow.front()->receive(), "") << "it has waited longest";
  for (std::string part; !(part = reads.receive()).empty();) got += part.size();
  EXPECT_GT(got, kLarge);
}

// Each line is sent soon after the last, so the connection is never silent.
TEST_F(HttpServerTest, ARequestMayTakeSoLong) {
  const HttpServer server({.address = "127.0.0.1:0"}, echo, {.request_ms = 200});
  const Client slow(server.url());
  slow.send("GET /slow HTTP/1.1\r\n");
  int lines = 0;
  while (lines < 600 && slow.send("X: y\r\n")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ++lines;
  }
  EXPECT_LT(lines, 600);
  EXPECT_EQ(slow.receive(), "");
}

// The client reads some of the answer now and then.
TEST_F(HttpServerTest, AnAnswerMayTakeSoLong) {
  const HttpServer server({.address = "127.0.0.1:0"}, large, {.answer_ms = 200});
  const Client slow(server.url());
  slow.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::size_t got = 0;
  for (std::string part; !(part = slow.receive()).empty(); got += part.size())
    if (got < 100'000) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(got, kLarge);
}

TEST_F(HttpServerTest, WhatCannotWorkIsSaidAtOnce) {
  const auto start = [](const std::string& address, const std::string& token = "", const std::string& proxy = "") {
    HttpServer({address, token, proxy}, echo);
  };
  for (const char* address : {"127.0.0.1", "camera:80", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:-1", "::1:80x",
                              "[::1]", "", ":80", "[::1"})
    EXPECT_MPM_ERROR(start(address), "is no IP address with a port");
  EXPECT_MPM_ERROR(start("0.0.0.0:0"), "other machines can reach '0.0.0.0:0'");
  EXPECT_MPM_ERROR(start("[::]:0"), "other machines can reach");
  start("0.0.0.0:0", tokenFile());
  start("0.0.0.0:0", "", "172.30.32.2");
  for (const char* proxy : {"homeassistant", "172.30.32.0/23", "172.30.32.2:80", "172.30.32"})
    EXPECT_MPM_ERROR(start("127.0.0.1:0", "", proxy), "proxy: '" + std::string(proxy) + "' is no IP address");
  const HttpServer server({.address = "127.0.0.1:0"}, echo);
  EXPECT_MPM_ERROR(start(server.url().substr(7, server.url().size() - 8)), "Address already in use");
  EXPECT_MPM_ERROR(start("127.0.0.1:0", folder_ / "none"), "none");
  EXPECT_MPM_ERROR(start("127.0.0.1:0", tokenFile("0123456789abcde")), "is no token of 16 or more");
  EXPECT_MPM_ERROR(start("127.0.0.1:0", tokenFile("0123456789 abcdef")), "is no token of 16 or more");
  EXPECT_MPM_ERROR(start("127.0.0.1:0", tokenFile(kToken, fs::perms::owner_all | fs::perms::others_read)), "chmod o-r");
}

}  // namespace
}  // namespace mpm::page
