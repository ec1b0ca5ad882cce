// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mpm/estimator.hpp"

namespace mpm::evaluation {

/// A picture of the user's scene.
struct TunePicture {
  cv::Mat image;    ///< CV_8UC3
  cv::Mat truth{};  ///< CV_8U classes; needed for TuneOptions::loss
  int film = 0;     ///< pictures of one film are alike
};

/// The caller checks the ranges: 0 < agreement <= 100, loss >= 0, and no loss beside reuse.
struct TuneOptions {
  std::string model;                ///< a plain ViT
  EstimatorOptions segmenter{};     ///< without a reduction
  double agreement = 99;            ///< percent of the pixels that keep the label of the full model
  std::optional<double> loss{};     ///< instead of it: mIoU that may be lost, percentage points
  int void_label = 255;             ///< of the truth
  Reuse reuse{};                    ///< when on: the full model with it is tried as well, without a loss
  std::vector<cv::Mat> sequence{};  ///< for `reuse`: frames of a fixed camera that follow each other, CV_8UC3
  /// Called after each picture, with the number of those done and an estimate of all. False: stop.
  std::function<bool(int done, int estimate)> progress{};
};

/// A variant, measured on the pictures that the search did not use. The speed-up, the agreement and the loss have two
/// decimals, as they are shown: the choice is by these numbers.
struct TuneRow {
  Reduction variant;
  Reuse reuse{};                                  ///< on: measured on TuneOptions::sequence, its speed-up is of sums
  double ms = 0;                                  ///< the full model's, median over the pictures, divided by speed_up
  double speed_up = 1;                            /**< full model's time / this one's, median over the pictures */
  double tokens = 0;                              ///< at the end, mean
  double agreement = 100, agreement_low = 100;    ///< percent: mean, and the lower end of its 95 % interval
  std::optional<double> loss{};                   ///< of mIoU, percentage points; with TuneOptions::loss
  std::optional<double> loss_low{}, loss_high{};  ///< its 95 % interval, by bootstrap over the pictures
  bool passes = true;                             ///< meets what was asked for
  bool front = false;                             ///< no other row is faster and better
  cv::Mat example{};                              ///< CV_8U labels of TuneResult::example
};

struct TuneResult {
  std::vector<TuneRow> rows;  ///< the fastest first; the full model is one of them
  std::size_t chosen = 0;
  int tried = 0;                    ///< variants, also those that are in no row
  int searched = 0, held_back = 0;  ///< pictures
  cv::Mat example;                  ///< one of the pictures that the search did not use

  const TuneRow& choice() const { return rows[chosen]; }
};

constexpr int kMinTunePictures = 8;

/// Searches the family of reductions for the fastest one that meets `options`. First on a few pictures: how much each
/// method may merge, by bisection. Then the best of each method and some steps around them run on the other pictures,
/// interleaved with the full model, and the fastest that meets the options there is chosen; the full model where none
/// does. nullopt when `progress` stopped it. Throws mpm::Error for fewer than kMinTunePictures pictures (or frames,
/// with reuse) and for a model that is converted already or does not segment.
std::optional<TuneResult> tune(const std::vector<TunePicture>& pictures, const TuneOptions& options);

/// As the options of a command spell it.
std::string toString(const TuneRow& row);

/// Two or three sentences: what was chosen and why.
std::string explanation(const TuneResult& result, const TuneOptions& options);

/// The largest x in (0, 1] that passes, by `steps` halvings; nullopt when none of the tried ones does. What passes at x
/// is expected to pass below it.
std::optional<double> largestPassing(int steps, const std::function<bool(double x)>& passes);

}  // namespace mpm::evaluation
