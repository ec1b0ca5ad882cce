// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mpm/export.hpp"
#include "mpm/model_info.hpp"
#include "mpm/read_net.hpp"
#include "mpm/run_report.hpp"

namespace mpm {

class ImageNet;

struct PanopticOptions {
  ReadOptions read = ReadOptions();  ///< outputs are ignored
  int threads = 0;  ///< CPU threads; 0: OpenCV's default. Calls cv::setNumThreads, which is global to the process.
  /// kPanoptic or kInstance. nullopt: that of the model; kPanoptic if its task is kSemantic.
  std::optional<Task> task = {};
  double min_score = 0.8;  ///< of a segment, 0..1
  /// kPanoptic: a segment is left out unless it keeps a larger share of its mask, 0..1. Other segments cover the rest.
  double min_overlap = 0.8;
  bool labels = false;   ///< also fill PanopticMap::labels
  bool inspect = false;  ///< also fill PanopticMap::pair_similarity

  /// Throws mpm::Error for a value out of range and another task.
  MPM_API void validate() const;
};

/// Pixels of one class that belong together.
struct Segment {
  int id = 0;             ///< of PanopticMap::ids
  int label = 0;          ///< class
  double score = 0;       ///< probability of the class, 0..1; kInstance: times the mean probability of the mask
  std::int64_t area = 0;  ///< px
};

/// The result for one image. It shares no memory with the PanopticSegmenter or the image.
struct PanopticMap : RunReport {
  cv::Mat ids;                    ///< CV_16U, of the image's size: the segment of each pixel, 0 for none
  std::vector<Segment> segments;  ///< ids 1, 2, ...
  cv::Mat labels;                 ///< with PanopticOptions::labels: as Segmentation::labels
};

/// Finds segments with the queries of a model such as EoMT, at the image's size. Of kPanoptic, each pixel belongs to
/// the query with the largest product of its class and its mask, and the segments of one stuff class are one. Of
/// kInstance, each query whose class is a thing is a segment, and a later one covers an earlier one. Both as the
/// post-processing of EoMT in transformers. Use one PanopticSegmenter from one thread at a time.
class MPM_API PanopticSegmenter {
 public:
  /// `model`: a plain ViT ONNX file or a converted one. Throws mpm::Error when readNet() does, for options out of
  /// range, for a model whose head is not kMaskQueries, and with `labels` for more than 256 classes.
  explicit PanopticSegmenter(const std::string& model, const PanopticOptions& options = {});
  ~PanopticSegmenter();
  PanopticSegmenter(PanopticSegmenter&&) noexcept;
  PanopticSegmenter& operator=(PanopticSegmenter&&) noexcept;

  /// `image`: CV_8UC3 in BGR order, of any size. Resizing is bilinear, both of the image and of the masks. Throws
  /// mpm::Error for an empty image or another type, too little memory, and a NaN in the net.
  PanopticMap segment(const cv::Mat& image);

  const ModelInfo& model() const;
  /// kPanoptic or kInstance.
  Task task() const;

 private:
  friend struct EstimatorReader;
  PanopticSegmenter(ImageNet net, const PanopticOptions& options);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm
