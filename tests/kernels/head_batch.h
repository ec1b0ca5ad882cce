// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/elementwise.h"
#include "kernels/head_gradient.h"
#include "kernels/random.h"

namespace mpm::test {

/// Random pictures of a grid with four cells to the side of a token, a third of them without a class, and a head.
struct HeadBatch {
  struct Gradient {
    double loss;
    std::vector<float> values;
  };

  HeadBatch(HeadShape of, int grid_height, int grid_width, int count = 3)
      : shape(of), height(grid_height), width(grid_width), weights(normal(of.size(), 1, 0.4f)) {
    for (int c = 0; c < of.classes; ++c) class_weights.push_back(0.3f + 0.5f * static_cast<float>(c));
    for (int i = 0; i < of.dim; ++i) weights[i] += 1;
    const std::vector<float> ones(of.dim, 1.0f), zeros(ones.size());
    for (int p = 0; p < count; ++p) {
      const auto seed = static_cast<unsigned>(10 + p);
      tokens.push_back(Matrix::normal(height * width, of.dim, seed, 2));
      units.emplace_back(height * width, of.dim);
      mpm::norm(tokens.back().view(), {ones.data(), zeros.data(), 1e-5f}, units.back().view());
      std::mt19937 engine(seed);
      cells.emplace_back();
      for (int i = 0; i < 16 * height * width; ++i)
        cells.back().push_back(engine() % 3 == 0 ? std::uint8_t{255}
                                                 : static_cast<std::uint8_t>(engine() % of.classes));
    }
    for (std::size_t p = 0; p < units.size(); ++p)
      pictures.push_back({std::as_const(units[p]).view(), cells[p].data()});
  }

  Gradient gradient(const Parallel& parallel) const {
    Gradient found{0, std::vector<float>(shape.size())};
    HeadGradient of(shape, bilinearAxis(height, 4 * height), bilinearAxis(width, 4 * width), class_weights);
    found.loss = of(weights.data(), pictures, found.values.data(), parallel);
    return found;
  }

  HeadShape shape;
  int height, width;
  std::vector<float> weights, class_weights;
  std::vector<Matrix> tokens, units;
  std::vector<std::vector<std::uint8_t>> cells;
  std::vector<LabelledRows> pictures;
};

}  // namespace mpm::test
