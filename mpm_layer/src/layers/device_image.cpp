// SPDX-License-Identifier: Apache-2.0
#include "layers/device_image.h"

#include "layers/mpm_layer.h"
#include "mpm/error.hpp"

namespace mpm {

DeviceImage::DeviceImage(std::shared_ptr<DeviceNet> device, DeviceOpPtr op, cv::Mat blob)
    : device_(std::move(device)), op_(std::move(op)), blob_(std::move(blob)) {}

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

}  // namespace mpm
