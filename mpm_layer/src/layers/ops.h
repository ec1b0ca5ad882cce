// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/dnn.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpm {

using LayerPtr = cv::Ptr<cv::dnn::Layer>;
using LayerMaker = LayerPtr(cv::dnn::LayerParams& params);

/// Constructors of the operators of docs/ops.md for cv::dnn::LayerFactory.
LayerMaker makePatchEmbed, makeTransformerBlock, makeWindowAttention, makeRotaryPositions, makeMergeTokens,
    makeTokenNorm, makeTokenLinear, makeClassTokens, makePrependTokens, makeAddPositions, makeAddRows, makeKeepRows,
    makeMaskScores, makeRestoreTokens, makePoolTokens, makeAttentionPool, makeSegmentLabels, makeSegmentLogits,
    makeMergeReport;
// Operators of a head, in head/.
LayerMaker makeActivate, makeConcat, makeConvolve, makeEinsum, makeElementwise, makeGather, makeGridSample,
    makeNormalize, makeReduce, makeReshape, makeResize, makeSoftmax, makeTopK, makeTranspose, makeWindow;

/// The role of an operator in a net that reuses rows of earlier frames.
enum class RowReuse {
  kNoRows,   ///< it has no rows of tokens, or reads their states only
  kSource,   ///< it makes the rows, only those that changed
  kEachRow,  ///< it works row by row, or keeps what it needs of other rows
  kAllRows,  ///< it needs all rows: KeepRows goes in front of it
  kRefused,  ///< rows cannot be reused behind it
};
RowReuse rowReuseOf(const std::string& op);

/// Where a Transpose by `axes` only lets two neighbouring runs of axes change places: the first axes of both. Else
/// nothing.
std::optional<std::pair<std::size_t, std::size_t>> movedRuns(const std::vector<int>& axes);

/// Names of all operators, such as "PatchEmbed".
std::vector<std::string> operatorNames();

}  // namespace mpm
