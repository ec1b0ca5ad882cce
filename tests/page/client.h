// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace mpm::page::test {

/// A connection to a port of this machine.
class Client {
 public:
  /// `from`: the last number of its own address, 127.0.0.1 or another one of this machine.
  explicit Client(const std::string& url, std::uint32_t from = 1) {
    const timeval patience{.tv_sec = 60, .tv_usec = 0};  // a server that is blocked fails the test
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + from);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&own), sizeof own);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("no connection");
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Sends a request, and nothing after it. What comes back until the server closes the connection.
  std::string exchange(const std::string& request) const {
    send(request);
    ::shutdown(socket_, SHUT_WR);
    std::string answer;
    for (std::string part; !(part = receive()).empty();) answer += part;
    return answer;
  }
  /// False: the connection was closed.
  bool send(const std::string& bytes) const { return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0; }
  /// Waits for bytes. Empty: the connection was closed.
  std::string receive() const {
    char buffer[4096];
    const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
    return {buffer, got > 0 ? static_cast<std::size_t>(got) : 0};
  }

 private:
  int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

}  // namespace mpm::page::test
