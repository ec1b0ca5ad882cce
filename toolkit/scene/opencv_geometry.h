// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where convexHull is: in imgproc, and since OpenCV 5 in its own module.
#include <opencv2/core/version.hpp>
#if CV_VERSION_MAJOR >= 5
#include <opencv2/geometry.hpp>
#else
#include <opencv2/imgproc.hpp>
#endif
