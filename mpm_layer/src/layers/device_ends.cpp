// SPDX-License-Identifier: Apache-2.0
#include "layers/device_ends.h"

#include "layers/mpm_layer.h"
#include "mpm/error.hpp"

namespace mpm {

std::unique_ptr<DeviceImage> DeviceImage::of(cv::dnn::Net& net, const std::string& reader, const PixelValues& values,
                                             const cv::Mat& blob) {
  const cv::Ptr<MpmLayer> layer = findLayer(net, reader);
  if (!layer || !layer->device() || !layer->readOnDevice(blob)) return nullptr;
  return std::unique_ptr<DeviceImage>(new DeviceImage(layer->device(), layer->device()->normalise(values), blob));
}

void DeviceImage::put(const cv::Mat& image) {
  const std::vector<cv::Mat> from = {image}, to = {blob_};
  try {
    op_->compute({from, to, false});
  } catch (const Error&) {
    device_->release();
    throw;
  }
}

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

void DeviceLabels::run(cv::Mat& labels) {
  DeviceNet& device = *scores_->device();
  const std::vector<cv::Mat> from = {scores_->onDevice()}, to = {labels_};
  try {
    op_->compute({from, to, false});
    device.download(labels_);
    device.wait();
    labels_.copyTo(labels);
  } catch (const Error&) {
    device.release();
    throw;
  }
}

}  // namespace mpm
