// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/labelled_frames.h"
#include "evaluation/confusion_matrix.h"
#include "evaluation/variants.h"

namespace mpm::cli {

/// "camvid:DIR" and the other data sets, or the scene.
struct StudyData {
  std::string text{};  ///< as the user wrote it
  std::string name{};  ///< "camvid", "street"
  LabelledOptions labelled{};
};
StudyData parseStudyData(const std::string& text);

struct StudyPlan {
  std::vector<std::string> models;
  std::vector<StudyData> data;
  std::vector<Reduction> variants;  ///< the full model apart, which always runs
  std::vector<Precision> precisions;
  int max_images = 0;     ///< of each data set, the first ones; 0: all
  int sweep_images = 24;  ///< of the depth sweep; 0: no sweep
  EstimatorOptions options{};
};

using evaluation::PairCounts;

constexpr std::size_t kBatchSizes[] = {1, 2, 4, 8, 16, 32};

/// What was measured of one variant on images of one data set.
struct StudyRow {
  std::string model, digest, data, source, precision, variant;  ///< `source`: StudyData::text
  std::string net;     ///< "mask_transformer 192/16 512x512": head, width, patch, input
  int limit = 0;       ///< only so many images of the data were to be measured; 0: all
  bool sweep = false;  ///< of the depth sweep: one step of MPM before one block
  std::vector<std::string> classes;
  // Of each image.
  std::vector<double> ms, full_ms, tokens, gflop, agreement;
  std::vector<PairCounts> near, elsewhere;  ///< within kNearPixels of a boundary of the truth, and not
  // Sums over them.
  std::vector<double> stages, blocks;   ///< ms; the stages in the order of kStages
  std::vector<std::int64_t> distances;  ///< pairs of members of a cluster by their distance, tokens; the last: further
  std::vector<std::int64_t> pairs = {0, 0};  ///< those that have a class, and those of one class
  // Of batches of images that follow each other, for each of kBatchSizes: their number, and the sum of the GFLOP per
  // image by the token counts of its images.
  std::vector<std::int64_t> batches;
  std::vector<double> ragged;   ///< each image has its own tokens, as this library runs them
  std::vector<double> padded;   ///< each has as many as the image with most
  std::vector<double> minimum;  ///< each merges as many in a step as the image that merges fewest

  int images() const { return static_cast<int>(ms.size()); }
};
constexpr int kNearPixels = 8, kMaxDistance = 16;

/// Runs what `file` (lines of JSON) does not hold yet, and appends it there line by line, so that a study goes on where
/// it was killed. False when a person interrupted it.
bool measureStudy(const StudyPlan& plan, const std::string& file, bool show_progress);

/// All that `file` holds, in the order of the first lines.
std::vector<StudyRow> readStudy(const std::string& file);

}  // namespace mpm::cli
