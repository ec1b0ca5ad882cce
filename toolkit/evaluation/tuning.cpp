// SPDX-License-Identifier: Apache-2.0
#include "evaluation/tuning.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/number_text.h"
#include "base/quantiles.h"
#include "base/reduction_defaults.h"
#include "evaluation/confusion_matrix.h"
#include "evaluation/statistics.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"

namespace mpm::evaluation {
namespace {

constexpr int kSteps = 5;               // of a bisection
constexpr double kMaxMerged = 0.85;     // share of the tokens that a count may merge in all blocks together
constexpr double kSimilaritySpan = 64;  // similarities from 1 - 0.5 down to 1 - 0.5 / 64 apart from 1
const std::vector<double> kLadder = {0.7, 0.85, 1.12};  // of the amount that the bisection found

/// Two decimals, never more than the value.
double floored(double value) { return std::floor(value * 100 + 1e-6) / 100; }

struct Stopped {};

/// One method whose amount of merging is a number in (0, 1].
struct Branch {
  std::function<Reduction(double amount)> variant;
  double amount = 0;    // the largest that passes; 0: none
  double speed_up = 0;  // of it, on the pictures of the search
};

/// Similarities near 1 matter most, so the amount is logarithmic in the distance from 1.
double similarityOf(double amount) { return std::round((1 - 0.5 * std::pow(kSimilaritySpan, amount - 1)) * 1e4) / 1e4; }

std::vector<Branch> branchesOf(const ModelInfo& model) {
  std::vector<Branch> branches;
  const auto counted = [&](const Reduction& reduction, int blocks) {
    const double most = kMaxMerged * model.tokens() / blocks;
    branches.push_back({[reduction, most](double amount) {
      Reduction one = reduction;
      one.count = std::max(1, static_cast<int>(amount * most));
      return one;
    }});
  };
  std::vector<int> ranges;
  for (const int count : {model.blocks / 2, 2 * model.blocks / 3, model.blocks})
    if (count > 0 && (ranges.empty() || count > ranges.back())) ranges.push_back(count);
  for (const int count : ranges) counted({.method = ReductionMethod::kGradual, .blocks = firstBlocks(count)}, count);
  counted({.method = ReductionMethod::kTome}, model.blocks);
  branches.push_back({[blocks = model.blocks](double amount) {
    return Reduction{
        .method = ReductionMethod::kGradual, .blocks = firstBlocks(blocks), .similarity = similarityOf(amount)};
  }});
  branches.push_back(
      {[](double amount) { return Reduction{.method = ReductionMethod::kAlgm, .similarity = similarityOf(amount)}; }});
  return branches;
}

/// The schedule of the paper and later ones, which merge less.
std::vector<Reduction> schedulesOf(int blocks) {
  const int early = blocks / 6, middle = 5 * blocks / 12, late = 2 * blocks / 3;
  std::vector<Reduction> variants;
  for (const Schedule& schedule : {Schedule{early, middle}, {middle, late}, {middle}, {late}}) {
    if (std::adjacent_find(schedule.begin(), schedule.end(), std::greater_equal<>()) != schedule.end()) continue;
    for (const std::optional<Attention> attention : {std::optional<Attention>(), {Attention::kProportional}}) {
      const Reduction variant = mpmBefore(schedule, attention);
      if (std::ranges::find(variants, variant) == variants.end()) variants.push_back(variant);
    }
  }
  return variants;
}

/// The quality of a variant on some pictures.
struct Quality {
  PerImage agreement, tokens;  // percent, at the end: of each picture
  std::vector<double> ms, ratio;
  cv::Mat example;                 // labels of the part's picture in the middle
  std::vector<PairCounts> counts;  // of each picture
};

class Tuner {
 public:
  Tuner(const std::vector<TunePicture>& pictures, const TuneOptions& options)
      : options_(options), model_(infoOf(options)), full_(estimator(kFullModel)) {
    // Every k-th picture, so that both parts show the whole time that the pictures do.
    const std::size_t count = pictures.size();
    const std::size_t searched =
        options.loss ? std::clamp<std::size_t>(count / 3, 4, 40) : std::clamp<std::size_t>(count / 5, 4, 10);
    for (std::size_t i = 0; i < count; ++i) {
      const bool search = isInSpread(static_cast<int>(i), static_cast<int>(count), static_cast<int>(searched));
      (search ? search_ : held_back_).add(pictures[i]);
    }
    film_ = blocksOf(held_back_.films);
    const auto is_void = [&](const cv::Mat& truth) { return cv::countNonZero(truth != options.void_label) == 0; };
    for (const Part* part : {&search_, &held_back_})
      if (options.loss && std::ranges::all_of(part->truths, is_void))
        throw Error("no pixel of " + counted(part->size(), "picture") + " has a true label: label more of them");
  }

  std::optional<TuneResult> run() {
    try {
      return search();
    } catch (const Stopped&) {
      return std::nullopt;
    }
  }

 private:
  struct Part {
    std::vector<cv::Mat> images, truths;
    std::vector<Estimate> full_results;
    std::vector<int> films;
    Quality full;

    void add(const TunePicture& picture) {
      images.push_back(picture.image);
      truths.push_back(picture.truth);
      films.push_back(picture.film);
    }
    int size() const { return static_cast<int>(images.size()); }
    std::size_t example() const { return images.size() / 2; }
  };

  static ModelInfo infoOf(const TuneOptions& options) {
    const ModelInfo info = readModelInfo(options.model, options.segmenter.read.convert.with(kFullModel));
    if (info.converted) throw Error("'" + options.model + "' is converted already: name the plain ViT it was made of");
    if (!info.segments()) throw Error("'" + options.model + "' does not segment: nothing to compare");
    return info;
  }

  Estimator estimator(const Reduction& variant, const Reuse& reuse = {}) const {
    EstimatorOptions options = options_.segmenter;
    options.task = Task::kSemantic;
    options.read.convert = options.read.convert.with(variant);
    options.reuse = reuse;
    return Estimator(options_.model, options);
  }

  void step() {
    ++done_;
    if (options_.progress && !options_.progress(done_, std::max(done_, estimate_))) throw Stopped();
  }

  /// Measures variants on a part. They take turns on each image, so other work of the machine slows all alike; with
  /// `beside_full` the full model takes part. Nets that do not fit into 2 GB together run one group after another.
  std::vector<Quality> measure(const std::vector<Reduction>& variants, Part& part, bool beside_full) {
    std::vector<Quality> qualities(variants.size());
    const double nets_in_2_gb = 2e9 / (4.0 * static_cast<double>(model_.parameters));
    const auto group = static_cast<std::size_t>(std::max(1.0, nets_in_2_gb - 1));
    std::size_t first = 0;
    do {
      std::vector<Estimator> nets;
      for (std::size_t v = first; v < std::min(variants.size(), first + group); ++v)
        nets.push_back(estimator(variants[v]));
      for (Estimator& net : nets) net.estimate(part.images.front());  // packs the weights
      for (std::size_t i = 0; i < part.images.size(); ++i) {
        double full_ms = 0;
        if (beside_full) {
          const Estimate full = full_.estimate(part.images[i]);
          full_ms = full.ms.total;
          if (part.full_results.size() == i) {
            part.full_results.push_back(full);
            add(part, i, full, full_ms, part.full);
          }
          if (first == 0) step();
        }
        // In another order for each image: whatever follows the full model finds its data in the caches.
        for (std::size_t n = 0; n < nets.size(); ++n) {
          const std::size_t v = (n + i) % nets.size();
          add(part, i, nets[v].estimate(part.images[i]), full_ms, qualities[first + v]);
          step();
        }
      }
      first += group;
    } while (first < variants.size());
    return qualities;
  }

  void add(const Part& part, std::size_t image, const Estimate& result, double full_ms, Quality& quality) const {
    quality.agreement.add(agreementPercent(result, part.full_results[image]).value());
    quality.ms.push_back(result.ms.total);
    quality.ratio.push_back(full_ms / result.ms.total);
    quality.tokens.add(result.tokens.back());
    if (image == part.example()) quality.example = result.labels;
    if (!options_.loss) return;
    ConfusionMatrix matrix(model_.classes, options_.void_label);
    matrix.add(part.truths[image], result.labels);
    quality.counts.push_back(matrix.pairs());
  }

  /// Over these pictures of the part.
  double loss(const Part& part, const Quality& quality, const std::vector<int>& pictures) const {
    ConfusionMatrix full(model_.classes, -1), own = full;
    for (const int picture : pictures) {
      full.add(part.full.counts[static_cast<std::size_t>(picture)]);
      own.add(quality.counts[static_cast<std::size_t>(picture)]);
    }
    return 100 * (full.meanIou() - own.meanIou());
  }
  double loss(const Part& part, const Quality& quality) const {
    std::vector<int> every(part.images.size());
    std::iota(every.begin(), every.end(), 0);
    return loss(part, quality, every);
  }

  /// Whether a variant is likely to pass on the pictures that are held back.
  bool seemsToPass(const Quality& quality) const {
    if (options_.loss) return loss(search_, quality) <= *options_.loss;
    const double blocks = film_.empty() ? 1 : film_.back() + 1;
    return quality.agreement.mean() - 2 * quality.agreement.deviation().value_or(0) / std::sqrt(blocks) >=
           options_.agreement;
  }

  /// The full model with reuse, in turns with the full model. A key frame costs more than the others, so the speed-up
  /// is that of all frames together.
  TuneRow reuseRow() {
    Estimator reusing = estimator(kFullModel, options_.reuse);
    reusing.estimate(options_.sequence.front());  // packs the weights
    reusing.reset();
    PerImage agreement;
    double full_ms = 0, ms = 0;
    for (const cv::Mat& image : options_.sequence) {
      const Estimate whole = full_.estimate(image), part = reusing.estimate(image);
      if (&image != &options_.sequence.front()) agreement.add(agreementPercent(part, whole).value());  // it is exact
      full_ms += whole.ms.total;
      ms += part.ms.total;
      step();
    }
    const std::vector<int> blocks = blocksOf(std::vector<int>(agreement.values.size()));
    TuneRow row{.variant = kFullModel,
                .reuse = options_.reuse,
                .speed_up = std::max(0.01, floored(full_ms / ms)),
                .tokens = static_cast<double>(model_.tokens()),
                .agreement = floored(agreement.mean()),
                .agreement_low = floored(agreement.mean() - halfInterval(agreement.values, blocks).value_or(100)),
                .example = held_back_.full.example};
    row.ms = quantile(held_back_.full.ms, 0.5) / row.speed_up;
    row.passes = row.agreement_low >= options_.agreement;
    ++tried_;
    return row;
  }

  TuneRow row(const Reduction& variant, const Quality& quality) const {
    TuneRow row{.variant = variant,
                .speed_up = std::max(0.01, floored(quantile(quality.ratio, 0.5))),
                .agreement = quality.agreement.mean(),
                .example = quality.example};
    row.ms = quantile(held_back_.full.ms, 0.5) / row.speed_up;
    row.tokens = quality.tokens.mean();
    row.agreement_low = floored(row.agreement - halfInterval(quality.agreement.values, film_).value_or(100));
    row.agreement = floored(row.agreement);
    if (options_.loss) {
      row.loss = 0 - floored(-loss(held_back_, quality));
      const auto [low, high] = interval(bootstrap(
          held_back_.size(), [&](const std::vector<int>& pictures) { return loss(held_back_, quality, pictures); }));
      row.loss_low = floored(low);
      row.loss_high = 0 - floored(-high);
    }
    row.passes = options_.loss ? *row.loss <= *options_.loss : row.agreement_low >= options_.agreement;
    return row;
  }

  /// The amount of each method, on few pictures.
  void searchAmounts(std::vector<Branch>& branches) {
    measure({}, search_, true);
    for (Branch& branch : branches) {
      try {
        Reduction last;
        const auto amount = largestPassing(kSteps, [&](double x) {
          const Reduction variant = branch.variant(x);
          if (variant == last) return false;  // finer than its number
          last = variant;
          ++tried_;
          return seemsToPass(measure({variant}, search_, false).front());
        });
        branch.amount = amount.value_or(0);
      } catch (const Error&) {  // a reduction that this model or device lacks
        branch.amount = 0;
      }
    }
    std::erase_if(branches, [](const Branch& branch) { return branch.amount == 0; });
    std::vector<Reduction> best;
    for (const Branch& branch : branches) best.push_back(branch.variant(branch.amount));
    const std::vector<Quality> race = measure(best, search_, true);
    for (std::size_t b = 0; b < branches.size(); ++b) branches[b].speed_up = quantile(race[b].ratio, 0.5);
    std::ranges::sort(branches, [](const Branch& a, const Branch& b) { return a.speed_up > b.speed_up; });
  }

  TuneResult search() {
    const bool gpu = options_.segmenter.read.device != "cpu";  // Mutual Pair Merging only
    std::vector<Branch> branches = gpu ? std::vector<Branch>() : branchesOf(model_);
    const std::vector<Reduction> schedules = schedulesOf(model_.blocks);
    const int tries = static_cast<int>(branches.size()) * kSteps;
    constexpr int kExpectedRows = 16;
    estimate_ = search_.size() * (8 + tries + static_cast<int>(schedules.size())) + held_back_.size() * kExpectedRows;
    searchAmounts(branches);

    // The schedule of the paper is always in the table.
    std::vector<Reduction> last = {schedules.front()};
    for (const Reduction& schedule : schedules) {
      ++tried_;
      if (schedule != last.front() && seemsToPass(measure({schedule}, search_, false).front()))
        last.push_back(schedule);
    }
    const auto insert = [&](const Reduction& variant) {
      if (std::ranges::find(last, variant) != last.end()) return;
      ++tried_;
      last.push_back(variant);
    };
    for (std::size_t b = 0; b < branches.size(); ++b) {
      last.push_back(branches[b].variant(branches[b].amount));
      for (const double step : kLadder)
        if (b < 2 && branches[b].amount * step <= 1) insert(branches[b].variant(branches[b].amount * step));
    }
    const int sequence = options_.reuse.on ? static_cast<int>(options_.sequence.size()) : 0;
    estimate_ = done_ + held_back_.size() * static_cast<int>(last.size() + 1) + sequence;
    TuneResult result;
    result.searched = search_.size();
    result.held_back = held_back_.size();
    result.example = held_back_.images[held_back_.example()];
    const std::vector<Quality> qualities = measure(last, held_back_, true);
    for (std::size_t i = 0; i < last.size(); ++i) result.rows.push_back(row(last[i], qualities[i]));
    TuneRow full = row(kFullModel, held_back_.full);
    full.speed_up = 1;
    result.rows.push_back(full);
    if (sequence > 0) result.rows.push_back(reuseRow());
    result.tried = tried_;
    finish(result);
    return result;
  }

  void finish(TuneResult& result) const {
    // Sorted by index: GCC 12 warns of an uninitialised optional where it moves rows.
    std::vector<std::size_t> order(result.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rank = [&](std::size_t i) {
      const TuneRow& row = result.rows[i];
      return std::pair(row.speed_up, row.loss ? -*row.loss : row.agreement_low);
    };
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) { return rank(i) > rank(j); });
    std::vector<TuneRow> rows;
    for (const std::size_t i : order) rows.push_back(result.rows[i]);
    result.rows.swap(rows);
    std::vector<TradePoint> points;
    for (const TuneRow& row : result.rows) points.push_back({-row.speed_up, row.loss ? -*row.loss : row.agreement_low});
    const std::vector<bool> front = paretoFront(points);
    for (std::size_t i = 0; i < front.size(); ++i) result.rows[i].front = front[i];
    // The full model passes, so there is one.
    const auto chosen = std::ranges::find_if(result.rows, &TuneRow::passes);
    result.chosen = static_cast<std::size_t>(chosen - result.rows.begin());
  }

  const TuneOptions& options_;
  ModelInfo model_;
  Estimator full_;
  Part search_, held_back_;
  std::vector<int> film_;  // of the pictures held back: blocks of the interval
  int done_ = 0, estimate_ = 0, tried_ = 0;
};

}  // namespace

std::optional<double> largestPassing(int steps, const std::function<bool(double x)>& passes) {
  double low = 0, high = 1;
  for (int step = 0; step < steps; ++step) {
    const double middle = (low + high) / 2;
    (passes(middle) ? low : high) = middle;
  }
  return low > 0 ? std::optional(low) : std::nullopt;
}

std::optional<TuneResult> tune(const std::vector<TunePicture>& pictures, const TuneOptions& options) {
  if (static_cast<int>(pictures.size()) < kMinTunePictures)
    throw Error("tuning needs at least " + std::to_string(kMinTunePictures) + " pictures, not " +
                std::to_string(pictures.size()));
  if (options.reuse.on && static_cast<int>(options.sequence.size()) < kMinTunePictures)
    throw Error("reuse needs at least " + std::to_string(kMinTunePictures) + " frames that follow each other, not " +
                std::to_string(options.sequence.size()));
  return Tuner(pictures, options).run();
}

std::string toString(const TuneRow& row) {
  return mpm::toString(row.variant) + (row.reuse.on ? " --reuse " + mpm::toString(row.reuse) : "");
}

std::string explanation(const TuneResult& result, const TuneOptions& options) {
  const TuneRow& best = result.choice();
  const std::string wanted =
      options.loss ? "loses at most " + fixed(options.loss, 2) + " mIoU"
                   : "keeps the full model's label on at least " + fixed(options.agreement, 2) + " % of the pixels";
  const auto quality = [&](const TuneRow& row) {
    const std::string agrees = fixed(row.agreement, 2) + " % of the labels are the full model's (95 % interval from " +
                               fixed(row.agreement_low, 2) + " %)";
    return row.loss ? "it loses " + fixed(row.loss, 2) + " mIoU (95 % interval " + fixed(row.loss_low, 2) + " to " +
                          fixed(row.loss_high, 2) + ") and " + agrees
                    : agrees;
  };
  const std::string on = " on " + counted(result.held_back, "picture") + " that the search did not use";
  const std::string in_a_row =
      " on " + counted(static_cast<std::int64_t>(options.sequence.size()), "frame") + " that follow each other";
  if (best.variant == kFullModel && !best.reuse.on) {
    const std::string none = "None of " + counted(result.tried, "reduction") +
                             " that were tried is faster than the full model and " + wanted +
                             ", so the full model stays.";
    const TuneRow& fastest = result.rows.front();
    if (fastest.variant == kFullModel && !fastest.reuse.on) return none;
    return none + " The fastest was " + toString(fastest) + ", " + fixed(fastest.speed_up, 2) +
           " times as fast:" + (fastest.reuse.on ? in_a_row : on) + " " + quality(fastest) + ".";
  }
  return "Of the " + counted(static_cast<std::int64_t>(result.rows.size()), "row") + " of the table, " +
         toString(best) + " is the fastest that " + wanted + ": " + fixed(best.ms, 1) + " ms per picture, " +
         fixed(best.speed_up, 2) + " times as fast as the full model. That was measured" +
         (best.reuse.on ? in_a_row : on) + ", where " + quality(best) + "." +
         (best.reuse.on ? " No file holds it: give 'mpm run' and 'mpm monitor' the option --reuse " +
                              mpm::toString(best.reuse) + "."
                        : "");
}

}  // namespace mpm::evaluation
