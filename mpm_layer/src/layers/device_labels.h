// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/dnn.hpp>
#include <string>

#include "kernels/resample.h"

namespace mpm {

class DeviceOp;
class MpmLayer;

/// Labels made where a net's scores stand on a device, at a size of the caller's: a byte per pixel comes to the host
/// and the scores stay there. One thread, the net's.
class DeviceLabels {
 public:
  /// Of the first image of the layer called `scores`; null when that does not run on a device. From now on forward()
  /// returns the layer's blob without content.
  static std::unique_ptr<DeviceLabels> of(cv::dnn::Net& net, const std::string& scores);
  ~DeviceLabels();

  /// From the grid of the scores to the size of the labels (kernels/resample.h). Throws mpm::Error when the device
  /// refuses.
  void resize(const AxisResampling& rows, const AxisResampling& columns);

  /// Of the last forward(). `labels`: CV_8U, of the size that was set. False when a score is NaN or infinite. Throws
  /// mpm::Error when the device refuses.
  bool run(cv::Mat& labels);

 private:
  explicit DeviceLabels(cv::Ptr<MpmLayer> scores);
  cv::Ptr<MpmLayer> scores_;
  std::unique_ptr<DeviceOp> op_;  // goes before the device that it is on
  cv::Mat labels_;                // one address: the device keeps a value for each
};

}  // namespace mpm
