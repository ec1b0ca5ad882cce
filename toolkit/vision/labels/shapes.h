// SPDX-License-Identifier: Apache-2.0
// Reads shapes, for the file formats of labelling tools.
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "mpm/model_info.hpp"

namespace mpm::vision {

/// Throws mpm::Error naming the place when it is none of the classes.
int numberOfClass(const JsonValue& name, const std::vector<ClassInfo>& classes);

constexpr int kMaxSide = 1 << 20;  ///< px of a picture
/// "40 x 70 px, its image 70 x 40 px", and a word of EXIF where the labels fit once the picture is rotated.
std::string sizesText(cv::Size labels, cv::Size picture);
/// Throws mpm::Error naming the place where it is for a picture of another size.
void requireSize(cv::Size own, cv::Size picture, const JsonValue& of);
/// Requires the size of the picture under these keys.
void requireSize(const JsonValue& of, const char* width, const char* height, cv::Size picture);

/// [[x, y], ...], so many or more. Throws mpm::Error naming the place.
std::vector<cv::Point2d> pointsOf(const JsonValue& points, std::size_t least = 0);

/// CV_8U, 255 inside, of the lengths of runs outside and inside in turns, row by row. Throws mpm::Error naming the
/// place where they do not fill the size.
cv::Mat maskOfRuns(const JsonValue& runs, cv::Size size);

/// Rounded; what is far outside of a picture comes nearer.
cv::Point labelPoint(const cv::Point2d& point);

/// Fills as cv::fillPoly(), in a time that follows from the size of the label map and the number of points. False, and
/// nothing is filled: its rows are crossed more often than those of any thing.
bool fillPolygon(cv::Mat& labels, const std::vector<cv::Point2d>& polygon, int label);
/// The same; throws mpm::Error naming the place.
void fillPolygon(cv::Mat& labels, const std::vector<cv::Point2d>& polygon, int label, const JsonValue& of);

}  // namespace mpm::vision
