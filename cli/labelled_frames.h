// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/frames.h"
#include "evaluation/dataset.h"
#include "mpm/estimator.hpp"
#include "vision/labels/label_map.h"

namespace mpm::cli {

/// Where labelled images come from: the scene, a data set, or two folders.
struct LabelledOptions {
  std::string source{};  ///< the scene, or the folder of `dataset`
  std::optional<evaluation::Dataset> dataset{};
  std::string split{};  ///< of `dataset`; empty: that of its protocol
  std::string images{}, labels{};
  std::vector<int> ignore{};  ///< empty: the model's
  int label_offset = 0;
  int max_frames = 0;       ///< only the first ones; 0: all
  bool unlabelled = false;  ///< `source` may be any images; they get no labels

  /// Throws UsageError for options that do not go together.
  void validate() const;
};

/// The data set of this name, as evaluation::toString() writes it. Throws UsageError for any other text.
evaluation::Dataset parseDataset(const std::string& name);

/// Labels that do not count; of a data set none is named.
std::vector<int> ignoredLabels(const LabelledOptions& options, const ModelInfo& model);

/// Options that the user chose keep their value; the others become those of the papers, as far as the model allows.
struct ChosenFit {
  std::optional<Fit> fit{};
  int window_stride = 0, short_side = 0;
};
void applyProtocol(const LabelledOptions& labelled, const ChosenFit& chosen, const std::string& model,
                   EstimatorOptions& options);

struct LabelledFrame {
  vision::Frame frame;
  cv::Mat truth;      ///< CV_8U, classes and the void label
  std::string label;  ///< names the label map in messages
};

/// The images of LabelledOptions, one after the other, with progress on stderr. EXIF rotation is ignored, and an image
/// that cannot be read is an error.
class LabelledFrames {
 public:
  using Chosen = std::function<bool(const std::string& path)>;
  /// `chosen`: whether the image in a file is read; asked from the first next() on. Throws mpm::Error when the labels
  /// do not fit the classes of `model`.
  LabelledFrames(const LabelledOptions& options, const ModelInfo& model, bool show_progress, Chosen chosen = {});

  /// nullopt at the end, or when a person interrupts. Throws mpm::Error naming the label map that does not fit.
  std::optional<LabelledFrame> next();

  /// How many there will be, when it is known.
  std::optional<int> size();
  int voidLabel() const { return meaning_.voidLabel(); }
  /// Where the images come from: a folder, the scene or the files of a data set.
  const std::vector<std::string>& sources() const { return sources_; }
  /// That an output must not replace.
  const std::vector<std::string>& files() const { return files_; }

 private:
  /// Null: there is no image to read.
  Frames* open();

  LabelledOptions options_;
  bool show_progress_;
  Chosen chosen_;
  std::vector<std::string> classes_;  // of the model
  vision::LabelMeaning meaning_;
  std::vector<vision::LabelledFile> of_dataset_;
  std::vector<std::size_t> index_;              // in of_dataset_, of each image that is read
  std::map<std::string, std::string> by_stem_;  // label maps
  std::vector<std::string> sources_, files_;
  bool opened_ = false;
  std::optional<Frames> frames_;
};

}  // namespace mpm::cli
