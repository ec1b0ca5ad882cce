// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "mpm/error.hpp"
#include "vision/camera_clock.h"

namespace mpm::vision {

inline constexpr double kUsualCutOutS = 60;     ///< Region::cut_out_s where nothing is said
inline constexpr int kMaxRegionSide = 1 << 14;  ///< px, of the picture that a region was drawn on

/// A part of what a camera shows. Its pixels are measured apart, or with `ignore` count nowhere. It is the inside of
/// polygons, or of a mask: one of both.
struct Region {
  std::string name{};
  bool ignore = false;
  cv::Size size{};                                   ///< of the picture it was drawn on
  std::vector<std::vector<cv::Point2d>> polygons{};  ///< px; pixel centres are whole numbers
  cv::Mat mask{};                                    ///< CV_8UC1 of `size`, not 0 inside
  std::optional<UnixMs> from{}, to{};                ///< valid in [from, to); nullopt: no end
  /// Its states and classes are read from a cut-out of the camera's picture, in a separate pass of the model, at most
  /// once in so many seconds. nullopt: they are read from the pass over the whole picture.
  std::optional<double> cut_out_s{};

  bool validAt(UnixMs time) const { return (!from || time >= *from) && (!to || time < *to); }
  /// Whether both are the same in a file.
  friend bool operator==(const Region& a, const Region& b);
};

/// CV_8UC1 of the picture's size, 255 inside. Polygons scale with the picture. Throws mpm::Error naming the region for
/// a mask of another size and for polygons that go up and down too often.
cv::Mat maskOf(const Region& region, cv::Size picture);

/// The regions in a file, after check():
/// - {"regions": [...]} of writeRegions(). "mask" may also name a picture beside the file, not black inside.
/// - LabelMe: polygons, rectangles and circles. The shapes of one label are one region.
/// - COCO with the shapes of one picture: a region for each category.
/// - a list of PhenoCam (CSV) with its masks beside it, black inside. Its times have no offset; they are this long
///   ahead of UTC.
/// In LabelMe and COCO, what has the label "ignore" is ignored. Throws mpm::Error naming the file.
std::vector<Region> readRegions(const std::string& path, const CameraClock& clock = {});
/// Whole or not at all. Throws mpm::Error naming the file, also where `path` is the JSON of a model beside it.
void writeRegions(const std::string& path, const std::vector<Region>& regions);

/// Each once, in alphabetical order.
std::vector<std::string> namesOf(const std::vector<Region>& regions);

/// What check() refuses, for programs that say it in another language.
class RegionError : public Error {
 public:
  enum class Why {
    kNoName,
    kNoTime,  ///< it ends before it begins
    kNoArea,
    kSameName,  ///< two regions have one name, and no dates tell them apart
    kSameTime,  ///< two regions of one name are valid at the same time
    kOther      ///< what only a file can say
  };
  RegionError(Why what, const std::string& message, const std::string& of = {})
      : Error(message), why(what), region(of) {}
  Why why;
  std::string region;  ///< its name
};

/// Throws RegionError naming a region that has no name, no area or no time, reaches out of its picture, or has the name
/// of another at the same time.
void check(const std::vector<Region>& regions);

/// {"name", "width", "height", "polygons": [[[x, y], ...], ...]} with "ignore", "from", "to", and "resolution" and
/// "every" where they say something. A mask is "mask" instead of "polygons": run lengths outside and inside in turns,
/// row by row.
Json toJson(const Region& region);
/// Back from it. A mask may name a picture in `folder`; empty: it may not. Throws mpm::Error naming the place.
Region regionFromJson(const JsonValue& json, const std::string& folder);

/// The pixels of a picture that are not black, or with `black_inside` those that are; transparent ones never count.
/// CV_8UC1, 255 there. Throws mpm::Error naming the file.
cv::Mat readMask(const std::string& folder, const std::string& name, bool black_inside = false);

}  // namespace mpm::vision
