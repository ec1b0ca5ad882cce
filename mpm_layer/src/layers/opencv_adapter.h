// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core/version.hpp>
#include <opencv2/dnn.hpp>
#include <opencv2/dnn/layer.details.hpp>
#include <vector>

/// The differences between OpenCV 4.6 and 5.0 that a layer meets, in one place.
namespace mpm::opencv {

/// True when nodes may be run by the engine of OpenCV 5, which knows a custom op by its bare name and hands constants
/// over as inputs.
inline constexpr bool kHasNewEngine = CV_VERSION_MAJOR >= 5;

/// A vector in 4.x, a class with explicit constructors in 5.0.
#if CV_VERSION_MAJOR >= 5
using MatShape = cv::MatShape;
#else
using MatShape = cv::dnn::MatShape;
#endif

inline MatShape makeShape(const std::vector<int>& sizes) { return MatShape(sizes); }

}  // namespace mpm::opencv
