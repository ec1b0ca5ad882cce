// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear.h"
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Sums of products of two tensors, each letter of the equation an axis: ONNX's MatMul and Einsum. A side of 1 is
/// repeated.
class EinsumLayer final : public HeadLayer {
 public:
  explicit EinsumLayer(const cv::dnn::LayerParams& params) : HeadLayer(params) {
    const std::string equation = params.get<cv::String>("equation", "");
    const std::size_t comma = equation.find(','), arrow = equation.find("->");
    expect(comma < arrow && arrow != std::string::npos, "has the equation '" + equation + "', expected 'ab,bc->ac'");
    axes_.operand[0] = equation.substr(0, comma);
    axes_.operand[1] = equation.substr(comma + 1, arrow - comma - 1);
    axes_.out = equation.substr(arrow + 2);
    for (const std::string& part : {axes_.operand[0], axes_.operand[1], axes_.out}) {
      for (std::size_t i = 0; i < part.size(); ++i)
        expect(part.find(part[i], i + 1) == std::string::npos, "has the letter '" + part.substr(i, 1) + "' twice");
    }
    // Where each letter is decides what it stands for.
    for (const char letter : axes_.operand[0] + axes_.operand[1]) {
      const bool left = has(axes_.operand[0], letter), right = has(axes_.operand[1], letter),
                 kept = has(axes_.out, letter);
      std::string& group = !kept ? axes_.summed : left && right ? axes_.batch : left ? axes_.rows : axes_.columns;
      if (!has(group, letter)) group += letter;
    }
    for (const char letter : axes_.out)
      expect(has(axes_.operand[0], letter) || has(axes_.operand[1], letter), "has an axis that no operand has");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shapes from = operands(inputs, constants);
    expect(from.size() == 2, "has " + std::to_string(from.size()) + " operands, expected 2");
    expectFitting(from);
    return {axes_.sides(axes_.out, from)};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    return device.einsum(axes_, constantOperands(constants));
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Blobs from = operands(inputs);
    const Shapes shapes = {shapeOf(from[0]), shapeOf(from[1])};
    const std::vector<std::size_t> out_strides = stridesOf(shapeOf(outputs[0]));
    const auto places = [&](const std::string& letters, const std::string& of,
                            const std::vector<std::size_t>& strides) {
      std::vector<std::size_t> steps;
      for (const char letter : letters) steps.push_back(has(of, letter) ? strides[of.find(letter)] : 0);
      return placesOf(axes_.sides(letters, shapes), steps);
    };
    Side operand[2];
    for (std::size_t k = 0; k < 2; ++k) {
      const std::string& own = k == 0 ? axes_.rows : axes_.columns;
      const std::vector<std::size_t> strides = broadcastStrides(shapes[k], shapes[k].size());
      operand[k] = {from[k].ptr<float>(), places(axes_.batch, axes_.operand[k], strides),
                    places(own, axes_.operand[k], strides), places(axes_.summed, axes_.operand[k], strides),
                    places(own, axes_.out, out_strides)};
    }
    const std::vector<std::size_t> images = places(axes_.batch, axes_.out, out_strides);
    // The smaller operand becomes the packed weights, tiles of the larger one its input.
    const bool swapped = operand[0].rows.size() >= operand[1].rows.size();
    const Side &weights = operand[swapped ? 1 : 0], &x = operand[swapped ? 0 : 1];
    const std::size_t depth = x.sums.size(), height = weights.rows.size();
    const auto matrix = [](std::vector<float>& values, std::size_t rows, std::size_t cols) {
      values.resize(rows * cols);
      return MatrixView<float>(values.data(), static_cast<int>(rows), static_cast<int>(cols));
    };
    for (std::size_t i = 0; i < images.size(); ++i) {
      const MatrixView<float> packed = matrix(packed_, height, depth);
      weights.gather(i, 0, packed);
      const PackedLinear linear(packed, nullptr);
      float* const y = outputs[0].ptr<float>() + images[i];
      runPieces(parallel_, x.rows.size(), PackedLinear::kMaxRows, [&](std::size_t begin, std::size_t end) {
        const std::size_t rows = end - begin;
        std::vector<float> in, out;
        const MatrixView<float> tile = matrix(in, rows, depth), products = matrix(out, rows, height);
        x.gather(i, begin, tile);
        linear.run(tile, products);
        for (std::size_t w = 0; w < height; ++w)
          for (std::size_t r = 0; r < rows; ++r) y[weights.out[w] + x.out[begin + r]] = products.data[r * height + w];
      });
    }
  }

 private:
  /// One operand as matrices {rows, sums}, one per entry of the batch: places in memory of each.
  struct Side {
    const float* data = nullptr;
    std::vector<std::size_t> batch, rows, sums;
    std::vector<std::size_t> out;  ///< of the rows, in the result

    /// Rows from `begin` on, as many as `to` has.
    void gather(std::size_t image, std::size_t begin, MatrixView<float> to) const {
      const float* const from = data + batch[image];
      const auto count = static_cast<std::size_t>(to.rows), depth = sums.size();
      if (depth > 1 && sums[1] == 1) {
        for (std::size_t r = 0; r < count; ++r)
          for (std::size_t k = 0; k < depth; ++k) to.data[r * depth + k] = from[rows[begin + r] + sums[k]];
      } else {  // neighbours in memory are rows then, for example pixels
        for (std::size_t k = 0; k < depth; ++k)
          for (std::size_t r = 0; r < count; ++r) to.data[r * depth + k] = from[rows[begin + r] + sums[k]];
      }
    }
  };

  static bool has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

  void expectFitting(const Shapes& operands) const {
    for (std::size_t k = 0; k < 2; ++k) {
      expect(
          operands[k].size() == axes_.operand[k].size(),
          "expects an operand of rank " + std::to_string(axes_.operand[k].size()) + ", got " + shapeText(operands[k]));
    }
    for (std::size_t i = 0; i < operands[0].size(); ++i) {
      const std::size_t other = axes_.operand[1].find(axes_.operand[0][i]);
      if (other == std::string::npos) continue;
      const int side = operands[0][i], there = operands[1][other];
      expect(side == there || side == 1 || there == 1, "has operands " + shapeText(operands[0]) + " and " +
                                                           shapeText(operands[1]) + ", which differ along an axis");
    }
  }

  EinsumLetters axes_;
  std::vector<float> packed_;
};

}  // namespace

LayerPtr makeEinsum(cv::dnn::LayerParams& params) { return cv::makePtr<EinsumLayer>(params); }

}  // namespace mpm
