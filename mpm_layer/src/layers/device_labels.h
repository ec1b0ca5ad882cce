// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/dnn.hpp>
#include <string>

#include "layers/device_net.h"

namespace mpm {

class MpmLayer;

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

  /// Computes the labels of the last forward(). `labels`: CV_8U, of the size given to resize(). Returns false when a
  /// score is NaN or infinite. Throws mpm::Error when the device fails.
  bool run(cv::Mat& labels);

 private:
  explicit DeviceLabels(cv::Ptr<MpmLayer> scores);
  cv::Ptr<MpmLayer> scores_;
  DeviceOpPtr op_;  // destroyed before its device
  cv::Mat labels_;  // keeps its address, because the device stores a value per address
};

}  // namespace mpm
