// SPDX-License-Identifier: Apache-2.0
// The request side of the page: the bytes go to a real server on a database with a camera, a region and a picture,
// which must answer or close the connection; and to one with a token, which must not say the name of the camera.
#include <cstdlib>

#include "monitor/samples.h"
#include "page/client.h"
#include "page/page.h"

namespace {

constexpr const char *kName = "hidden camera", *kToken = "0123456789abcdef";

// A folder with a database, a picture and a token.
class Files {
 public:
  Files() {
    using namespace mpm::monitor::test;
    record(folder_ / "a.db", {sampleAt(kNoon)}, session(kName), {regionNamed("gate")});
    std::filesystem::create_directory(folder_ / "shots");
    std::ofstream(folder_ / "shots/2026-06-01T12-00-00.000Z.png") << "picture";
    std::ofstream(folder_ / "shots/2026-06-01T12-00-00.000Z.json") << R"({"source": "hidden camera"})";
    std::ofstream(folder_ / "token") << kToken;
    std::filesystem::permissions(folder_ / "token", std::filesystem::perms::owner_read);
  }
  std::string token() const { return folder_ / "token"; }
  std::function<mpm::page::Response(const mpm::page::Request&)> answers() const {
    const auto page = std::make_shared<mpm::page::Page>(
        mpm::page::PageOptions{.databases = {folder_ / "a.db"}, .snapshots = {folder_ / "shots"}, .now = [] {
                                 return mpm::monitor::test::kNoon + 1;
                               }});
    return [page](const mpm::page::Request& request) { return page->answer(request); };
  }

 private:
  const mpm::test::TemporaryFolder folder_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Files files;
  static const mpm::page::HttpServer open_server({.address = "127.0.0.1:0"}, files.answers());
  static const mpm::page::HttpServer locked_server({"127.0.0.1:0", files.token()}, files.answers());
  // Ended, because the server waits ten seconds for the rest of a request that is not.
  const std::string request = std::string(reinterpret_cast<const char*>(data), size) + "\r\n\r\n";
  const std::string answer = mpm::page::test::Client(open_server.url()).exchange(request);
  const std::string locked = mpm::page::test::Client(locked_server.url()).exchange(request);
  if (!answer.empty() && !answer.starts_with("HTTP/1.")) std::abort();
  const bool knows = request.find(kToken) != std::string::npos;
  const bool says = locked.find(kName) != std::string::npos && request.find(kName) == std::string::npos;
  if (says && !knows) std::abort();
  return 0;
}
