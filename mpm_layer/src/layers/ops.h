// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/dnn.hpp>
#include <string>
#include <vector>

#include "mpm/options.hpp"

namespace mpm {

/// Constructors of the operators of docs/ops.md for cv::dnn::LayerFactory. Each operator has its own file.
cv::Ptr<cv::dnn::Layer> makePatchEmbed(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeTransformerBlock(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeWindowAttention(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeRotaryPositions(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeMergeTokens(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeTokenNorm(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeTokenLinear(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeClassTokens(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makePrependTokens(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeAddPositions(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeAddRows(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeKeepRows(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeMaskScores(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeRestoreTokens(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makePoolTokens(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeAttentionPool(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeSegmentLabels(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeSegmentLogits(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeMergeReport(cv::dnn::LayerParams& params);
// Operators of a head, in head/.
cv::Ptr<cv::dnn::Layer> makeActivate(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeEinsum(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeElementwise(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeGather(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeGridSample(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeNormalize(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeReduce(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeTake(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeTopK(cv::dnn::LayerParams& params);
cv::Ptr<cv::dnn::Layer> makeWindow(cv::dnn::LayerParams& params);

/// What an operator does in a net that reuses rows of earlier frames.
enum class RowReuse {
  kNoRows,   ///< it has no rows of tokens, or reads their states only
  kSource,   ///< it makes the rows, only those that changed
  kEachRow,  ///< it works row by row, or keeps what it needs of other rows
  kAllRows,  ///< it needs all rows: KeepRows goes in front of it
  kRefused,  ///< rows cannot be reused behind it
};
RowReuse rowReuseOf(const std::string& op);

/// ReadOptions::rule for a layer that merges rows by it; does nothing to others.
void setRule(cv::dnn::Layer& layer, const MergeFunction& rule);

/// Names of all operators, such as "PatchEmbed".
std::vector<std::string> operatorNames();

}  // namespace mpm
