// SPDX-License-Identifier: Apache-2.0
#include "net/inspect.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mpm {

std::vector<float> bestClassShare(MatrixView<const float> scores) {
  std::vector<float> result(scores.rows);
  for (int i = 0; i < scores.rows; ++i) {
    const float* row = scores.row(i);
    const float best = *std::max_element(row, row + scores.cols);
    float sum = 0;
    for (int c = 0; c < scores.cols; ++c) sum += std::exp(row[c] - best);
    result[i] = 1 / sum;
  }
  return result;
}

std::vector<float> pairSimilarity(MatrixView<const float> tokens, const std::vector<int>& before,
                                  const std::vector<int>& after) {
  struct Pair {
    int first = -1, second = -1;  // rows of `tokens`
    float cosine = std::numeric_limits<float>::quiet_NaN();
  };
  std::vector<Pair> pairs(after.empty() ? 0 : *std::max_element(after.begin(), after.end()) + 1);
  for (std::size_t i = 0; i < after.size(); ++i) {
    Pair& pair = pairs[after[i]];
    if (pair.first < 0)
      pair.first = before[i];
    else if (before[i] != pair.first)
      pair.second = before[i];
  }
  for (Pair& pair : pairs) {
    if (pair.second < 0) continue;
    const float *a = tokens.row(pair.first), *b = tokens.row(pair.second);
    double dot = 0, aa = 0, bb = 0;
    for (int c = 0; c < tokens.cols; ++c) {
      dot += static_cast<double>(a[c]) * b[c];
      aa += static_cast<double>(a[c]) * a[c];
      bb += static_cast<double>(b[c]) * b[c];
    }
    pair.cosine = aa > 0 && bb > 0 ? static_cast<float>(dot / std::sqrt(aa * bb)) : 0;
  }
  std::vector<float> result(after.size());
  std::transform(after.begin(), after.end(), result.begin(), [&](int cluster) { return pairs[cluster].cosine; });
  return result;
}

}  // namespace mpm
