// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <opencv2/core.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/open_file.h"
#include "layers/device_net.h"
#include "layers/reuse_session.h"

namespace mpm {

/// A constant of a layer that waits until the layer packs it: floats in memory, or still in a file.
struct WaitingWeight {
  std::vector<int> shape;
  std::shared_ptr<const std::string> bytes;  ///< null: in the file
  std::shared_ptr<const OpenFile> file;
  std::uint64_t offset = 0;

  /// Number of floats to read; 0 when they are in memory.
  std::size_t inFile() const {
    return bytes ? 0 : std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  }
  /// Borrowed from `bytes`, or read from the file into `memory`. Throws mpm::Error when the file cannot be read or was
  /// written since it was opened.
  cv::Mat values(float* memory) const {
    const auto rank = static_cast<int>(shape.size());
    if (bytes) return {rank, shape.data(), CV_32F, const_cast<char*>(bytes->data())};
    file->read(offset, memory, inFile() * sizeof(float));
    file->requireUnchanged();
    return {rank, shape.data(), CV_32F, memory};
  }
};

/// What the reader of a net gives to the layers that this thread makes while the object lives. Of several objects, the
/// newest serves. Weights go this way and not through OpenCV's importer, which would hold them three times: as bytes,
/// as the parsed model and as blobs.
class LayerSupply {
 public:
  /// Attributes of the layers that take something; no file has them. Of kWeights the value is the place in `weights`.
  static constexpr const char *kWeights = "waiting_weights", *kReuse = "reuse", *kDevice = "device";

  LayerSupply() : outer_(std::exchange(newest_, this)) {}
  ~LayerSupply() { newest_ = outer_; }
  LayerSupply(const LayerSupply&) = delete;
  LayerSupply& operator=(const LayerSupply&) = delete;

  /// The object that serves now; null: none does.
  static const LayerSupply* newest() { return newest_; }

  /// Layers copy theirs, because OpenCV's diagnostics create a layer twice.
  std::vector<std::vector<WaitingWeight>> weights;
  std::shared_ptr<ReuseSession> reuse;
  std::shared_ptr<DeviceNet> device;

 private:
  static inline thread_local const LayerSupply* newest_ = nullptr;
  const LayerSupply* outer_;
};

}  // namespace mpm
