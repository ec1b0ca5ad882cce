// SPDX-License-Identifier: Apache-2.0
#include "vision/sources/source_spec.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <opencv2/imgcodecs.hpp>

#include "support/in_folder.h"
#include "support/throws_with.h"
#include "vision/sources/source.h"

namespace mpm::vision {

void PrintTo(const SourceSpec& spec, std::ostream* out) {
  *out << "kind " << static_cast<int>(spec.kind) << ", target " << spec.target << ", camera " << spec.camera_index;
}

namespace {

MATCHER_P3(Is, kind, target, camera, "") {
  return arg.kind == kind && arg.target == target && arg.camera_index == camera;
}
auto is(SourceKind kind, const std::string& target, int camera = -1) { return Is(kind, target, camera); }

void writeImage(const fs::path& path) { cv::imwrite(path.string(), cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(9))); }

// Runs in an empty folder.
class ParseSourceSpec : public test::InFolder {
 protected:
  void SetUp() override { fs::current_path(folder_.path()); }
  void TearDown() override { fs::current_path(before_); }

 private:
  fs::path before_ = fs::current_path();
};

TEST_F(ParseSourceSpec, TellsTheKindsApart) {
  for (const auto& [text, spec] : std::initializer_list<std::pair<std::string, SourceSpec>>{
           {"0", {SourceKind::kCamera, "", "/dev/video0", 0}},
           {"0012", {SourceKind::kCamera, "", "/dev/video12", 12}},
           {"camera:7", {SourceKind::kCamera, "", "/dev/video7", 7}},
           {"/dev/video97", {SourceKind::kCamera, "", "/dev/video97"}},
           {"/dev/v4l/by-id/front", {SourceKind::kCamera, "", "/dev/v4l/by-id/front"}},
           {"rtsp://camera/stream", {SourceKind::kUrl, "", "rtsp://camera/stream"}},
           {"https://host/a?b=*", {SourceKind::kUrl, "", "https://host/a?b=*"}},
           {"ftp://host/a.mp4", {SourceKind::kUrl, "", "ftp://host/a.mp4"}},
           {"gst:v4l2src ! appsink", {SourceKind::kPipeline, "", "v4l2src ! appsink"}},
           {"gst:rtspsrc location=rtsp://a/b ! appsink",
            {SourceKind::kPipeline, "", "rtspsrc location=rtsp://a/b ! appsink"}},
           {"demo:", {SourceKind::kDemo, "", ""}},
           {"demo:street?seed=1..8&frames=24", {SourceKind::kDemo, "", "street?seed=1..8&frames=24"}},
           {"street/*.png", {SourceKind::kGlob, "", "street/*.png"}},
           {"street/a?.png", {SourceKind::kGlob, "", "street/a?.png"}},
           {"", {SourceKind::kMissing, "", ""}},
           {"./0", {SourceKind::kMissing, "", "./0"}},
           {"-1", {SourceKind::kMissing, "", "-1"}},
           {"20260", {SourceKind::kMissing, "", "20260"}},
           {"camera:", {SourceKind::kMissing, "", "camera:"}},
           {"camera:front", {SourceKind::kMissing, "", "camera:front"}},
           {"/dev/shm/no such file.mp4", {SourceKind::kMissing, "", "/dev/shm/no such file.mp4"}}}) {
    EXPECT_THAT(parseSourceSpec(text), is(spec.kind, spec.target, spec.camera_index)) << text;
    EXPECT_EQ(parseSourceSpec(text).text, text);
    EXPECT_EQ(parseSourceSpec(text).isFolder(), spec.kind == SourceKind::kGlob) << text;
    EXPECT_EQ(isSceneName(text), spec.kind == SourceKind::kDemo) << text;
    EXPECT_EQ(parseSourceSpec(text).isLive(),
              spec.kind == SourceKind::kCamera || spec.kind == SourceKind::kUrl || spec.kind == SourceKind::kPipeline)
        << text;
    EXPECT_EQ(parseSourceSpec(text).isImages(), spec.kind == SourceKind::kGlob) << text;
  }
}

TEST_F(ParseSourceSpec, LooksAtFiles) {
  writeImage("a.png");
  fs::copy_file("a.png", "no extension");
  std::ofstream("damaged.jpg") << "not an image";
  std::ofstream("a.mp4") << "not an image";
  fs::create_directory("a");
  fs::create_symlink("/dev/null", "front camera");
  ASSERT_EQ(::mkfifo("pipe", 0600), 0);
  EXPECT_THAT(parseSourceSpec("a.png"), is(SourceKind::kImage, "a.png"));
  EXPECT_THAT(parseSourceSpec("no extension"), is(SourceKind::kImage, "no extension"));
  EXPECT_THAT(parseSourceSpec("damaged.jpg"), is(SourceKind::kImage, "damaged.jpg"));
  EXPECT_THAT(parseSourceSpec("a.mp4"), is(SourceKind::kVideo, "a.mp4"));
  EXPECT_THAT(parseSourceSpec("a"), is(SourceKind::kFolder, "a"));
  EXPECT_THAT(parseSourceSpec("/dev/null"), is(SourceKind::kCamera, "/dev/null"));
  for (const char* file : {"a.png", "a", "a.mp4"}) {
    EXPECT_EQ(parseSourceSpec(file).isImages(), std::string(file) != "a.mp4") << file;
    EXPECT_FALSE(parseSourceSpec(file).isLive()) << file;
  }
  EXPECT_THAT(parseSourceSpec("front camera"), is(SourceKind::kCamera, "front camera"));
  EXPECT_THAT(parseSourceSpec("pipe"), is(SourceKind::kMissing, "pipe"));
}

TEST_F(ParseSourceSpec, AnExistingPathWins) {
  for (const char* name : {"2026", "a:b", "demo:", "gst:x ! appsink", "camera:0", "[ab]*", "rtsp:"}) {
    EXPECT_NE(parseSourceSpec(name).kind, SourceKind::kFolder) << name;
    fs::create_directory(name);
    EXPECT_THAT(parseSourceSpec(name), is(SourceKind::kFolder, name));
  }
  fs::create_directory("rtsp:/host");
  EXPECT_THAT(parseSourceSpec("rtsp://host"), is(SourceKind::kFolder, "rtsp://host"));
  writeImage("2026/a.png");
  EXPECT_EQ(openSource("2026")->next()->source, "2026/a.png");
  EXPECT_THAT(parseSourceSpec("2027"), is(SourceKind::kCamera, "/dev/video2027", 2027));
  EXPECT_THAT(parseSourceSpec("camera:2026"), is(SourceKind::kCamera, "/dev/video2026", 2026));
}

TEST_F(ParseSourceSpec, OneSourceHasOneName) {
  const std::string here = fs::current_path();
  fs::create_directories("in/deep");
  fs::create_directory("odd[1]");
  writeImage("in/a.png");
  fs::create_directory_symlink("in", "link");
  fs::create_symlink("/dev/null", "front");
  for (const auto& [text, name] : std::initializer_list<std::pair<std::string, std::string>>{
           {"in", here + "/in"},
           {"in/", here + "/in"},
           {"./in/deep/..", here + "/in"},
           {"link", here + "/in"},
           {here + "/link/a.png", here + "/in/a.png"},
           {"link/*.png", here + "/in/*.png"},
           {"link/d*p/../a?.png", here + "/in/d*p/../a?.png"},
           {"odd[1]", here + "/odd[1]"},
           {"gone/away/", here + "/gone/away"},
           {"3", "/dev/video3"},
           {"camera:3", "/dev/video3"},
           {"front", here + "/front"},
           {"/dev/v4l/by-id/yard", "/dev/v4l/by-id/yard"},
           {"rtsp://anna:secret@camera/stream", "rtsp://***@camera/stream"},
           {"demo:street?seed=3", "demo:street?seed=3"}})
    EXPECT_EQ(parseSourceSpec(text).name(), name) << text;
}

TEST(SourceSpec, AFileInSharedMemoryIsAFile) {
  if (!fs::is_directory("/dev/shm")) GTEST_SKIP() << "no /dev/shm";
  std::string folder = "/dev/shm/source_spec_test_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  writeImage(folder + "/a.png");
  EXPECT_THAT(parseSourceSpec(folder), is(SourceKind::kFolder, folder));
  EXPECT_THAT(parseSourceSpec(folder + "/a.png"), is(SourceKind::kImage, folder + "/a.png"));
  EXPECT_THAT(parseSourceSpec(folder + "/b.png"), is(SourceKind::kMissing, folder + "/b.png"));
  EXPECT_FALSE(parseSourceSpec(folder + "/b.png").isLive());
  fs::remove_all(folder);
}

TEST(SourceSpec, ShowsNoPassword) {
  const SourceSpec url = parseSourceSpec("rtsp://anna:secret@camera/stream");
  EXPECT_EQ(url.target, "rtsp://anna:secret@camera/stream");
  EXPECT_EQ(url.shownText(), "rtsp://***@camera/stream");
  EXPECT_EQ(parseSourceSpec("gst:rtspsrc location=rtsp://a user-pw=secret ! appsink").shownText(),
            "gst:rtspsrc location=rtsp://a user-pw=*** ! appsink");
}

TEST(CheckSource, RefusesWhatCanNeverBeOpened) {
  EXPECT_MPM_ERROR(checkSource(parseSourceSpec("")), "the source is empty");
  EXPECT_MPM_ERROR(checkSource(parseSourceSpec("ftp://host/video.mp4")), "'ftp://' is not supported");
  EXPECT_MPM_ERROR(checkSource(parseSourceSpec("camera:front")), "'camera:front' has no camera number");
  // As redactCredentials() and --print-watch write them.
  for (const char* text :
       {"rtsp://anna:geheim@camera/1", "http://camera/1?user=anna&pwd=geheim", "rtsp://camera/0/anna:geheim/main",
        "gst:rtspsrc location=rtsp://camera user-pw=geheim ! appsink"})
    EXPECT_MPM_ERROR(checkSource(parseSourceSpec(redactCredentials(text))), "was not written down") << text;
  for (const char* text : {"97", "rtsp://camera/a", "demo:", "missing.png"})
    EXPECT_NO_THROW(checkSource(parseSourceSpec(text))) << text;
}

}  // namespace
}  // namespace mpm::vision
