// SPDX-License-Identifier: Apache-2.0
#include "evaluation/contradictions.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace mpm::evaluation {
namespace {

constexpr int kNearest = 3, kLeastOfLabel = 3;

}  // namespace

std::vector<Contradiction> findContradictions(const cv::Mat& features, const std::vector<int>& labels) {
  const int count = features.rows;
  CV_Assert(features.type() == CV_64F && static_cast<int>(labels.size()) == count);
  if (count == 0) return {};
  cv::Mat scaled, mean, deviation;
  cv::reduce(features, mean, 0, cv::REDUCE_AVG);
  scaled = features - cv::repeat(mean, count, 1);
  cv::reduce(scaled.mul(scaled), deviation, 0, cv::REDUCE_AVG);
  cv::sqrt(deviation, deviation);
  scaled /= cv::repeat(deviation + 1e-6, count, 1);

  const auto labelOf = [&](int i) { return labels[static_cast<std::size_t>(i)]; };
  std::vector<std::pair<double, Contradiction>> found;  // by the ratio of the distances
  for (int i = 0; i < count; ++i) {
    if (std::ranges::count(labels, labelOf(i)) < kLeastOfLabel) continue;
    std::vector<std::pair<double, int>> others;
    for (int k = 0; k < count; ++k)
      if (k != i) others.emplace_back(cv::norm(scaled.row(i), scaled.row(k)), k);
    std::ranges::sort(others);
    const auto differs = [&](const auto& other) { return labelOf(other.second) != labelOf(i); };
    const auto nearest = others.begin() + std::min(kNearest, static_cast<int>(others.size()));
    if (2 * std::count_if(others.begin(), nearest, differs) <= kNearest) continue;
    const auto like = std::ranges::find_if(others, differs), own = std::ranges::find_if_not(others, differs);
    found.emplace_back(like->first / std::max(own->first, std::numeric_limits<double>::min()),
                       Contradiction{i, like->second});
  }
  std::ranges::stable_sort(found, {}, &std::pair<double, Contradiction>::first);
  std::vector<Contradiction> all;
  for (const auto& [ratio, one] : found) all.push_back(one);
  return all;
}

}  // namespace mpm::evaluation
