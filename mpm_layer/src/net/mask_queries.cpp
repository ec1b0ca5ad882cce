// SPDX-License-Identifier: Apache-2.0
#include "net/mask_queries.h"

#include <algorithm>
#include <cmath>

#include "kernels/linear.h"

namespace mpm {

MaskQueries maskQueries(const ImageNet& net) {
  const bool masks_first = net.answer(0).dims == 4;
  const cv::Mat &masks = net.answer(masks_first ? 0 : 1), &classes = net.answer(masks_first ? 1 : 0);
  if (masks.dims != 4 || masks.depth() != CV_32F)
    throw Error("the model has no output of masks and one of classes: convert the original model again");
  const int queries = masks.size[1], count = net.info().classes + 1;
  net.requireSize(masks_first ? 1 : 0, static_cast<std::size_t>(queries) * count);
  return {{masks.ptr<float>(), queries, masks.size[2] * masks.size[3]},
          {classes.ptr<float>(), queries, count},
          {masks.size[2], masks.size[3]}};
}

std::vector<double> softmax(const float* logits, int count) {
  const double largest = static_cast<double>(*std::max_element(logits, logits + count));
  std::vector<double> shares(count);
  double total = 0;
  for (std::size_t c = 0; c < shares.size(); ++c)
    total += shares[c] = std::exp(static_cast<double>(logits[c]) - largest);
  for (double& share : shares) share /= total;
  return shares;
}

void maskQueryScores(MatrixView<const float> masks, MatrixView<const float> classes, const Parallel& parallel,
                     std::vector<float>& scores) {
  const int queries = masks.rows, pixels = masks.cols, count = classes.cols - 1;
  std::vector<float> shares(static_cast<std::size_t>(count) * queries);  // {count, queries}
  for (int q = 0; q < queries; ++q) {
    const std::vector<double> of_query = softmax(classes.row(q), classes.cols);
    for (int c = 0; c < count; ++c) shares[static_cast<std::size_t>(c) * queries + q] = static_cast<float>(of_query[c]);
  }
  const PackedLinear sum(MatrixView<const float>(shares.data(), count, queries), nullptr);
  scores.resize(static_cast<std::size_t>(pixels) * count);
  runPieces(parallel, pixels, PackedLinear::kMaxRows, [&](int begin, int end) {
    const int rows = end - begin;
    std::vector<float> present(static_cast<std::size_t>(rows) * queries);
    for (int q = 0; q < queries; ++q)
      for (int p = 0; p < rows; ++p)
        present[static_cast<std::size_t>(p) * queries + q] = 1 / (1 + std::exp(-masks.row(q)[begin + p]));
    sum.run({present.data(), rows, queries}, {scores.data() + static_cast<std::size_t>(begin) * count, rows, count});
  });
}

}  // namespace mpm
