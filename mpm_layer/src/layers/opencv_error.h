// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/dnn.hpp>
#include <string>

namespace mpm {

/// The message of an error of OpenCV in one line, without the places in its sources.
std::string withoutPlaces(const cv::Exception& error);

/// The message of an error of net.forward() for an input of this shape. Where OpenCV's own layer failed, which names
/// nothing, the node is found by trying: "node 'NAME' (TYPE): WHY".
std::string forwardError(cv::dnn::Net& net, const std::vector<int>& input, const cv::Exception& error);

}  // namespace mpm
