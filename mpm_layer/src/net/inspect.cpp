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

void toProbabilities(cv::Mat& scores, bool logits, const Parallel& parallel) {
  const int classes = scores.size[0], width = scores.size[2];
  parallel.run(scores.size[1], [&](int y) {
    thread_local std::vector<float> best, sum;
    best.assign(width, -std::numeric_limits<float>::infinity());
    sum.assign(width, 0);
    for (int c = 0; c < classes; ++c)
      for (int x = 0; x < width; ++x) best[x] = std::max(best[x], scores.ptr<float>(c, y)[x]);
    for (int c = 0; c < classes; ++c) {
      float* const row = scores.ptr<float>(c, y);
      for (int x = 0; x < width; ++x) sum[x] += row[x] = logits ? std::exp(row[x] - best[x]) : row[x];
    }
    for (int c = 0; c < classes; ++c)
      for (int x = 0; x < width; ++x) scores.ptr<float>(c, y)[x] /= sum[x];
  });
}

std::vector<float> pairSimilarity(MatrixView<const float> tokens, const std::vector<int>& before,
                                  const std::vector<int>& after) {
  struct Cluster {
    std::vector<int> rows;  // of `tokens`
    float cosine = std::numeric_limits<float>::quiet_NaN();
  };
  std::vector<Cluster> clusters(after.empty() ? 0 : *std::max_element(after.begin(), after.end()) + 1);
  for (std::size_t i = 0; i < after.size(); ++i) {
    std::vector<int>& rows = clusters[after[i]].rows;
    if (std::find(rows.begin(), rows.end(), before[i]) == rows.end()) rows.push_back(before[i]);
  }
  for (auto& [rows, cosine] : clusters) {
    if (rows.size() < 2) continue;
    // |u1 + ... + um|^2 of directions u holds every pair twice, and the square of each direction.
    std::vector<double> sum(tokens.cols);
    double directions = 0, squares = 0;
    for (const int row : rows) {
      const float* x = tokens.row(row);
      double xx = 0;
      for (int c = 0; c < tokens.cols; ++c) xx += static_cast<double>(x[c]) * x[c];
      if (xx <= 0) continue;  // not similar to any other
      directions += 1;
      for (int c = 0; c < tokens.cols; ++c) sum[c] += x[c] / std::sqrt(xx);
    }
    for (const double value : sum) squares += value * value;
    const auto count = static_cast<double>(rows.size());
    cosine = static_cast<float>((squares - directions) / (count * (count - 1)));
  }
  std::vector<float> result(after.size());
  std::transform(after.begin(), after.end(), result.begin(), [&](int cluster) { return clusters[cluster].cosine; });
  return result;
}

}  // namespace mpm
