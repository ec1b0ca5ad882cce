// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/dnn.hpp>
#include <string>

#include "kernels/pixel_values.h"

namespace mpm {

class DeviceNet;
class DeviceOp;

/// The image of a net that begins on a device: its bytes go there, and what the net eats is made of them there. One
/// thread, the net's.
class DeviceImage {
 public:
  /// In place of the net's input `blob` {1, 3, H, W}, which goes into the layer called `reader`; null when that does
  /// not run on a device, or others read the input too. From now on forward() takes what put() left on the device; the
  /// blob must have been set all the same, once, for its shape.
  static std::unique_ptr<DeviceImage> of(cv::dnn::Net& net, const std::string& reader, const PixelValues& values,
                                         const cv::Mat& blob);
  ~DeviceImage();

  /// `image`: CV_8UC3 of the blob's height and width; it may change when this returns. Throws mpm::Error when the
  /// device refuses.
  void put(const cv::Mat& image);

 private:
  DeviceImage(std::shared_ptr<DeviceNet> device, std::unique_ptr<DeviceOp> op, cv::Mat blob);
  std::shared_ptr<DeviceNet> device_;
  std::unique_ptr<DeviceOp> op_;  // goes before the device that it is on
  cv::Mat blob_;
};

}  // namespace mpm
