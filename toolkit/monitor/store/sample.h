// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/quantity.h"
#include "vision/time.h"

namespace mpm::monitor {

inline constexpr std::array kQualityFlags = {"dark", "overexposed", "blurred", "covered or fogged"};  ///< by bit

/// "good", "blurred", "dark, overexposed".
std::string toText(const PictureQuality& quality);

/// How what a picture shows has moved since the reference of its source was taken.
struct ViewMotion {
  double right = 0, down = 0;  ///< pixels of the picture, at its centre
  double turn = 0;             ///< degrees, clockwise, about its centre
  double zoom = 1;             ///< above 1: things look larger
};

/// What is kept of one region of a frame.
struct RegionSample {
  /// Id in the table `region`; until it is stored, the index among the regions that are watched.
  std::int64_t region = 0;
  std::string name{};                                                 ///< of the region
  std::int64_t pixels = 0;                                            ///< that count
  double red = 0, green = 0, blue = 0;                                ///< their means, 0..255
  double red_deviation = 0, green_deviation = 0, blue_deviation = 0;  ///< their standard deviations
  std::optional<double> tokens{};               ///< kept in it: each patch counts one over the size of its cluster
  std::vector<std::pair<int, double>> areas{};  ///< as Sample::areas, of the region's pixels

  double gcc() const { return chromatic(green); }  ///< G / (R + G + B) of the means; 0 where all is black
  double rcc() const { return chromatic(red); }
  double exg() const { return 2 * green - red - blue; }
  /// By its name in exports: "gcc", "rcc", "exg", "red", "green", "blue", "brightness", "tokens"; nullopt: none such.
  std::optional<double> value(const std::string& quantity) const;
  double brightness() const { return 0.114 * blue + 0.587 * green + 0.299 * red; }  ///< mean of the grey pixels

 private:
  double chromatic(double channel) const { return channel > 0 ? channel / (red + green + blue) : 0; }
};

/// What is kept of one head of states of a frame.
struct StateSample {
  std::string name{};      ///< of the head: "gate"
  std::string state{};     ///< the likeliest
  double probability = 0;  ///< of it, 0..1
  bool sure = false;
  std::string counted{};  ///< the state that counts since enough sure results agreed; empty: none yet
  bool changed = false;   ///< `counted` is another one than in the sample before; not stored
};

/// What is kept of one frame.
struct Sample {
  std::int64_t id = 0;         ///< given by the store; grows with every sample, also when the clock goes back
  std::int64_t session = 0;    ///< given by the store: SessionRecord::id, whose model it is of
  UnixMs time = 0;             ///< of the frame
  std::vector<double> tokens;  ///< N, then N' after each insertion
  double inference_ms = 0;
  std::vector<std::pair<int, double>> areas;  ///< class, share of the pixels in 0..1; classes that occur, ascending
  std::optional<bool> night;
  double brightness = 0;     ///< mean of the grey image, 0..255
  std::int64_t dropped = 0;  ///< frames dropped since the sample before
  std::string picture{};     ///< name of an image file; empty: the frame is of a video or camera
  std::int64_t digest = 0;   ///< vision::pictureDigest() of it, in an archive; 0: not known, the same as any
  /// Share of the rows that were computed, 0..1; nullopt without the reuse of rows.
  std::optional<double> rows = {};
  /// Percent, the lowest of the key frames since the sample before that compared reuse with the full result.
  std::optional<double> agreement = {};
  std::optional<PictureQuality> quality{};
  std::optional<ViewMotion> motion{};  ///< nullopt: not measured, or not sure
  std::vector<RegionSample> regions{};
  std::vector<StateSample> states{};

  /// Statistics, charts and reports leave a flagged picture out.
  bool flagged() const { return quality && quality->flags != 0; }
};

/// Mean of the grey image, 0..255, of a CV_8UC3 image; with a mask, CV_8UC1, of its pixels inside.
double meanBrightness(const cv::Mat& image, const cv::Mat& mask = {});

}  // namespace mpm::monitor
