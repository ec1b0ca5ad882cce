// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/dnn.hpp>
#include <string>

#include "kernels/pixel_values.h"

namespace mpm {

class DeviceNet;
class DeviceOp;

/// The image of a net that begins on a device: its bytes are copied there and become the network input there. Used by
/// the thread of the net only.
class DeviceImage {
 public:
  /// Replaces the net's input `blob` {1, 3, H, W} of the layer called `reader`. Null when that layer does not run on a
  /// device, or when other layers read the input too. From now on forward() uses the image of put(). The blob must
  /// still be set once, for its shape.
  static std::unique_ptr<DeviceImage> of(cv::dnn::Net& net, const std::string& reader, const PixelValues& values,
                                         const cv::Mat& blob);
  ~DeviceImage();

  /// `image`: CV_8UC3 of the blob's height and width; the caller may change it afterwards. Throws mpm::Error when the
  /// device fails.
  void put(const cv::Mat& image);

 private:
  DeviceImage(std::shared_ptr<DeviceNet> device, std::unique_ptr<DeviceOp> op, cv::Mat blob);
  std::shared_ptr<DeviceNet> device_;
  std::unique_ptr<DeviceOp> op_;  // destroyed before its device
  cv::Mat blob_;
};

}  // namespace mpm
