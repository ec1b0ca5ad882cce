// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/dnn.hpp>
#include <string>
#include <utility>

#include "layers/device_net.h"

namespace mpm {

class MpmLayer;

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
  DeviceImage(std::shared_ptr<DeviceNet> device, DeviceOpPtr op, cv::Mat blob)
      : device_(std::move(device)), op_(std::move(op)), blob_(std::move(blob)) {}
  std::shared_ptr<DeviceNet> device_;
  DeviceOpPtr op_;  // destroyed before its device
  cv::Mat blob_;
};

/// Labels computed on the device from the scores of a net, at a size that the caller chooses. One byte per pixel comes
/// to the host; the scores stay on the device. Used by the thread of the net only.
class DeviceLabels {
 public:
  /// Labels of the first image of the layer called `scores`. Null when that layer does not run on a device. From now on
  /// forward() returns the layer's blob without content.
  static std::unique_ptr<DeviceLabels> of(cv::dnn::Net& net, const std::string& scores);

  /// Sets the resampling from the grid of the scores to the labels (kernels/resample.h). Throws mpm::Error when the
  /// device fails.
  void resize(const AxisResampling& rows, const AxisResampling& columns);

  /// Computes the labels of the last forward(). `labels`: CV_8U, of the size given to resize(). Throws mpm::Error
  /// when a score is NaN or infinite, or the device fails.
  void run(cv::Mat& labels);

 private:
  explicit DeviceLabels(cv::Ptr<MpmLayer> scores) : scores_(std::move(scores)) {}
  cv::Ptr<MpmLayer> scores_;
  DeviceOpPtr op_;  // destroyed before its device
  cv::Mat labels_;  // keeps its address, because the device stores a value per address
};

}  // namespace mpm
