// SPDX-License-Identifier: Apache-2.0
// Videos that are turned or damaged, as every program of ours reads them.
#include <array>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "base/atomic_file.h"
#include "support/in_folder.h"
#include "support/pictures.h"
#include "support/throws_with.h"
#include "support/video.h"
#include "vision/sources/source.h"

namespace mpm::vision {
namespace {

constexpr int kFrames = 6;

// Coarse, so that it survives a codec, and different at each frame.
cv::Mat frameOf(int index, cv::Size size) {
  cv::Mat picture;
  cv::resize(test::noisePicture(6, 8, static_cast<unsigned>(index) + 1), picture, size, 0, 0, cv::INTER_CUBIC);
  return picture;
}

class VideoStreamTest : public test::InFolder {
 protected:
  // False: this OpenCV writes no such video.
  bool writeVideo(const std::string& name, const char* codec, cv::Size size) const {
    return test::writeVideo(folder_ / name, codec, 10, size, kFrames, [&](int i) { return frameOf(i, size); });
  }
  std::vector<Frame> framesOf(const std::string& name, const SourceOptions& options = {}) const {
    std::vector<Frame> frames;
    const auto source = openSource(folder_ / name, options);
    while (auto frame = source->next()) frames.push_back(std::move(*frame));
    return frames;
  }
};

void putNumber(std::string& bytes, std::size_t at, std::int32_t value) {
  for (int i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(static_cast<std::uint32_t>(value) >> (24 - 8 * i));
}

// Sets the matrix of the header of the video track of an MP4 (ISO/IEC 14496-12, 8.3.2): the pixel (x, y) is shown at
// (a x + c y, b x + d y), but for a shift.
void setDisplayMatrix(const std::string& path, int a, int b, int c, int d) {
  std::string bytes = readFile(path);
  const std::size_t header = bytes.find("tkhd");
  ASSERT_NE(header, std::string::npos);
  const std::size_t matrix = header + (bytes[header + 4] == 0 ? 44 : 56);
  constexpr int kOne = 1 << 16;
  const int numbers[] = {a * kOne, b * kOne, 0, c * kOne, d * kOne, 0, 0, 0, 1 << 30};
  for (std::size_t i = 0; i < 9; ++i) putNumber(bytes, matrix + 4 * i, numbers[i]);
  std::ofstream(path, std::ios::binary) << bytes;
}

// By that formula, with the shift that brings all pixels into the picture.
cv::Mat shownBy(const cv::Mat& stored, int a, int b, int c, int d) {
  const int right = stored.cols - 1, bottom = stored.rows - 1;
  cv::Mat shown(b == 0 ? stored.size() : cv::Size(stored.rows, stored.cols), CV_8UC3);
  const int shift_x = -std::min({0, a * right, c * bottom}), shift_y = -std::min({0, b * right, d * bottom});
  for (int y = 0; y < stored.rows; ++y) {
    for (int x = 0; x < stored.cols; ++x)
      shown.at<cv::Vec3b>(b * x + d * y + shift_y, a * x + c * y + shift_x) = stored.at<cv::Vec3b>(y, x);
  }
  return shown;
}

TEST_F(VideoStreamTest, IsTurnedAsItsDisplayMatrixSays) {
  for (const char* codec : {"avc1", "mp4v"}) {
    if (!writeVideo("upright.mp4", codec, {96, 64})) continue;
    const std::vector<Frame> upright = framesOf("upright.mp4");
    ASSERT_EQ(upright.size(), kFrames);
    for (const auto& [a, b, c, d] : {std::array{0, 1, -1, 0}, {-1, 0, 0, -1}, {0, -1, 1, 0}, {1, 0, 0, 1}}) {
      fs::copy_file(folder_ / "upright.mp4", folder_ / "turned.mp4", fs::copy_options::overwrite_existing);
      setDisplayMatrix(folder_ / "turned.mp4", a, b, c, d);
      const std::vector<Frame> turned = framesOf("turned.mp4");
      ASSERT_EQ(turned.size(), upright.size());
      for (int i = 0; i < kFrames; ++i) {
        const cv::Mat expected = shownBy(upright[i].image, a, b, c, d);
        ASSERT_EQ(turned[i].image.size(), expected.size()) << codec << ", " << a << " " << b;
        EXPECT_EQ(cv::norm(turned[i].image, expected, cv::NORM_INF), 0) << codec << ", " << a << " " << b;
        EXPECT_EQ(turned[i].media_time, upright[i].media_time);
      }
    }
  }
}

TEST_F(VideoStreamTest, APlaceWithoutAFrameKeepsTheTimesOfAnAvi) {
  const cv::Size size(64, 48);
  if (!writeVideo("clip.avi", "MJPG", size)) GTEST_SKIP() << "this OpenCV writes no video";
  std::string bytes = readFile(folder_ / "clip.avi");
  std::size_t chunk = bytes.find("movi");
  for (int i = 0; i < 3; ++i) chunk = bytes.find("00dc", chunk + 4);
  // The third frame gets no bytes, and what it had is left over. The index, which says otherwise, goes.
  const auto length = static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[chunk + 4])) |
                      static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[chunk + 5])) << 8;
  const std::uint32_t left = length + length % 2 - 8;
  bytes.replace(chunk + 4, 4, 4, '\0');
  bytes.replace(
      chunk + 8, 8,
      std::string("JUNK") + static_cast<char>(left & 255) + static_cast<char>(left >> 8) + std::string(2, '\0'));
  const std::size_t index = bytes.rfind("idx1");
  ASSERT_NE(index, std::string::npos);
  bytes.replace(index, 4, "JUNK");
  write("clip.avi", bytes);
  const std::vector<Frame> frames = framesOf("clip.avi");
  ASSERT_EQ(frames.size(), kFrames - 1);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const double step = i < 2 ? 0 : 1;
    EXPECT_NEAR(frames[i].media_time.value_or(-1), 0.1 * (static_cast<double>(i) + step), 1e-6) << i;
  }
}

TEST_F(VideoStreamTest, DamagedFramesOfMjpegAreLeftOut) {
  const cv::Size size(320, 240);
  if (!writeVideo("clip.avi", "MJPG", size)) GTEST_SKIP() << "this OpenCV writes no video";
  const std::vector<Frame> whole = framesOf("clip.avi");
  ASSERT_EQ(whole.size(), kFrames);
  for (int i = 0; i < kFrames; ++i) {
    EXPECT_LT(cv::norm(whole[i].image, frameOf(i, size), cv::NORM_L1) / (3.0 * size.area()), 6);
    EXPECT_NEAR(whole[i].media_time.value_or(-1), 0.1 * i, 1e-6);
  }
  std::string bytes = readFile(folder_ / "clip.avi");
  std::size_t begin = 0;
  for (int i = 0; i < kFrames; ++i) {
    begin = bytes.find("\xff\xd8\xff", begin + 3);
    const std::size_t pixels = bytes.find("\xff\xda", begin) + 400;
    if (i == 1) bytes.replace(pixels, 300, 300, '\0');
    if (i == 4) bytes.replace(begin, 3, 3, '\0');  // no JPEG at all
  }
  write("clip.avi", bytes);
  std::vector<std::string> said;
  const SourceOptions options{.on_unreadable = [&](const std::string& why, auto) { said.push_back(why); }};
  const std::vector<Frame> rest = framesOf("clip.avi", options);
  ASSERT_EQ(rest.size(), kFrames - 2);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const int index = std::array{0, 2, 3, 5}[i];
    EXPECT_EQ(rest[i].index, index);
    EXPECT_EQ(cv::norm(rest[i].image, whole[index].image, cv::NORM_INF), 0);
    EXPECT_NEAR(rest[i].media_time.value_or(-1), 0.1 * index, 1e-6);
  }
  EXPECT_THAT(said, ElementsAre(HasSubstr("'" + (folder_ / "clip.avi") + "', frame 1: its pixels are damaged"),
                                HasSubstr("'" + (folder_ / "clip.avi") + "', frame 4: its data are damaged")));
  EXPECT_MPM_ERROR(framesOf("clip.avi"), "frame 1: its pixels are damaged");
}

std::string bytesOf(std::uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// A chunk of a RIFF file: a name of four letters, the size of the data, the data, and a byte if they are odd.
std::string chunk(const std::string& name, const std::string& data) {
  return name + bytesOf(static_cast<std::uint32_t>(data.size())) + data + std::string(data.size() % 2, '\0');
}

// An AVI of one MJPEG stream at 10 frames a second, with the data of each frame.
std::string mjpegAvi(cv::Size size, const std::vector<std::string>& frames) {
  const auto count = static_cast<std::uint32_t>(frames.size());
  const std::string width = bytesOf(static_cast<std::uint32_t>(size.width)),
                    height = bytesOf(static_cast<std::uint32_t>(size.height)), none = bytesOf(0);
  const std::string main_header = bytesOf(100000) + none + none + none + bytesOf(count) + none + bytesOf(1) + none +
                                  width + height + none + none + none + none;
  const std::string stream_header = "vidsMJPG" + none + none + none + bytesOf(1) + bytesOf(10) + none + bytesOf(count) +
                                    none + bytesOf(10000) + none + none + none;
  const std::string format =
      bytesOf(40) + width + height + bytesOf(1 | 24 << 16) + "MJPG" + none + none + none + none + none;
  const std::string stream = chunk("LIST", "strl" + chunk("strh", stream_header) + chunk("strf", format));
  std::string movie = "movi";
  for (const std::string& frame : frames) movie += chunk("00dc", frame);
  return chunk("RIFF", "AVI " + chunk("LIST", "hdrl" + chunk("avih", main_header) + stream) + chunk("LIST", movie));
}

std::string jpegOf(const cv::Mat& image) {
  std::vector<unsigned char> bytes;
  cv::imencode(".jpg", image, bytes, {cv::IMWRITE_JPEG_QUALITY, 98});
  return {bytes.begin(), bytes.end()};
}

// As capture cards of analogue cameras write them: each frame is two pictures, of its even and of its odd rows.
TEST_F(VideoStreamTest, FramesOfTwoFieldsAreWhole) {
  const cv::Size size(320, 240);
  std::vector<std::string> frames;
  for (int i = 0; i < kFrames; ++i) {
    const cv::Mat frame = frameOf(i, size);
    cv::Mat even(size.height / 2, size.width, CV_8UC3), odd = even.clone();
    for (int y = 0; y < size.height; ++y) frame.row(y).copyTo((y % 2 ? odd : even).row(y / 2));
    frames.push_back(jpegOf(even) + jpegOf(odd));
  }
  write("fields.avi", mjpegAvi(size, frames));
  const std::vector<Frame> read = framesOf("fields.avi");
  ASSERT_EQ(read.size(), kFrames);
  for (int i = 0; i < kFrames; ++i) {
    ASSERT_EQ(read[i].image.size(), size);
    EXPECT_LT(cv::norm(read[i].image, frameOf(i, size), cv::NORM_L1) / (3.0 * size.area()), 6);
  }
}

}  // namespace
}  // namespace mpm::vision
