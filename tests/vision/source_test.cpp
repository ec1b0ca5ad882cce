// SPDX-License-Identifier: Apache-2.0
#include "vision/sources/source.h"

#include <sys/stat.h>

#include <bit>
#include <cstdint>
#include <iostream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>
#include <opencv2/videoio/registry.hpp>

#include "base/atomic_file.h"
#include "scene/demo_source.h"
#include "support/exif.h"
#include "support/in_folder.h"
#include "support/pictures.h"
#include "support/png.h"
#include "support/throws_with.h"
#include "support/video.h"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

cv::Mat plain(int gray) { return cv::Mat(12, 16, CV_8UC3, cv::Scalar::all(gray)); }

using OpenSource = test::InFolder;

TEST_F(OpenSource, PassesOverALinkToItself) {
  fs::create_symlink("round.png", folder_ / "round.png");
  EXPECT_MPM_ERROR(openSource(folder_.path()), "holds no image");
  cv::imwrite(folder_ / "a.png", plain(1));
  EXPECT_EQ(openSource(folder_.path())->size(), 1);
}

TEST_F(OpenSource, TurnsEveryImageInto8BitBgr) {
  cv::imwrite(folder_ / "a.png", cv::Mat(4, 4, CV_8U, cv::Scalar(77)));
  cv::imwrite(folder_ / "b.png", cv::Mat(4, 4, CV_8UC4, cv::Scalar(1, 2, 3, 4)));
  cv::imwrite(folder_ / "c.png", cv::Mat(4, 4, CV_16U, cv::Scalar(77 * 257)));
  const auto source = openSource(folder_.path());
  for (const cv::Vec3b& expected : {cv::Vec3b(77, 77, 77), cv::Vec3b(1, 2, 3), cv::Vec3b(77, 77, 77)}) {
    const Frame frame = source->next().value();
    ASSERT_EQ(frame.image.type(), CV_8UC3);
    EXPECT_EQ(frame.image.at<cv::Vec3b>(1, 1), expected);
  }
}

TEST_F(OpenSource, LeavesOutImagesThatDoNotDecodeIfAsked) {
  for (const char* name : {"a.png", "d.png"}) cv::imwrite(folder_ / name, plain(1));
  write("b.png", "not a picture");
  write("c.jpg", "\xff\xd8\xff");
  std::vector<std::string> left_out;
  const SourceOptions options{.on_unreadable = [&](const std::string& why, auto) { left_out.push_back(why); }};
  const auto source = openSource(folder_.path(), options);
  EXPECT_EQ(source->next()->name, "a");
  const auto last = source->next();
  EXPECT_EQ(last->name, "d");
  EXPECT_EQ(last->index, 3);
  EXPECT_FALSE(source->next());
  EXPECT_THAT(left_out, ElementsAre(HasSubstr("cannot read image '" + (folder_ / "b.png") + "'"),
                                    HasSubstr("cannot read image '" + (folder_ / "c.jpg") + "': the file is cut off")));
  const auto alone = openSource(folder_ / "b*.png", options);
  EXPECT_MPM_ERROR(alone->next(), "cannot read image");
}

TEST_F(OpenSource, DamagedPngsAreRefusedInOneLine) {
  const cv::Mat noise = test::noisePicture(8, 8, 1);
  cv::imwrite(folder_ / "a.png", noise);
  const std::string whole = readFile(folder_ / "a.png"), profile("\0\0\0\4iCCPx\0\0y\xe9\xe8\xfd\xff", 16);
  ::testing::internal::CaptureStderr();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 1 << i % 8);
    for (const std::string& damaged : {flipped, whole.substr(0, i)}) {
      write("a.png", damaged);
      const std::string why = i < 8 ? "" : ": the file is damaged or cut off";  // without its signature it is no PNG
      EXPECT_MPM_ERROR(openSource(folder_ / "a.png")->next(), "'" + (folder_ / "a.png") + "'" + why);
    }
  }
  write("a.png", whole.substr(0, 33) + profile + whole.substr(33));
  EXPECT_EQ(cv::norm(openSource(folder_ / "a.png")->next()->image, noise), 0) << "a profile that is none";
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "libpng writes to the terminal";
}

/// `whole` with this as the content of its chunk IDAT.
std::string withPixels(const std::string& whole, const std::string& pixels) {
  return whole.substr(0, whole.find("IDAT") - 4) + test::pngChunk("IDAT", pixels) +
         whole.substr(whole.find("IEND") - 4);
}

TEST_F(OpenSource, DecodersThatComplainSayNothingOnTheTerminal) {
  cv::imwrite(folder_ / "whole.png", plain(1));
  cv::imwrite(folder_ / "whole.bmp", plain(1));
  const std::string png = readFile(folder_ / "whole.png"), bmp = readFile(folder_ / "whole.bmp");
  const std::vector<std::pair<std::string, std::string>> pictures = {
      {"cut.ppm", "P6\n100 100\n255\nabc"},
      {"negative.ppm", "P6\n-5 100\n255\nabc"},
      {"huge.ppm", "P6\n99999999999 100\n255\nabc"},
      {"other.pam", "P7\nWIDTH 10\nHEIGHT 10\nDEPTH 9\nMAXVAL 255\nTUPLTYPE FOO\nENDHDR\nabc"},
      {"cut.bmp", bmp.substr(0, bmp.size() / 2)},
      {"nonsense.png", withPixels(png, "nonsense")},
      {"empty.png", withPixels(png, "")}};
  for (const auto& picture : pictures) {
    const std::string& name = picture.first;
    write(name, picture.second);
    ::testing::internal::CaptureStderr();
    EXPECT_MPM_ERROR(openSource(folder_ / name)->next(), "'" + (folder_ / name) + "': damaged, or not an image");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << name;
  }
  ::testing::internal::CaptureStderr();
  std::fputs("and ", stderr);
  std::cerr << "words";
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "and words") << "the streams are given back";
}

TEST_F(OpenSource, RefusesATruncatedJpeg) {
  const cv::Mat noise = mpm::test::noisePicture(64, 64, 1);
  cv::imwrite(folder_ / "small.jpg", noise(cv::Rect(0, 0, 16, 16)));
  const std::string thumbnail = readFile(folder_ / "small.jpg");
  for (const int progressive : {0, 1}) {
    cv::imwrite(folder_ / "a.jpg", noise,
                {cv::IMWRITE_JPEG_PROGRESSIVE, progressive, cv::IMWRITE_JPEG_RST_INTERVAL, 3});
    // A thumbnail has an end of its own.
    const std::string length = {static_cast<char>((thumbnail.size() + 2) >> 8),
                                static_cast<char>((thumbnail.size() + 2) & 0xff)};
    const std::string whole = readFile(folder_ / "a.jpg").insert(2, "\xff\xe5" + length + thumbnail);
    for (const char* behind : {"", "\xff\xff", "anything"}) {
      write("a.jpg", whole + behind);
      EXPECT_TRUE(openSource(folder_ / "a.jpg")->next());
    }
    for (const std::size_t left : {whole.size() - 1, whole.size() - 2, whole.size() / 2, thumbnail.size() + 6}) {
      write("a.jpg", whole.substr(0, left));
      EXPECT_MPM_ERROR(openSource(folder_ / "a.jpg")->next(), "the file is cut off before its end");
    }
  }
}

TEST_F(OpenSource, TurnsAPictureAsExifSays) {
  cv::imwrite(folder_ / "a.jpg", plain(9));
  test::setExifOrientation(folder_ / "a.jpg", 6);
  EXPECT_EQ(openSource(folder_ / "a.jpg")->next()->image.size(), cv::Size(12, 16));
}

TEST_F(OpenSource, TakesAVideoWhoseNameLooksLikeAnAddress) {
  if (!test::writeVideo(folder_ / "clip.avi", "MJPG", 10, {16, 12}, 1, plain))
    GTEST_SKIP() << "this OpenCV writes no video";
  fs::rename(folder_ / "clip.avi", folder_ / "tcp:12:30.avi");
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const Frame frame = openSource("tcp:12:30.avi")->next().value();
  fs::current_path(before);
  EXPECT_EQ(frame.source, "tcp:12:30.avi");
}

TEST_F(OpenSource, ReadsTheFilesThatItNames) {
  for (const char* name : {"b.v2.png", "a[1].png", "a.bmp", ".hidden.png"}) cv::imwrite(folder_ / name, plain(1));
  fs::copy_file(folder_ / "b.v2.png", folder_ / "c.PNG");
  write("notes.txt", "no image");
  const std::vector<std::string> all = {folder_ / "a.bmp", folder_ / "a[1].png", folder_ / "b.v2.png",
                                        folder_ / "c.PNG"};
  EXPECT_EQ(sourceFiles(parseSourceSpec(folder_.path())), all);
  EXPECT_EQ(sourceFiles(parseSourceSpec(folder_ / "*.png")), (std::vector<std::string>{all[1], all[2]}));
  for (const char* one : {"b.v2.png", "a[1].png"})
    EXPECT_EQ(sourceFiles(parseSourceSpec(folder_ / one)), std::vector<std::string>{folder_ / one});
  EXPECT_EQ(sourceFiles(parseSourceSpec(folder_ / "b*.png")), std::vector<std::string>{folder_ / "b.v2.png"});
  const auto source = openSource(folder_.path());
  EXPECT_EQ(source->size(), 4);
  for (int i = 0; i < 4; ++i) {
    const Frame frame = source->next().value();
    EXPECT_EQ(frame.index, i);
    EXPECT_EQ(frame.source, all[static_cast<std::size_t>(i)]);
    EXPECT_EQ(frame.name, fs::path(frame.source).stem().string());
  }
  EXPECT_FALSE(source->next());
  EXPECT_FALSE(source->next());
  for (const char* text : {"0", "demo:street?frames=2", "rtsp://camera/*", "/dev/null"})
    EXPECT_TRUE(sourceFiles(parseSourceSpec(text)).empty()) << text;
  EXPECT_MPM_ERROR(sourceFiles(parseSourceSpec(folder_ / "*.jpg")), "no file matches");
}

TEST_F(OpenSource, SaysThatAVideoIsCutOff) {
  for (const double rate : {10.0, 0.1}) {
    const std::string clip = folder_ / "clip.avi";
    // Of noise, so that the frames are larger than what stands before them.
    const auto noise = [](int i) { return test::noisePicture(48, 64, i + 1); };
    if (!test::writeVideo(clip, "MJPG", rate, {64, 48}, 20, noise)) GTEST_SKIP() << "this OpenCV writes no video";
    std::vector<std::string> said;
    const SourceOptions options{.on_unreadable = [&](const std::string& why, auto) { said.push_back(why); }};
    const auto framesOf = [&](const SourceOptions& how) {
      int frames = 0;
      for (const auto source = openSource(clip, how); source->next();) ++frames;
      return frames;
    };
    EXPECT_EQ(framesOf(options), 20);
    EXPECT_THAT(said, IsEmpty());
    const std::string bytes = readFile(clip);
    std::size_t end = 0;  // of the tenth frame
    for (int i = 0; i < 11; ++i) end = bytes.find("00dc", end + 1);
    fs::resize_file(clip, end);
    const int frames = framesOf(options);
    EXPECT_THAT(said,
                ElementsAre("'" + clip + "' ends after " + std::to_string(frames) + " of 20 frames: it is cut off"));
    EXPECT_MPM_ERROR(framesOf({}), "of 20 frames: it is cut off");
  }
}

TEST_F(OpenSource, GivesTheFramesOfAVideo) {
  for (const auto& [file, codec] : {std::pair("clip.avi", "MJPG"), {"clip.mp4", "avc1"}}) {
    const auto brighter = [](int i) { return cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(40 * i)); };
    if (!test::writeVideo(folder_ / file, codec, 10, {64, 48}, 6, brighter))
      GTEST_SKIP() << "this OpenCV writes no video with " << codec;
    const auto source = openSource(folder_ / file);
    EXPECT_EQ(source->size(), 6);
    for (int i = 0; i < 6; ++i) {
      const Frame frame = source->next().value();
      EXPECT_EQ(frame.index, i);
      EXPECT_EQ(frame.name, "clip_00000" + std::to_string(i));
      EXPECT_NEAR(frame.seconds().value_or(-1), 0.1 * i, 1e-6) << codec << ", ten frames a second";
      EXPECT_NEAR(frame.image.at<cv::Vec3b>(20, 20)[1], 40 * i, 4);
    }
    EXPECT_FALSE(source->next());
  }
}

// As a recorder writes it that cuts its stream into files: the times go on, and so does the duration in the head.
std::string laterBy60Seconds(std::string matroska) {
  const auto unknownSize = [&](std::size_t at) {
    const int bytes = std::countl_zero(static_cast<unsigned char>(matroska[at])) + 1;
    matroska[at] = static_cast<char>(0xff >> (bytes - 1));
    std::fill_n(matroska.begin() + static_cast<std::ptrdiff_t>(at) + 1, bytes - 1, '\xff');
  };
  const std::size_t duration = matroska.find("\x44\x89\x88") + 3;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 8; ++i) bits = bits << 8 | static_cast<unsigned char>(matroska[duration + i]);
  bits = std::bit_cast<std::uint64_t>(std::bit_cast<double>(bits) + 60000);
  for (std::size_t i = 8; i-- > 0; bits >>= 8) matroska[duration + i] = static_cast<char>(bits & 255);
  unknownSize(matroska.find("\x18\x53\x80\x67") + 4);
  const std::size_t cluster = matroska.rfind("\x1f\x43\xb6\x75") + 4;
  unknownSize(cluster);
  return matroska.replace(matroska.find({"\xe7\x81\0", 3}, cluster), 3, "\xe7\x82\xea\x60");
}

TEST_F(OpenSource, AVideoThatDoesNotBeginAtZeroIsWhole) {
  const auto brighter = [](int i) { return cv::Mat(32, 32, CV_8UC3, cv::Scalar::all(9 * i)); };
  if (!test::writeVideo(folder_ / "a.mkv", "MJPG", 5, {32, 32}, 15, brighter))
    GTEST_SKIP() << "this OpenCV writes no Matroska";
  const std::string second = write("b.mkv", laterBy60Seconds(readFile(folder_ / "a.mkv")));
  EXPECT_EQ(matroskaStart(folder_ / "a.mkv"), 0);
  EXPECT_EQ(matroskaStart(second), 60);
  for (const std::string& path : {folder_ / "a.mkv", second}) {
    const auto source = openSource(path);
    EXPECT_EQ(source->size(), 15) << path;
    int frames = 0;
    while (source->next()) ++frames;
    EXPECT_EQ(frames, 15) << path;
  }
  for (const std::size_t size : {0, 3, 40, 300}) {
    fs::resize_file(second, size);
    (void)matroskaStart(second);
  }
  EXPECT_EQ(matroskaStart(write("c.txt", "no video")), 0);
  EXPECT_EQ(matroskaStart(folder_ / "none.mkv"), 0);
}

TEST_F(OpenSource, RefusesWhatIsNoSource) {
  EXPECT_MPM_ERROR(openSource(folder_ / "missing.png"), "there is no file or folder");
  write("empty.mp4", "");
  EXPECT_MPM_ERROR(openSource(folder_ / "empty.mp4"), "is empty");
  write("text_01.txt", "These are words.");
  EXPECT_MPM_ERROR(openSource(folder_ / "text_01.txt"), "neither an image nor a video");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_MPM_ERROR(openSource(folder_ / "pipe"), "neither a file nor a folder");
  write("vit.onnx", "weights");
  for (const std::string& part : {"'" + (folder_ / "vit.onnx") + "' is a model", std::string("--model")})
    EXPECT_MPM_ERROR(openSource(folder_ / "vit.onnx"), part);
}

TEST_F(OpenSource, DemoNeedsTheRenderer) {
  setDemoSource({});
  EXPECT_MPM_ERROR(openSource("demo:street?frames=2"),
                   "'demo:street?frames=2': this program was built without the renderer");
  scene::registerDemoSource();
}

// Files of root that others may not read, seen by somebody else.
class WithoutPermission : public OpenSource {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    for (const char* name : {"a.png", "b.png"}) cv::imwrite(folder_ / name, plain(1));
    ::chmod((folder_ / "b.png").c_str(), 0);
  }
  void TearDown() override { (void)::seteuid(::getuid()); }
  void becomeNobody() { ASSERT_EQ(::seteuid(65534), 0); }
};

TEST_F(WithoutPermission, IsSaid) {
  becomeNobody();
  EXPECT_MPM_ERROR(openSource(folder_ / "a.png"), "cannot read '" + (folder_ / "a.png") + "': Permission denied");
  EXPECT_MPM_ERROR(openSource(folder_.path()), "Permission denied");
  (void)::seteuid(::getuid());
  ::chmod(folder_.path().c_str(), 0755);
  becomeNobody();
  EXPECT_MPM_ERROR(openSource(folder_ / "b.png"), "cannot read '" + (folder_ / "b.png") + "': Permission denied");
  const auto both = openSource(folder_.path());
  EXPECT_TRUE(both->next());
  EXPECT_MPM_ERROR(both->next(), "Permission denied");
  EXPECT_EQ(whyNoCamera(folder_ / "b.png"),
            "no permission for " + (folder_ / "b.png") + ": add this user to the group video");
}

TEST_F(OpenSource, SaysWhatKeepsACameraFromOpening) {
  EXPECT_MPM_ERROR(openSource("97"), "cannot open camera 97: there is no /dev/video97");
  EXPECT_MPM_ERROR(openSource("/dev/video97"), "cannot open camera /dev/video97: there is no /dev/video97");
  EXPECT_MPM_ERROR(openSource("/dev/null"),
                   "cannot open camera /dev/null: /dev/null is in use by another program, or is not a camera");
}

TEST_F(OpenSource, EndsOnRequest) {
  for (const char* name : {"a.png", "b.png"}) cv::imwrite(folder_ / name, plain(1));
  std::atomic<bool> stop = false;
  SourceOptions options{.stop = &stop};
  const auto source = openSource(folder_.path(), options);
  EXPECT_TRUE(source->next());
  stop = true;
  EXPECT_FALSE(source->next());
}

TEST(Pipeline, SaysWhatIsWrongOrGivesItsFramesAndEnds) {
  if (!cv::videoio_registry::hasBackend(cv::CAP_GSTREAMER)) GTEST_SKIP() << "no GStreamer here";
  EXPECT_MPM_ERROR(openSource("gst:videotestsrc ! fakesink"), "must end in 'appsink'");
  EXPECT_MPM_ERROR(openSource("gst:nosuchelement user-pw=geheim ! appsink"),
                   "cannot open gst:nosuchelement user-pw=*** ! appsink: an element is not installed");
  if (!cv::VideoCapture("videotestsrc ! appsink", cv::CAP_GSTREAMER).isOpened())
    GTEST_SKIP() << "no base plugins of GStreamer here";
  const auto source = openSource(
      "gst:videotestsrc pattern=white num-buffers=3 ! video/x-raw,format=BGR,width=64,height=48 ! appsink sync=false");
  const Frame frame = source->next().value();
  EXPECT_EQ(frame.image.size(), cv::Size(64, 48));
  EXPECT_EQ(frame.image.at<cv::Vec3b>(20, 20), cv::Vec3b::all(255));
  EXPECT_THAT(frame.name, StartsWith("pipeline_"));
  int more = 0;
  while (source->next()) ++more;
  EXPECT_LE(more, 2) << "the latest, not necessarily each";
  EXPECT_MPM_ERROR(openSource("gst:videotestsrc ! video/x-raw,format=I420,width=64,height=48 ! appsink")->next(),
                   "no BGR frames: put 'videoconvert");
}

TEST(WithoutCredentials, HidesThePropertiesOfPipelinesByTheirWholeNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"gst:rtspsrc location=rtsp://host/x user-id=anna user-pw=geheim ! decodebin ! appsink",
       "gst:rtspsrc location=rtsp://host/x user-id=*** user-pw=*** ! decodebin ! appsink"},
      {"gst:souphttpsrc proxy-id='a b' proxy-pw = \"ge \\\" heim\" ! appsink",
       "gst:souphttpsrc proxy-id=*** proxy-pw = *** ! appsink"},
      {"gst:x user-pw=(string)ge\\ heim passphrase=abc! appsink", "gst:x user-pw=(string)*** passphrase=*** appsink"},
      {"x my-token=a", "x my-token=***"},
      {"x USER_PASSWORD=a b", "x USER_PASSWORD=*** b"},
      {"token=a", "token=***"},
      {"(secret=a", "(secret=***"},
      {"x monkeytoken=a token-x=b", "x monkeytoken=a token-x=b"},
      {"x/token=a", "x/token=a"},
      {"x token=", "x token="},
      {"x token= (a", "x token= ***"},
      {"x token=(string)", "x token=***"},
      {"x token=\"a b", "x token=***"},
      {"x token='a\\' b", "x token=*** b"},
      {"x token=a token=b", "x token=*** token=***"},
      {"x token=a=b=c user-id==d", "x token=*** user-id=***"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(redactCredentials(text), shown);
  for (const char* text :
       {"gst:rtspsrc location=rtsp://u:p@host/x user-pw=ge@heim ! appsink", "cannot run 'rtspsrc user-pw=geheim'"})
    EXPECT_THAT(redactCredentials(text), Not(HasSubstr("heim")));
}

// std::regex recurses once for each letter.
TEST(WithoutCredentials, TakesATextOfAnyLength) {
  const std::string letters(1'000'000, 'a');
  for (const std::string before : {"", "rtsp://", "rtsp://u:"})
    EXPECT_EQ(redactCredentials(before + letters), before + letters);
  for (const std::string before : {"x token=", "x token=\"", "x token='"})
    EXPECT_EQ(redactCredentials(before + letters), "x token=***");
}

TEST(WithoutCredentials, HidesWhatCamerasTakeInTheirPathOrQuery) {
  const std::pair<const char*, const char*> cases[] = {
      {"rtsp://h/user=admin_password=SECRET_channel=1_stream=0.sdp?real_stream",
       "rtsp://h/user=***_password=***_channel=1_stream=0.sdp?real_stream"},
      {"rtsp://h:554/user=admin&password=SECRET&channel=2&stream=0.sdp?",
       "rtsp://h:554/user=***&password=***&channel=2&stream=0.sdp?"},
      {"rtsp://h/user=admin_password=_channel=1_stream=0.sdp", "rtsp://h/user=***_password=***_channel=1_stream=0.sdp"},
      {"rtsp://h/user=admin_password=SE_CR/ET_channel=1", "rtsp://h/user=***_password=***_channel=1"},
      {"rtsp://h/user=admin;password=SECRET;channel=1", "rtsp://h/user=***;password=***;channel=1"},
      {"rtsp://h/user=admin/password=SE_CRET/main?fps=5", "rtsp://h/user=***/password=***/main?fps=5"},
      {"rtsp://h/0/admin:SECRET/main", "rtsp://h/0/***/main"},
      {"http://127.0.0.1:8080/proxy/u:SECRET@cam1/x", "http://127.0.0.1:8080/proxy/***@cam1/x"},
      {"rtsp://h/stream:1/main", "rtsp://h/stream:1/main"},
      {"folder@home/x.png", "folder@home/x.png"},
      {"videos/token=5/monkey=3.mp4", "videos/token=5/monkey=3.mp4"},
      {"http://h/videostream.cgi?loginuse=admin&loginpas=SECRET&resolution=32",
       "http://h/videostream.cgi?loginuse=***&loginpas=***&resolution=32"},
      {"http://host/x?access_token=abc&api_key=d&fps=5", "http://host/x?access_token=***&api_key=***&fps=5"},
      {"http://h/x?u=admin&p=SECRET&q=2", "http://h/x?u=***&p=***&q=2"},
      {"http://h/x?p=2&size=3", "http://h/x?p=2&size=3"},
      {"http://h/x?p=2", "http://h/x?p=2"},
      {"http://h/x?p=2&user=admin", "http://h/x?p=***&user=***"},
      {"http://h/x?p=2468", "http://h/x?p=***"},
      {"http://h/x?p=12a", "http://h/x?p=***"},
      {"http://h/cgi?usr=admin&pwd=SE_CRET;/?=1&channel=3", "http://h/cgi?usr=***&pwd=***&channel=3"},
      {"http://h/?username=admin&password=SECRET", "http://h/?username=***&password=***"},
      {"http://h/flv?port=1935&stream=channel0_main.bcs&user=admin&password=SECRET",
       "http://h/flv?port=1935&stream=channel0_main.bcs&user=***&password=***"},
      {"http://h/cam?auth=YWRt_W46U0VDUkVU/A==&channel=1", "http://h/cam?auth=***&channel=1"},
      {"http://h/?user=admin_password=SECRET_channel=1_stream=0", "http://h/?user=***_password=***_channel=1_stream=0"},
      {"http://h/x;jsessionid=SECRET?sid=SECRET&Token=SECRET#a", "http://h/x;jsessionid=***?sid=***&Token=***#a"},
      {"rtsp://h/cam/realmonitor?channel=1&subtype=0", "rtsp://h/cam/realmonitor?channel=1&subtype=0"},
      {"http://h/axis-cgi/mjpg/video.cgi?camera=2&fps=5", "http://h/axis-cgi/mjpg/video.cgi?camera=2&fps=5"},
      // What is left names the source: two cameras must not become one. An @ in the path belongs to the path.
      {"rtsp://u:p@127.0.0.1:1/hostA/live@main", "rtsp://***@127.0.0.1:1/hostA/live@main"},
      {"rtsp://u:p@q@camera.lan/hostB/live@main", "rtsp://***@camera.lan/hostB/live@main"},
      {"rtsp://u:p@camera/live@main", "rtsp://***@camera/live@main"},
      {"rtsp://u:p@[fe80::1]:554/live@main", "rtsp://***@[fe80::1]:554/live@main"},
      {"rtsp://127.0.0.1:8554/hostA/live@main", "rtsp://127.0.0.1:8554/hostA/live@main"},
      {"rtsp://camera/live@main", "rtsp://camera/live@main"},
      {"rtsp://***@127.0.0.1:1/hostA/live@main", "rtsp://***@127.0.0.1:1/hostA/live@main"},
      {"compare rtsp://u:p@a/x with rtsp://u:p@b/x", "compare rtsp://***@a/x with rtsp://***@b/x"},
  };
  for (const auto& [address, shown] : cases) {
    EXPECT_EQ(redactCredentials(address), shown);
    const std::string message = std::string(shown) + ": no answer within 10 s";
    EXPECT_EQ(redactCredentials(message), message) << "what is hidden already stays as it is";
  }
}

TEST(WithoutCredentials, APasswordMayHoldAnything) {
  for (const char* address :
       {"rtsp://u:SE/CRET@host/x", "rtsp://u:SE@CR/ET@192.168.1.5/x", "rtsp://u:1234/SECRET@host/x",
        "rtsp://u:p@host/x", "rtsp://u:p/?@q@host/x", "rtsp://u:SECRET://x@host/x",
        "rtsp://anna@mail.com:SE/CRET@host/x", "rtsp://u:SE?C#RET@host/x"})
    EXPECT_THAT(redactCredentials(address), testing::MatchesRegex(R"(rtsp://\*\*\*@(host|192.168.1.5)/x)")) << address;
}

}  // namespace
}  // namespace mpm::vision
