// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mpm/export.hpp"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"
#include "mpm/reuse.hpp"
#include "mpm/run_report.hpp"

namespace mpm {

/// How an image of any size is given to a net with a fixed input size.
enum class Fit {
  kResize,  ///< the image is resized to the network input, one pass
  /// Windows of the network input's size slide over the image at its own scale (scaled up until one fits),
  /// windowStride() apart; logits are averaged where windows overlap, as in Segmenter's evaluation. For labels only. An
  /// image has at most 2^30 px, and where it is scaled up, at most 64 windows in a row.
  kWindow,
};

/// How an Estimator reads its model, and what it computes for each image.
struct EstimatorOptions {
  std::optional<Reduction> reduce = {};                ///< as ConvertOptions::reduce
  std::optional<Size2> input_size = {};                ///< as ConvertOptions::input_size
  std::optional<std::array<float, 3>> mean = {};       ///< as ConvertOptions::mean
  std::optional<std::array<float, 3>> deviation = {};  ///< as ConvertOptions::deviation
  std::optional<Precision> precision = {};             ///< as ConvertOptions::precision
  std::string device = "cpu";                          ///< as ReadOptions::device
  MergeFunction rule = {};                             ///< as ReadOptions::rule
  std::optional<Task> task = {};                       ///< nullopt: that of the model
  /// CPU threads; 0: leaves their number as it is. Calls cv::setNumThreads, which is global to the process: the newest
  /// Estimator with a number decides. When the last of these is destroyed, the earlier number is back.
  int threads = 0;
  bool inspect = false;    ///< also fill token_score and pair_similarity; both stay empty with Fit::kWindow
  Fit fit = Fit::kResize;  ///< how an image of another size reaches the net
  int short_side = 0;      ///< Fit::kWindow: resize images to this shorter side first, px; 0: their own scale
  int window_stride = 0;   ///< px between windows, 1 to the shorter side of a window; 0: 15/16 of a window (512: 480)
  std::optional<double> min_score = {};  ///< of a segment, 0..1; nullopt: 0.8, and 0.5 with the head kBoxQueries
  /// kPanoptic, 0..1: a segment is kept if the pixels where its product of class and mask is the largest, in its mask
  /// or not, are more than this share of the number of pixels of its mask.
  double min_overlap = 0.8;
  /// Refinement of the labels of kSemantic; nullopt: as the model says (ModelFacts::refine).
  std::optional<Refine> refine = {};
  bool labels = false;    ///< with kPanoptic, kInstance and kBoxes: also fill labels
  bool scores = false;    ///< of kSemantic: also fill scores
  bool features = false;  ///< also fill features; an error with Fit::kWindow
  /// Reuse of rows, for the frames of a fixed camera one after the other (docs/reuse.md). Needs Fit::kResize, and
  /// a reduction that merges mutual pairs or none. Estimate::pair_similarity stays empty.
  Reuse reuse = {};

  /// Returns the options of reading the model alone. The Estimator itself chooses the outputs.
  MPM_API ReadOptions read() const;
  /// Returns the options of its conversion alone.
  ConvertOptions convert() const { return read().convert(); }
  /// Throws mpm::Error for a value out of range.
  MPM_API void validate() const;
};

/// px between the windows of Fit::kWindow for a network input of size `window`. Throws mpm::Error when
/// EstimatorOptions::window_stride is longer than the shorter side.
MPM_API Size2 windowStride(const EstimatorOptions& options, Size2 window);

/// Pixels of one class that belong together.
struct Segment {
  int id = 0;        ///< of Estimate::ids
  int label = 0;     ///< class
  double score = 0;  ///< probability of the class, 0..1; kInstance of mask queries: times the mean of its mask, 0..1
  std::int64_t area = 0;               ///< how many px of Estimate::ids it has
  std::optional<cv::Rect2d> box = {};  ///< with the head kBoxQueries, px; it may reach over the edges of the image
};

/// Three values of a depth map, in its unit (ModelFacts::depth).
struct DepthRange {
  double min = 0;     ///< the least value
  double median = 0;  ///< the middle value of all pixels; of two middle values the mean
  double max = 0;     ///< the greatest value
};

/// The minimum, the median and the maximum of a depth map, CV_32F. Throws mpm::Error for another type, an empty map
/// and a NaN.
MPM_API DepthRange depthRange(const cv::Mat& depth);

/// The result of an Estimator for one image. It shares no memory with the Estimator or the image. Maps have the size of
/// the image.
struct Estimate : RunReport {
  std::optional<Task> task = {};          ///< nullopt: none, see `outputs`
  std::optional<ReuseReport> reuse = {};  ///< with EstimatorOptions::reuse
  cv::Mat labels = {};                    ///< kSemantic: CV_8U, class of each pixel; 255: no object, of box queries
  /// kSemantic with EstimatorOptions::scores: CV_32F {classes, height, width}, the probability of each class at each
  /// pixel. The sum over the classes is 1: logits go through a softmax; the scores of mask queries, and those of a
  /// graph that ends in a Softmax or a Sigmoid, are divided by their sum. Refinement of edges changes `labels` and not
  /// these.
  cv::Mat scores = {};
  /// With EstimatorOptions::features: CV_32F {N, dim}, the image tokens behind the last block, in raster order. Tokens
  /// that merged have equal rows.
  cv::Mat features = {};
  /// kSemantic with `inspect`: {N}, probability of each token's best class, by the scores of the head resized to the
  /// patch grid.
  std::vector<float> token_score = {};
  /// kPanoptic, kInstance, kBoxes: CV_16U, the segment of each pixel, 0 for none.
  cv::Mat ids = {};
  std::vector<Segment> segments = {};  ///< with `ids`: segment 1, segment 2, ...
  cv::Mat depth = {};                  ///< kDepth: CV_32F; ModelFacts::depth says what its values mean
  DepthRange depth_range = {};         ///< of `depth`
  std::vector<cv::Mat> outputs = {};   ///< without a task: CV_32F, what the net gives for ModelInfo::outputs
};

/// Percent of the pixels on which two results of one image agree: they have the same class, or depths that differ by at
/// most 2 % of the range in b.depth_range. nullopt: the results have no such map, or differ in size.
MPM_API std::optional<double> agreementPercent(const Estimate& a, const Estimate& b);

/// The class of the segment of each pixel, CV_8U; 255 for none. `ids`: of an Estimate. `segments`: of the same, or some
/// of them; pixels of the others have none. Throws mpm::Error for another type, and an id or a class out of range.
MPM_API cv::Mat segmentClasses(const cv::Mat& ids, const std::vector<Segment>& segments);

/// Runs a model on images: resize, normalisation, net, the result of its task at the image's size. Use one Estimator
/// from one thread at a time.
///
/// Labels and segments may come from the queries of a model such as EoMT, as in its post-processing in transformers.
/// kPanoptic: each pixel belongs to the query with the largest product of its class and its mask, and all segments of a
/// stuff class are one. kInstance: each query whose class is a thing is a segment, and a later one covers an earlier
/// one.
///
/// Boxes, and instances of box queries, are those of the post-processing of RF-DETR: the best pairs of a query and a
/// class, the best first, without suppression of overlaps. An object covers those behind it in the list; in kBoxes its
/// pixels are those of its box.
///
/// An Estimator that was moved from can be destroyed or assigned to. Its other functions throw mpm::Error.
class MPM_API Estimator {
 public:
  /// `model`: a plain ViT ONNX file or a converted one. Without a task (a classifier, features) it gives what
  /// the net does, tokens and merge maps. Throws mpm::Error when readNet() does, for options out of range, for a model
  /// that cannot do `options.task`, and for labels of more than 256 classes.
  explicit Estimator(const std::string& model, const EstimatorOptions& options = {});
  ~Estimator();
  Estimator(Estimator&&) noexcept;             ///< moves the net
  Estimator& operator=(Estimator&&) noexcept;  ///< moves the net

  /// `image`: CV_8UC3 in BGR order, as cv::imread and cv::VideoCapture give it, of any size. Resizing is bilinear:
  /// the image to the network input; scores, and masks of kMaskQueries, to the network input and from there to the
  /// image; depths and other masks to the image. Throws mpm::Error for an empty image or another type, too little
  /// memory, and a NaN in the net. `seconds`: the time of the frame since any start, for Reuse::refresh, finite;
  /// nullopt: a clock of its own. `patches`, with EstimatorOptions::reuse: the patches to compute, ascending, instead
  /// of those that Reuse finds, unless the frame is the first, of another size or due by Reuse::refresh.
  Estimate estimate(const cv::Mat& image, std::optional<double> seconds = {},
                    const std::optional<std::vector<int>>& patches = {});

  /// With EstimatorOptions::reuse: forgets earlier frames and frees what is kept. The next frame is a key frame. Call
  /// it when another source follows. An image of another size and an error do the same.
  void reset();

  /// Another Estimator that shares the net of this one, for another camera. Only what EstimatorOptions::reuse keeps of
  /// earlier frames is its own. Use all Estimators of one net from one thread at a time.
  Estimator another() const;

  const ModelInfo& model() const;  ///< as it was read; lives as long as the Estimator
  /// The task that estimate() solves; nullopt: it returns what the net gives.
  std::optional<Task> task() const;

 private:
  struct Impl;
  explicit Estimator(std::unique_ptr<Impl> impl);
  Impl& impl() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm
