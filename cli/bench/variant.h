// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/quantiles.h"
#include "cli/verb_options.h"
#include "evaluation/flop_counter.h"
#include "evaluation/numbers.h"
#include "evaluation/statistics.h"
#include "mpm/estimator.hpp"
#include "mpm/read_net.hpp"

namespace mpm::cli {

struct BenchArguments {
  std::string model, image;
  VariantOptions variants;
  EstimatorOptions options;  ///< of every variant
  Night night;
  int batch = 1, rounds = 20, warm_up = 3;
  bool json = false, board = false, head = false;

  /// Successive frames instead of one image.
  bool reuses() const { return !variants.reuses.empty(); }
  /// Rounds before those that count. The first frame of a sequence is computed in full and never counts.
  int warmUp() const { return std::max(warm_up, reuses() ? 1 : 0); }
};

/// What all variants compute in a round.
struct Round {
  cv::Mat images;   ///< {batch, 3, H, W}, normalised
  cv::Mat picture;  ///< of a sequence: the frame as it is
  std::optional<double> seconds{};
};

/// A row of the table, and the net that is measured.
class Variant {
 public:
  Variant(const BenchArguments& arguments, const VariantOptions::Variant& variant);

  void run(const Round& round, bool measured);

  /// The speed of products of its precision: the best of all calls.
  void measurePeak();

  double median() const { return quantile(ms, 0.5); }

  /// Frees the net, whose memory is needed for what comes.
  void unload();

  std::string name;
  Reuse reuse;
  Reduction reduction;
  std::string precision, note;  ///< `note`: why it failed, or shares
  bool alive = true;
  std::vector<double> ms;
  std::map<std::string, std::vector<double>> stages;
  std::vector<OperatorTime> head;  ///< with --head: the sums of all rounds
  double peak_gflops = 0;          ///< 0: not known
  Json tokens;                     ///< of the last run: per image, rows at the start and after each insertion
  cv::Mat labels;                  ///< of the last frame of a sequence; else empty
  evaluation::PerImage rows;       ///< share that was computed, with reuse
  evaluation::PerImage agreement;  ///< percent of the labels of the full model
  evaluation::PerImage gflop;

 private:
  template <class Work>
  void tried(Work work);
  void load(const BenchArguments& arguments);
  void runNet(const cv::Mat& images, bool measured);
  void runFrame(const Round& round, bool measured);
  void keep(double taken, const Json& times);
  void addHead(const std::vector<OperatorTime>& times);

  bool with_head_;
  ConvertOptions convert_;
  std::optional<evaluation::FlopCounter> flops_;
  LoadedNet loaded_;
  std::unique_ptr<Estimator> estimator_;  // of a sequence, instead of the net
  std::vector<cv::String> outputs_;
  std::vector<cv::Mat> blobs_;  // their memory is used again: new pages take longer than the copy
};

}  // namespace mpm::cli
