// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/measurement.h"
#include "mpm/estimator.hpp"

namespace mpm::evaluation {

/// The reductions that `mpm tune`, `mpm study` and the app compare, of those that the model can have: `mpm` before one
/// block or two; `gradual` and `tome` by a count that leaves both the same number of tokens, at three numbers;
/// `gradual` by similarity and `algm` by threshold, two each, whose tokens the content decides. Throws mpm::Error for a
/// model that is converted already or does not segment.
std::vector<Reduction> usualReductions(const std::string& model, const ReadOptions& options);

/// A reduction beside the full model, on the same pictures.
struct TuneRow {
  Reduction variant;
  double tokens = 0;  ///< at the end, mean
  AgainstFull against_full;
};

constexpr int kMinTunePictures = 8;
/// Throws mpm::Error for fewer.
void requireTunePictures(std::size_t pictures);

/// Unless a person says otherwise: at most so many pictures, and the least agreement, in percent.
constexpr int kTunePictures = 40;
constexpr double kTuneAgreement = 99;

/// The row to choose: of those whose agreement is at least `percent` by the lower end of its interval, the fastest.
/// Rows whose interval reaches up to its speed-up are as fast within noise, so of these the one that agrees most. The
/// full model, which has to be a row, always passes.
std::size_t fastestRow(const std::vector<TuneRow>& rows, double percent);

/// The full model and each of usualReductions() on the same pictures, by turns: the fastest first. `model`: as in
/// ReadOptions. `progress` is called after each picture with the number of runs done and of all; false: stop. nullopt
/// when it stopped. requireTunePictures().
std::optional<std::vector<TuneRow>> tuneRows(const std::string& model, EstimatorOptions options,
                                             const std::vector<cv::Mat>& pictures,
                                             const std::function<bool(int done, int all)>& progress);

}  // namespace mpm::evaluation
