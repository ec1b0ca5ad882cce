// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

namespace mpm {

/// Passes weights to their layers without OpenCV's importer, which would hold them three times: as bytes, as the parsed
/// model and as blobs. A layer finds its weights by the number in its attribute `kAttribute`.
///
/// Serves the layers that this thread creates while the object lives. Of several objects, the newest serves.
class WeightRegistry {
 public:
  static constexpr const char* kAttribute = "waiting_weights";

  WeightRegistry();
  ~WeightRegistry();
  WeightRegistry(const WeightRegistry&) = delete;
  WeightRegistry& operator=(const WeightRegistry&) = delete;

  /// Returns the number for the layer's attribute.
  int add(std::vector<cv::Mat> weights);
  /// Returns the weights without copying. They stay, because OpenCV's diagnostics create a layer twice. Throws
  /// mpm::Error when this thread has no weights of that number.
  static std::vector<cv::Mat> get(int number);

 private:
  WeightRegistry* outer_;
  std::vector<std::vector<cv::Mat>> waiting_;
};

}  // namespace mpm
