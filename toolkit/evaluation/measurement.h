// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evaluation/confusion_matrix.h"
#include "evaluation/flop_counter.h"
#include "evaluation/numbers.h"
#include "evaluation/statistics.h"

namespace mpm::evaluation {

/// True labels of an image, CV_8U; empty: it has none.
struct Truth {
  Truth(cv::Mat labels, int void_label);

  cv::Mat labels, near;  ///< `near`: the labels within kNearPixels of a boundary between classes, void elsewhere
  int void_label;
};
constexpr int kNearPixels = 8;

/// The measurement of one image with one variant of a model: a line of JSON, whose keys docs/reduction.md lists.
/// `mpm eval` writes, resumes and combines such lines, and `mpm study` makes its report of them.
struct Measurement {
  Json line{};
  std::string image{}, name{};  ///< imageOf(); the name alone
  std::string film{};           ///< which images are alike with it
  int index = 0;                ///< of a frame of a video or the scene; 0 of an image file
  std::string session{};        ///< of the process that measured
  std::optional<bool> night{};  ///< of the image, where its source knows it
  PairCounts counts{}, near{};  ///< empty: no true labels; `near`: within kNearPixels of a boundary
  std::vector<double> tokens{};
  StageTimes ms{};
  // Against the full model, which took its turn on the same image. nullopt: it did not run. The first frame of a film
  // with reuse has none of these numbers, because it is computed in full.
  std::optional<double> full_ms{}, agreement{};  ///< agreement: percent of the labels
  std::optional<double> rows{};                  ///< with reuse: share that was computed
  std::optional<double> due_agreement{};         ///< ReuseReport::agreement
  bool key_frame = false;
  std::optional<double> gflop{}, gflop_head_restored{};
  std::vector<FlopCounter::Terms> gflop_terms{};  ///< of each step; empty: not known
  std::vector<std::int64_t> pairs_at_distance{};  ///< of tokens in one cluster; empty: not counted
  std::int64_t pairs_with_class = 0, pairs_of_one_class = 0;

  /// Throws mpm::Error naming the place when `json` is no such line, or says what its counts do not give.
  static Measurement read(const JsonValue& json);
};

/// The key of the image of a line: its name with the digests of its files, equal for the same files in any folder. A
/// frame of the scene has no file, so its source stands for it.
std::string imageOf(const Json& line);

/// `line`: what it says of the variant, with "classes", and of the image, with "source", "name", "film" and
/// "index" where it is one of several. `full`: the full model's result on the image,
/// or null. `first`: the first frame of a film with reuse. `flops`: null when they are not known.
Measurement measurementOf(Json line, const Estimate& result, const Estimate* full, const Truth& truth, bool first,
                          const FlopCounter* flops);

/// The scores of a variant over some of the images.
class Scores {
 public:
  explicit Scores(int classes) : matrix_(classes, -1) {}

  /// Throws mpm::Error for an image of another number of merging steps, and where a sum is too large.
  void add(const Measurement& one);

  int images() const { return images_; }
  const ConfusionMatrix& matrix() const { return matrix_; }
  /// Mean tokens before the first insertion and after each.
  std::vector<double> tokens() const;
  const StageTimes& ms() const { return ms_; }  ///< mean over the images

  /// {"images", "miou", "pixel_accuracy", "iou", "tokens_mean", "tokens_sd", "ms_mean", "confusion"}, percent and ms.
  Json toJson(const std::vector<std::string>& names) const;

 private:
  int images_ = 0;
  ConfusionMatrix matrix_;
  std::vector<PerImage> tokens_;
  StageTimes ms_;
};

/// A variant against the full model on the same images, which took turns with it.
struct AgainstFull {
  int images = 0;      ///< of agreement and speed-up: both models ran on them; not the first of a film with reuse
  Interval agreement;  ///< percent of the labels that are the full model's, mean
  Interval loss;       ///< of mIoU, points; NaN without labels, and where the lines are of other images
  Interval speed_up;   ///< time of the full model on the same image / own time, median
};

/// The images of one variant together.
class VariantResult {
 public:
  explicit VariantResult(int classes) : all(classes), day(all), night(all) {}
  void add(const Measurement& one);

  Scores all, day, night;            ///< of the scene by day and by night, too
  bool labelled = false;             ///< images have true labels, also where none is in this shard
  bool beside_full = false;          ///< the full model takes its turn on them, too
  std::set<std::string> sessions{};  ///< of the lines

  /// Columns of the table. Without day and night there is one.
  std::vector<std::pair<std::string, const Scores*>> columns() const;
  /// Adds the fields of all.toJson(), and "day" and "night" where they are known.
  Json toJson(Json settings, const std::vector<std::string>& names) const;

  /// With 95 % intervals over blocks of images (blocksOf()). `full`: of the full model; null: it has no lines of its
  /// own. Only the loss needs them, unless `labels_of_full`: the true labels are the full model's.
  AgainstFull against(const VariantResult* full, bool labels_of_full) const;

  /// Results of the reuse of rows, without the first frame of each film; null without reuse. {"rows", "key_frames",
  /// "agreement", "share_of_full_ms"}.
  Json reuseJson() const;

  /// How many more tokens there are than in `other`, the same images by day, after each step, and the change of what is
  /// merged away, in percent: {"tokens": [{"mean", "low", "high"}..], "merged_percent": {"mean", "low", "high"},
  /// "images", "blocks"}. 95 % intervals over blocks of images (blocksOf()). Images of a real night do not count.
  Json minus(const VariantResult& other) const;

 private:
  /// In the order of films and of the images in them.
  std::vector<const Measurement*> sorted() const;

  std::vector<Measurement> images_;  // without their lines
  PerImage rows_, due_agreement_;
  int key_frames_ = 0;
  double ms_ = 0, full_ms_ = 0;
};

/// In the order of films and of the images in them: frames by their index, image files by their names. So neither the
/// order of lines, nor shards, nor images that were added later make a difference.
void sortByFilm(std::vector<const Measurement*>& images);

/// The blocks of images that sortByFilm() has sorted.
BlockBootstrap bootstrapOf(const std::vector<const Measurement*>& images);

/// Which pixels count: all, those within kNearPixels of a boundary, or the others.
enum class Pixels { kAll, kNear, kElsewhere };

/// Scores in percent, draw by draw.
struct IouDraws {
  std::vector<std::vector<double>> of_class;  ///< NaN where a class has no true pixels in the draw
  std::vector<double> mean;                   ///< over the classes with true pixels in the draw
  std::vector<double> pixel_accuracy;
};
IouDraws iouDraws(const BlockBootstrap& bootstrap, const std::vector<const Measurement*>& images, int classes,
                  Pixels pixels = Pixels::kAll);

/// The draws of a - b.
std::vector<double> difference(std::vector<double> a, const std::vector<double>& b);

/// The value as `name`, with `name`_low and `name`_high, rounded to four decimals; null for NaN.
void addInterval(Json& json, const std::string& name, const Interval& interval);

}  // namespace mpm::evaluation
