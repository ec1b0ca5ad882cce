// SPDX-License-Identifier: Apache-2.0
// The work that scripts/arm64.sh counts: kernels_work PRECISION TIMES ROWS IN OUT runs a linear layer, and
// kernels_work PRECISION TIMES ROWS HEADS a block of a ViT with heads of 64 columns.
#include <cstdlib>

#include "kernels/block_weights.h"

int main(int argc, char** argv) {
  using namespace mpm;
  const auto number = [&](int i) { return std::atoi(argv[i]); };
  if (argc < 5) return 2;
  const Precision precision = parsePrecision(argv[1]);
  const int times = number(2), rows = number(3);
  const int in = argc > 5 ? number(4) : 64 * number(4), out = argc > 5 ? number(5) : in;
  const test::Matrix x = test::Matrix::normal(rows, in, 1);
  test::Matrix y(rows, out);
  if (argc > 5) {
    const PackedLinear linear(test::Matrix::normal(out, in, 2).view(), nullptr, precision);
    for (int i = 0; i < times; ++i) linear.run(x.view(), y.view());
    return 0;
  }
  const test::BlockWeights weights(
      {.dim = in, .heads = number(4), .head_dim = 64, .hidden = 4 * in, .precision = precision});
  const TransformerBlock block(weights.spec());
  for (int i = 0; i < times; ++i)
    block.run({x.values.data(), 1, rows, in, &rows}, nullptr, {y.values.data(), 1, rows, in, &rows}, Serial());
}
