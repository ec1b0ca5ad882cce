// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/dnn.hpp>
#include <string>

#include "layers/device_net.h"

namespace mpm {

/// The image of a net that begins on a device: its bytes are copied there and become the network input there. Used by
/// the thread of the net only.
class DeviceImage {
 public:
  /// Replaces the net's input `blob` {1, 3, H, W} of the layer called `reader`. Null when that layer does not run on a
  /// device, or when other layers read the input too. From now on forward() uses the image of put(). The blob must
  /// still be set once, for its shape.
  static std::unique_ptr<DeviceImage> of(cv::dnn::Net& net, const std::string& reader, const PixelValues& values,
                                         const cv::Mat& blob);

  /// `image`: CV_8UC3 of the blob's height and width; the caller may change it afterwards. Throws mpm::Error when the
  /// device fails.
  void put(const cv::Mat& image);

 private:
  DeviceImage(std::shared_ptr<DeviceNet> device, DeviceOpPtr op, cv::Mat blob);
  std::shared_ptr<DeviceNet> device_;
  DeviceOpPtr op_;  // destroyed before its device
  cv::Mat blob_;
};

}  // namespace mpm
