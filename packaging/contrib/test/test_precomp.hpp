// SPDX-License-Identifier: Apache-2.0
#pragma once

#if __has_include("opencv2/ts.hpp")
#include "opencv2/ts.hpp"
#else  // an installed OpenCV has no module ts
#include <gtest/gtest.h>
#endif
#include "opencv2/mpm.hpp"
