// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "mpm/estimator.hpp"

namespace mpm::vision {

/// At least `classes` colours, BGR: the model's own, else of a palette that colour-blind people can tell apart.
std::vector<cv::Vec3b> classColors(const ModelFacts& facts, int classes);

/// A colour, BGR, for one more class that is drawn on `picture` (CV_8UC3; may be empty): lightness and hue differ from
/// those of the colours `taken`, also for colour-blind people, and from the most frequent colours of the picture. Its
/// contrast to a white and a dark window is 2 or more. It is like usualColor(name), if one is far enough from these.
cv::Vec3b newClassColor(const std::string& name, const std::vector<cv::Vec3b>& taken, const cv::Mat& picture);

/// `image` (CV_8UC3) with `labels` (CV_8U, same size) that have a colour painted over it, opacity 0..1.
cv::Mat overlayPicture(const cv::Mat& image, const cv::Mat& labels, const std::vector<cv::Vec3b>& colors,
                       double opacity = 0.5);

/// The colour of an outline that is seen on `fill`.
cv::Vec3b outlineColor(const cv::Vec3b& fill);

/// `image` with outlined segments painted over it. `ids`: CV_16U, same size; segment i has colors[i - 1], 0 is none.
cv::Mat segmentsPicture(const cv::Mat& image, const cv::Mat& ids, const std::vector<cv::Vec3b>& colors,
                        double opacity = 0.5);

/// `picture` (CV_8UC3) with the boxes of those segments that have one, the first above the others, each with the name
/// of its class and its score in percent. `names` and `colors`: of the classes.
cv::Mat withBoxes(const cv::Mat& picture, const std::vector<Segment>& segments, const std::vector<std::string>& names,
                  const std::vector<cv::Vec3b>& colors);

/// Fills every cluster with its mean colour in `image` and draws a border of 1 px between clusters.
/// `cluster_of_token` has grid.height * grid.width ids, raster order.
cv::Mat mergePicture(const cv::Mat& image, const std::vector<int>& cluster_of_token, Size2 grid);
/// Draws the merge map of a result: its clusters after the last insertion; without merging each token is one.
cv::Mat mergePicture(const cv::Mat& image, const RunReport& result);

/// Draws the patches that the reuse of rows computed for `image`: patches that were kept are dark and without colour,
/// those that were computed are as they are, with an outline. `grid`: of the patches.
cv::Mat computedPicture(const cv::Mat& image, const ReuseReport& reuse, Size2 grid);

/// Writes `picture` as a PNG, or as a JPEG of OpenCV's default quality (95) where the name ends with .jpg, whole or not
/// at all. Throws mpm::Error.
void writePicture(const std::string& path, const cv::Mat& picture, Readers readers = Readers::kByUmask);

/// Mean absolute difference of two maps of one size, as a share of the range of the first; 0 for an empty range.
double depthDifference(const cv::Mat& depth, const DepthRange& range, const cv::Mat& other);

/// A depth map as an image of 16 bits: depth = offset + step * pixel.
struct DepthImage {
  cv::Mat pixels;  ///< CV_16U
  double offset = 0, step = 1;
};

/// In metres the step is always 1/256, so that values of several images compare; up to 255.996 m (KITTI's format).
/// Without a unit, 0 is the smallest depth of this map and 65535 the largest.
DepthImage depthImage(const cv::Mat& depth, DepthUnit unit);

/// The share of the range at each pixel, CV_8U: 0 at range.min, 255 at range.max.
cv::Mat depthShares(const cv::Mat& depth, const DepthRange& range);

/// The colour (BGR) of each share: violet at 0, yellow at 255.
const std::array<cv::Vec3b, 256>& depthColors();

/// The colours of a depth map, CV_8UC3 (BGR).
cv::Mat depthPicture(const cv::Mat& depth, const DepthRange& range);

/// "12.35": four digits.
std::string depthText(double depth);

/// `picture` (of depthPicture()) above a bar of its colours, with the depths at both ends and the unit.
cv::Mat withDepthLegend(const cv::Mat& picture, const DepthRange& range, DepthUnit unit);

/// "m", "(relative)", "(relative, larger is nearer)".
std::string unitText(DepthUnit unit);

/// The pixels of an image in memory, as cv::imdecode() gives them with these flags. Throws mpm::Error that says why
/// they cannot be decoded, without a name: damaged JPEG and PNG files too, which OpenCV fills with grey. The decoders
/// write nothing to the terminal.
cv::Mat decodePicture(std::string_view bytes, int flags);

/// The same of a regular file, for what is no picture for people, such as a label map. The error is one line that names
/// the file.
cv::Mat readPictureFile(const std::string& path, int flags);

/// The picture in a file as people see it: CV_8UC3 BGR, rotated and mirrored as its EXIF says. Labels and regions lie
/// over this. Throws mpm::Error naming the file.
cv::Mat readPicture(const std::string& path);

/// The opacity of each pixel of that picture, CV_8U or CV_16U, rotated and mirrored alike; empty: the file has none.
/// Throws mpm::Error naming the file.
cv::Mat readOpacity(const std::string& path);

/// Tells pictures of one name apart: a hash of the size of the file and of three parts of 16 KiB, so that an archive of
/// a million pictures is not read as a whole. 0: the file cannot be read.
std::int64_t pictureDigest(const std::string& path);

/// The night of the MPM paper's day/night figure: less light, then thermal and shot noise. The paper gives no numbers;
/// these are ours. Of a channel with value v (0..255) it makes
///   255 * (Poisson(electrons * gain * v / 255) / electrons + Normal(0, thermal)),  rounded and clipped to 0..255,
/// so the mean is gain * v and the variance 255^2 * (gain * v / 255 / electrons + thermal^2), clipping apart.
struct NightOptions {
  double gain = 0.25;       ///< share of the light that is left, in (0, 1]
  double electrons = 1500;  ///< that a pixel collects for value 255; fewer electrons mean more shot noise
  double thermal = 0.008;   ///< standard deviation of the Gaussian noise, in units of value 255

  /// Throws mpm::Error naming the option and what is allowed.
  void validate() const;
};

/// `image` (CV_8U, any channels) at night. The same seed gives the same noise. Thread-safe.
cv::Mat simulateNight(const cv::Mat& image, const NightOptions& options = {}, std::uint64_t seed = 0);

}  // namespace mpm::vision
