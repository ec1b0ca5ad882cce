// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_file.h"
#include "monitor/fleet.h"
#include "vision/time.h"

namespace mpm::page {

/// A request to read something (GET or HEAD), as it came: nothing in it is trusted.
struct Request {
  std::string path{};                              ///< decoded: "/api/series"
  std::map<std::string, std::string> arguments{};  ///< of the query, decoded; the last of one name counts
  bool allowed = false;                            ///< whether it may read more than the page itself
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
};

/// What the page shows.
struct PageOptions {
  std::vector<std::string> databases{};  ///< files of monitor::StoreWriter; other programs may write them meanwhile
  std::vector<std::string> snapshots{};  ///< folders of monitor::SnapshotWriter
  /// The cameras that this program watches, with their databases and folders, in place of both.
  std::function<std::vector<monitor::CameraStatus>()> live{};
  std::function<UnixMs()> now = unixNow;
  /// For so long the databases of one answer are read. A database that takes longer is named as a problem, and is not
  /// read again for a minute.
  std::int64_t patience_ms = 20'000;
};

/// The page, its JSON and the metrics; docs/page.md lists the paths. Reads only. Not thread-safe: HttpServer calls it
/// on one thread.
class Page {
 public:
  explicit Page(PageOptions options);
  ~Page();

  /// Never throws: what is wrong with a request or a database is an answer {"error": one line}.
  Response answer(const Request& request);
  /// The JSON of a path under /api, of whoever asks. Throws mpm::Error.
  Json json(const Request& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A file of the page itself, in the program (embed.cmake): the same for everybody, nothing of a camera.
struct Asset {
  std::string_view path, type, bytes;  ///< "/page.js", "text/javascript; charset=utf-8"
};
/// Null: there is none under this path.
const Asset* findAsset(std::string_view path);

/// What clients may take of a server. Where one more connection would be too many, the one that has waited longest for
/// its request is closed: whoever asks is answered, however many others are slow.
struct HttpLimits {
  int connections = 64;
  int of_client = 24;                ///< of one address, which may be a proxy with several users
  std::int64_t request_ms = 10'000;  ///< for a whole request, from the connection or the last answer on
  std::int64_t answer_ms = 120'000;  ///< for an answer, until the client has it
};

/// Serves HTTP on a thread of its own, one answer at a time. A connection on which nothing moves for ten seconds is
/// closed; a request has at most 16 KiB, and no body.
///
/// With a token a request is allowed that has "Authorization: Bearer TOKEN", or the cookie that such a request and
/// "?token=TOKEN" are answered with. Without one it is allowed if it was sent to this machine by a number or as
/// localhost: a page elsewhere that makes a browser ask us comes by another name. Requests from the proxy are allowed,
/// and only a page of its own origin may frame the answers; with a proxy and no token all others are refused.
class HttpServer {
 public:
  /// `where.address`: an IP address and a port, "127.0.0.1:8080", "[::1]:8080"; port 0: any free one.
  /// `where.token_file`: its first line is the token; empty: none. `where.proxy`: an IP address; empty: none. `answer`
  /// is called on the thread of the server. Throws mpm::Error: the address is none, taken or of another machine; others
  /// can reach it and there is neither a token nor a proxy; the proxy is no IP address; the token has fewer than 16
  /// characters or every user may read it; this program was built without libmicrohttpd.
  HttpServer(const monitor::WebPage& where, std::function<Response(const Request&)> answer,
             const HttpLimits& limits = {});
  ~HttpServer();  ///< ends the current answer

  const std::string& url() const { return url_; }  ///< "http://127.0.0.1:8080/"

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string url_{};
};

}  // namespace mpm::page
