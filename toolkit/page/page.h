// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_file.h"
#include "monitor/fleet.h"
#include "page/http_server.h"
#include "vision/time.h"

namespace mpm::page {

/// What the page shows.
struct PageOptions {
  std::vector<std::string> databases{};  ///< files of monitor::StoreWriter; other programs may write them meanwhile
  std::vector<std::string> snapshots{};  ///< folders of monitor::SnapshotWriter
  /// The cameras that this program watches, with their databases and folders, in place of both.
  std::function<std::vector<monitor::CameraStatus>()> live{};
  std::function<UnixMs()> now = unixNow;
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

}  // namespace mpm::page
