// SPDX-License-Identifier: Apache-2.0
#include "page/page.h"

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
  // Says what it was asked for.
  static Response echo(const Request& request) {
    std::string body = request.path + (request.allowed ? " allowed" : " not allowed");
    for (const auto& [name, value] : request.arguments)
      if (name != "token") body += " " + name + "=" + value;
    return {request.allowed ? 200 : 401, "text/plain", body};
  }
  static std::string get(const HttpServer& server, const std::string& target, const std::string& headers = "",
                         const std::string& host = "localhost") {
    return Client(server.url())
        .exchange("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + headers + "\r\n");
  }
};

TEST_F(HttpServerTest, AnswersWithHeadersThatKeepOthersOut) {
  const HttpServer server("127.0.0.1:0", "", echo);
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
  const HttpServer server("127.0.0.1:0", "", echo);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get"})
    EXPECT_THAT(
        Client(server.url())
            .exchange(
                method +
                std::string(" / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")),
        AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")));
  EXPECT_THAT(get(server, "/" + std::string(100'000, 'x')), Not(HasSubstr(" 200 ")));
  EXPECT_THAT(get(server, "/", "X: " + std::string(100'000, 'x') + "\r\n"), Not(HasSubstr(" 200 ")));
}

TEST_F(HttpServerTest, AnotherHostNameIsNotAllowed) {
  const HttpServer server("127.0.0.1:0", "", echo);
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1", "127.1.2.3:80", "[::1]", "[::1]:8080"})
    EXPECT_THAT(get(server, "/x", "", host), HasSubstr("/x allowed")) << host;
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "127.evil.example:8080", "192.168.1.2", "", "[",
                           "[::1", ":80", "localhost.evil.example"})
    EXPECT_THAT(get(server, "/x", "", host), Not(HasSubstr("/x allowed"))) << host;
}

TEST_F(HttpServerTest, ATokenIsShownOnce) {
  const HttpServer server("127.0.0.1:0", tokenFile(), echo);
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
  EXPECT_THAT(linked, AllOf(StartsWith("HTTP/1.1 303 "), HasSubstr("Location: /\r\n"), Not(HasSubstr(token)),
                            HasSubstr("; Path=/; HttpOnly; SameSite=Strict; Secure\r\n")));
  const std::size_t at = linked.find("Set-Cookie: ") + 12;
  const std::string cookie = linked.substr(at, linked.find(';', at) - at);
  EXPECT_GE(cookie.size(), std::string("mpm_session=").size() + 4);
  EXPECT_THAT(get(server, "/x", "Cookie: a=b; " + cookie + "\r\n"), HasSubstr("/x allowed"));
  EXPECT_THAT(get(server, "/x", "Cookie: " + cookie + "0\r\n"), HasSubstr("/x not allowed"));
  const HttpServer next("127.0.0.1:0", tokenFile(), echo);
  EXPECT_THAT(get(next, "/x", "Cookie: " + cookie + "\r\n"), HasSubstr("/x not allowed")) << "it ends with the server";
}

// One more waits until another has ended.
TEST_F(HttpServerTest, HasRoomForSoManyConnections) {
  std::vector<std::string> order;
  {
    const HttpServer server("127.0.0.1:0", "", [&](const Request& request) {
      order.push_back(request.path);
      return echo(request);
    });
    std::vector<std::unique_ptr<Client>> slow;
    for (int i = 0; i < 32; ++i) {
      slow.push_back(std::make_unique<Client>(server.url()));
      slow.back()->send("GET /slow HTTP/1.1\r\n");
    }
    const Client late(server.url());
    late.send("GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n");
    slow.back()->send("Host: localhost\r\n\r\n");
    EXPECT_THAT(slow.back()->receive(), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(late.receive(), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_THAT(order, ElementsAre("/slow", "/late"));
}

TEST_F(HttpServerTest, WhatCannotWorkIsSaidAtOnce) {
  const auto start = [](const std::string& address, const std::string& token = "") {
    HttpServer(address, token, echo);
  };
  for (const char* address : {"127.0.0.1", "camera:80", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:-1", "::1:80x",
                              "[::1]", "", ":80", "[::1"})
    EXPECT_MPM_ERROR(start(address), "is no IP address with a port");
  EXPECT_MPM_ERROR(start("0.0.0.0:0"), "other machines can reach '0.0.0.0:0'");
  EXPECT_MPM_ERROR(start("[::]:0"), "other machines can reach");
  start("0.0.0.0:0", tokenFile());
  const HttpServer server("127.0.0.1:0", "", echo);
  EXPECT_MPM_ERROR(start(server.url().substr(7, server.url().size() - 8)), "Address already in use");
  EXPECT_MPM_ERROR(start("127.0.0.1:0", folder_ / "none"), "none");
  EXPECT_MPM_ERROR(start("127.0.0.1:0", tokenFile("0123456789abcde")), "is no token of 16 or more");
  EXPECT_MPM_ERROR(start("127.0.0.1:0", tokenFile("0123456789 abcdef")), "is no token of 16 or more");
  EXPECT_MPM_ERROR(start("127.0.0.1:0", tokenFile(kToken, fs::perms::owner_all | fs::perms::others_read)), "chmod o-r");
}

}  // namespace
}  // namespace mpm::page
