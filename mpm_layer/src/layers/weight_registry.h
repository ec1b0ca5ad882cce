// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "base/open_file.h"

namespace mpm {

/// A constant of a layer that waits until the layer packs it: floats in memory, or still in a file.
struct WaitingWeight {
  std::vector<int> shape;
  std::shared_ptr<const std::string> bytes;  ///< null: in the file
  std::shared_ptr<const OpenFile> file;
  std::uint64_t offset = 0;

  /// Number of floats to read; 0 when they are in memory.
  std::size_t inFile() const;
  /// Borrowed from `bytes`, or read from the file into `memory`. Throws mpm::Error when the file cannot be read or was
  /// written since it was opened.
  cv::Mat values(float* memory) const;
};

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
  int add(std::vector<WaitingWeight> weights);
  /// Returns the weights without copying. They stay, because OpenCV's diagnostics create a layer twice. Throws
  /// mpm::Error when this thread has no weights of that number.
  static std::vector<WaitingWeight> get(int number);

 private:
  WeightRegistry* outer_;
  std::vector<std::vector<WaitingWeight>> waiting_;
};

}  // namespace mpm
