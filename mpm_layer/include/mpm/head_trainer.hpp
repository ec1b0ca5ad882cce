// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "mpm/export.hpp"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"
#include "mpm/token_head.hpp"

namespace mpm {

/// The features of a picture from the encoder, and the labels of its pixels.
struct LabelledTokens {
  static constexpr int kCellsPerPatch = 4;  ///< along a side of a patch
  static constexpr int kNoClass = 255;      ///< of a cell without a labelled pixel
  cv::Mat tokens;  ///< {grid.height * grid.width, dim} CV_32F, behind the last block, merging undone
  /// CV_8U {grid.height * kCellsPerPatch, grid.width * kCellsPerPatch}: the class of most labelled pixels whose centre
  /// lies in the cell, else kNoClass. So a stroke that is thinner than a cell counts. Where a label map has fewer
  /// pixels than cells, a cell without the centre of a pixel has the class of the pixel that its own centre lies in.
  cv::Mat cells;
  std::vector<double> pixels;  ///< labelled pixels of each class, in the label map
};

/// How HeadTrainer::train() trains. A step is one batch of pictures.
struct HeadTrainingOptions {
  int hidden = 256;             ///< width of the head, 1..65536
  int steps = 150;              ///< batches
  int batch = 8;                ///< pictures per step, at most
  double learning_rate = 5e-3;  ///< the highest; a linear rise over 1/20 of the steps, then half a cosine down to 1 %
  double weight_decay = 0.05;   ///< of the two matrices
  std::uint64_t seed = 1;       ///< of the first weights and of the order of pictures
  /// Training starts from this head of as many classes, not from random weights. `hidden` is then that of this head.
  const TokenHead* start = nullptr;
  /// Called after each step, on the calling thread; false ends the training early.
  std::function<bool()> step = {};

  /// Throws mpm::Error for a value out of range.
  MPM_API void validate() const;
};

/// Teaches a model new classes: a new head on the encoder of a plain ViT, which stays as it is (docs/teach.md). Use one
/// trainer from one thread at a time. It computes on OpenCV's threads; results do not depend on their number. One that
/// was moved from can be destroyed or assigned to; its other functions throw mpm::Error.
class MPM_API HeadTrainer {
 public:
  /// `model`: a plain ViT as ONNX, not converted. The head is trained on tokens that merge by `reduce`, and the new
  /// model merges the same way by default. Throws mpm::Error naming the file where a head does not fit.
  explicit HeadTrainer(const std::string& model, const Reduction& reduce = kFullModel);
  ~HeadTrainer();
  HeadTrainer(HeadTrainer&&) noexcept;             ///< moves the net
  HeadTrainer& operator=(HeadTrainer&&) noexcept;  ///< moves the net

  const ModelInfo& model() const;  ///< with its own classes, not those of setClasses()

  /// Sets the classes of the new model, instead of those of `model`. `ignore`: the label of pixels without a label,
  /// 0..255. Throws mpm::Error for fewer than two classes or more than 255, and for a class without a name or with
  /// that of another.
  void setClasses(const std::vector<ClassInfo>& classes, int ignore = 255);

  /// Throws mpm::Error where write() would refuse this path: to ask before minutes of training. It must end in .onnx,
  /// neither the file nor its JSON may replace a file of `model`, or a JSON that belongs to no model, and both must be
  /// writable: an empty file with another name is made in the folder and removed.
  void requireOutput(const std::string& path) const;

  /// The image tokens of a picture, {N, dim} CV_32F. `image`: CV_8UC3 BGR of any size. This takes most of the time of a
  /// training.
  cv::Mat tokens(const cv::Mat& image);
  /// Joins `tokens`, as tokens() gives them, with the label map of the same picture, CV_8U of any size. `tokens` may be
  /// empty while only the labels are wanted; train() needs them. Throws mpm::Error for a label that is no class and for
  /// tokens that are not of this encoder or hold a NaN.
  LabelledTokens label(const cv::Mat& tokens, const cv::Mat& labels) const;

  /// Trains with AdamW. The loss is the cross entropy of the scores, resized to the cells as the model resizes them to
  /// pixels; rare classes weigh more. The result is the same for the same pictures, options and kind of processor.
  /// Throws mpm::Error when nothing is labelled, for a picture that label() did not make with the present classes, and
  /// when the training diverges: its loss is larger than at the start, and than that of equal scores for all classes.
  TokenHead train(const std::vector<const LabelledTokens*>& pictures, const HeadTrainingOptions& options = {}) const;

  /// The classes that a head gives to the tokens of a picture, CV_8U of the size of the network input. `tokens`: as
  /// tokens() gives them, {N, dim} CV_32F. Throws mpm::Error for another size or type, a NaN, and a head of another
  /// width.
  cv::Mat predict(const TokenHead& head, const cv::Mat& tokens) const;
  /// How sure a head is of each token, CV_32F {grid.height, grid.width}: the probability of the likeliest class minus
  /// that of the second. `tokens` and errors: as of predict().
  cv::Mat margins(const TokenHead& head, const cv::Mat& tokens) const;

  /// Writes the model with this head to `path`, which ends in .onnx, and its facts to the JSON file beside it: both
  /// files or none. `taught`: the value of the field "taught" in that JSON; empty: without the field. Throws mpm::Error
  /// naming the file if it cannot be written, if it is a file of the encoder, or if the new model could not be read
  /// back.
  void write(const std::string& path, const TokenHead& head, const std::string& taught = {}) const;

 private:
  struct Impl;
  Impl& impl() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm
