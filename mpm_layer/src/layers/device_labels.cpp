// SPDX-License-Identifier: Apache-2.0
#include "layers/device_labels.h"

#include "layers/mpm_layer.h"
#include "mpm/error.hpp"

namespace mpm {

DeviceLabels::DeviceLabels(cv::Ptr<MpmLayer> scores) : scores_(std::move(scores)) {}

std::unique_ptr<DeviceLabels> DeviceLabels::of(cv::dnn::Net& net, const std::string& scores) {
  const cv::Ptr<MpmLayer> layer = findLayer(net, scores);
  if (!layer || !layer->device()) return nullptr;
  layer->keepOnDevice();
  return std::unique_ptr<DeviceLabels>(new DeviceLabels(layer));
}

void DeviceLabels::resize(const AxisResampling& rows, const AxisResampling& columns) {
  op_ = scores_->device()->segmentLabels(rows, columns);
  labels_.create(rows.outputs(), columns.outputs(), CV_8U);
}

bool DeviceLabels::run(cv::Mat& labels) {
  DeviceNet& device = *scores_->device();
  const std::vector<cv::Mat> from = {scores_->onDevice()}, to = {labels_};
  try {
    op_->compute({from, to, false});
    device.download(labels_);
    const bool finite = device.finite(from[0]);  // waits for both
    labels_.copyTo(labels);
    return finite;
  } catch (const Error&) {
    device.release();
    throw;
  }
}

}  // namespace mpm
