// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "mpm/export.hpp"

namespace mpm {

/// The exception of this library: a function that fails throws it. what() is one line that names the problem and says
/// what to do; it can be shown to a user as it is. Only the layers throw cv::Exception instead, as callers of
/// cv::dnn::Net::forward() expect.
class MPM_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mpm
