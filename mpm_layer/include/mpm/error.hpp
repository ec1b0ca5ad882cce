// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "mpm/export.hpp"

namespace mpm {

/// What every function of this library throws when it cannot do what was asked: one line that names the thing and
/// says what to do about it, fit to be shown to a person as it is. (The cv::dnn layers throw cv::Exception instead,
/// because that is what callers of cv::dnn::Net::forward expect.)
class MPM_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mpm
