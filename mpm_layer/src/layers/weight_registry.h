// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

namespace mpm {

/// Weights on their way to their layers past OpenCV's importer, which would hold them three times: as bytes, as the
/// model parsed from these and as blobs. A layer is made with the attribute `kAttribute`, the number of its weights.
///
/// Known to the layers that this thread makes while the object lives; of several, to those of the youngest.
class WeightRegistry {
 public:
  static constexpr const char* kAttribute = "waiting_weights";

  WeightRegistry();
  ~WeightRegistry();
  WeightRegistry(const WeightRegistry&) = delete;
  WeightRegistry& operator=(const WeightRegistry&) = delete;

  /// The number that the layer is to be made with.
  int add(std::vector<cv::Mat> weights);
  /// The weights, not copies: OpenCV's diagnostics make a layer twice. Throws mpm::Error where none of this number wait
  /// in this thread.
  static std::vector<cv::Mat> get(int number);

 private:
  WeightRegistry* outer_;
  std::vector<std::vector<cv::Mat>> waiting_;
};

}  // namespace mpm
