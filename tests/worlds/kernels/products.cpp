// SPDX-License-Identifier: Apache-2.0
// Linear layers, products, convolutions, patches and scores of the mask transformer.
#include "kernels/convolution.h"
#include "kernels/cpu/amx_tiles.h"
#include "kernels/emulated_amx.h"
#include "kernels/linear.h"
#include "kernels/mask_scores.h"
#include "kernels/patch_embed.h"
#include "kernels/precision.h"
#include "trial.h"

namespace mpm::worlds {
namespace {

float unit(int terms) { return 1 / std::sqrt(static_cast<float>(terms)); }

double largestIn(MatrixView<const float> x, int row) {
  double largest = 0;
  for (int j = 0; j < x.cols; ++j) largest = std::max(largest, std::abs(static_cast<double>(x.row(row)[j])));
  return largest;
}

/// How far a product may be from that of exact operands: what the precision rounds of each of them.
double allowed(Precision precision, MatrixView<const float> x, int i, MatrixView<const float> w, int o) {
  const double x_step = largestIn(x, i) / 127, w_step = largestIn(w, o) / 63;  // int8; weights may have 7 bits
  double error = 1e-6;
  for (int k = 0; k < x.cols; ++k) {
    const double a = std::abs(static_cast<double>(x.row(i)[k])), b = std::abs(static_cast<double>(w.row(o)[k]));
    if (precision == Precision::kFp32) error += 1e-6 * a * b;
    if (precision == Precision::kBf16) error += a * b * 0x1.02p-7;
    if (precision == Precision::kFp16) error += a * b * 0x1p-8 + 0x1p-20;
    if (precision == Precision::kInt8) error += a * w_step / 2 + b * x_step / 2 + x_step * w_step / 4;
  }
  return error;
}

/// `make(weight, bias)` gives what computes the layer.
template <class Make>
void tryLinear(Trial& trial, Precision precision, Make make) {
  Random& random = trial.random;
  const int in = random.size(1, 300), out = random.size(1, 200), rows = random.size(1, PackedLinear::kMaxRows);
  const MatrixView<const float> weight = trial.memory.inputRows(out, in, unit(in));
  const float* const bias = random.chance(3) ? nullptr : trial.memory.inputOf(out);
  const MatrixView<const float> x = trial.memory.inputRows(rows, in);
  const MatrixView<const float> before = trial.memory.inputRows(rows, out);
  const bool accumulate = random.chance(2);
  const MatrixView<float> y = accumulate ? trial.memory.copyOf(before) : trial.memory.outputRows(rows, out);
  const auto linear = make(weight, bias);
  linear.run(x, y, accumulate);
  const Reference expected = test::linear(Reference(x), {weight, bias});
  for (int i = 0; i < rows; ++i)
    for (int o = 0; o < out; ++o) {
      const double start = accumulate ? static_cast<double>(before.row(i)[o]) : 0;
      const double error = std::abs(static_cast<double>(y.row(i)[o]) - start - expected.at(i, o));
      trial.require(error <= allowed(precision, x, i, weight, o) + 1e-6 * std::abs(start),
                    "is off by " + std::to_string(error));
    }
  const int alone = random.size(0, rows - 1);
  const MatrixView<float> row = trial.memory.copyOf(before.rowRange(alone, alone + 1));
  linear.run(x.rowRange(alone, alone + 1), row, accumulate);
  trial.same<float>(row, y.rowRange(alone, alone + 1), "gives a row other bytes when it is alone");
}

void tryPackedLinear(Trial& trial, Precision precision) {
  if ((precision == Precision::kBf16 && !cpuHasBf16()) || (precision == Precision::kFp16 && !cpuHasFp16())) return;
  tryLinear(trial, precision, [precision](MatrixView<const float> weight, const float* bias) {
    return PackedLinear(weight, bias, precision);
  });
}

#if defined(__x86_64__)
void tryEmulatedAmx(Trial& trial, Precision precision) {
  tryLinear(trial, precision, [precision](MatrixView<const float> weight, const float* bias) {
    return TileLinear(AmxTiles<test::EmulatedAmx>::kernel(precision), weight, bias);
  });
}
#endif

void tryMultiply(Trial& trial) {
  Random& random = trial.random;
  const int rows = random.size(1, 90), depth = random.size(1, 200), cols = random.size(1, 90);
  const bool turn_a = random.chance(2), turn_b = random.chance(2), accumulate = random.chance(2);
  const auto operand = [&](int height, int width, bool transposed) {
    return Operand{trial.memory.inputRows(transposed ? width : height, transposed ? height : width, unit(depth)),
                   transposed};
  };
  const Operand a = operand(rows, depth, turn_a), b = operand(depth, cols, turn_b);
  const MatrixView<const float> before = trial.memory.inputRows(rows, cols);
  const MatrixView<float> c = accumulate ? trial.memory.copyOf(before) : trial.memory.outputRows(rows, cols);
  multiply(a, b, c, accumulate);
  Reference expected(rows, cols);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      double sum = accumulate ? static_cast<double>(before.row(i)[j]) : 0;
      for (int k = 0; k < depth; ++k)
        sum += static_cast<double>(turn_a ? a.view.row(k)[i] : a.view.row(i)[k]) *
               static_cast<double>(turn_b ? b.view.row(j)[k] : b.view.row(k)[j]);
      expected.at(i, j) = sum;
    }
  trial.near(c, expected, 1e-5);
}

/// A random convolution, with sizes that fit together.
struct RandomConvolution {
  ConvolutionSpec spec;
  int batch, height, width, out_height, out_width;

  explicit RandomConvolution(Trial& trial) {
    Random& random = trial.random;
    spec.groups = random.chance(3) ? random.size(1, 6) : 1;
    const int in = random.size(1, 20), out = random.size(1, 20);
    spec.channels = spec.groups * in;
    spec.outputs = spec.groups * out;
    spec.transposed = random.chance(3);
    spec.relu_input = random.chance(3);
    if (random.chance(2)) spec.activation = random.oneOf({Activation::kRelu, Activation::kGeluErf});
    batch = random.size(1, 2);
    int sides[2], outputs[2];
    for (int axis = 0; axis < 2; ++axis) {
      sides[axis] = random.size(1, 12);
      spec.kernel[axis] = random.size(1, 4);
      spec.strides[axis] = random.size(1, 3);
      spec.dilations[axis] = random.size(1, 2);
      const int span = (spec.kernel[axis] - 1) * spec.dilations[axis];
      spec.pads[axis] = random.size(0, std::min(2, span));
      outputs[axis] = spec.transposed
                          ? (sides[axis] - 1) * spec.strides[axis] + span + 1 - spec.pads[axis]
                          : std::max(1, (sides[axis] + spec.pads[axis] - span - 1) / spec.strides[axis] + 1);
      outputs[axis] = std::max(1, outputs[axis] + random.size(-1, 1));
    }
    height = sides[0], width = sides[1], out_height = outputs[0], out_width = outputs[1];
    const int taps = in * spec.kernel[0] * spec.kernel[1];
    spec.weight = trial.memory.inputOf(static_cast<std::size_t>(spec.outputs) * taps, unit(taps));
    spec.bias = trial.memory.inputOf(spec.outputs);
  }

  std::size_t outputs() const { return static_cast<std::size_t>(batch) * out_height * out_width * spec.outputs; }
};

void tryConvolution(Trial& trial) {
  const RandomConvolution c(trial);
  const float* const x = trial.memory.inputOf(static_cast<std::size_t>(c.batch) * c.height * c.width * c.spec.channels);
  std::vector<const float*> addends;
  for (int i = trial.random.size(0, 2); i > 0; --i) addends.push_back(trial.memory.inputOf(c.outputs()));
  const MapsView<const float> from{x, c.batch, c.height, c.width, c.spec.channels};
  float* const y = trial.memory.output<float>(c.outputs());
  float* const threaded = trial.memory.output<float>(c.outputs());
  const Convolution convolution(c.spec);
  convolution.run(from, addends, {y, c.batch, c.out_height, c.out_width, c.spec.outputs}, Serial());
  convolution.run(from, addends, {threaded, c.batch, c.out_height, c.out_width, c.spec.outputs}, trial.threads());
  trial.require(std::memcmp(y, threaded, c.outputs() * sizeof(float)) == 0, kThreadsMatter);
  const std::vector<double> expected = test::convolution(c.spec, from, c.out_height, c.out_width, addends);
  for (std::size_t i = 0; i < expected.size(); ++i) trial.near(static_cast<double>(y[i]), expected[i], 2e-5);
}

void tryPatchEmbed(Trial& trial) {
  Random& random = trial.random;
  PatchGeometry g;
  g.channels = random.size(1, 4);
  g.kernel_h = random.size(1, 9), g.kernel_w = random.size(1, 9);
  g.stride_h = random.size(1, 9), g.stride_w = random.size(1, 9);
  g.height = g.kernel_h + random.size(0, 40), g.width = g.kernel_w + random.size(0, 40);
  const int patches = g.gridHeight() * g.gridWidth(), depth = g.channels * g.kernel_h * g.kernel_w;
  const int dim = random.size(1, 60);
  const MatrixView<const float> weight = trial.memory.inputRows(dim, depth, unit(depth));
  const MatrixView<const float> position = trial.memory.inputRows(patches, dim);
  const float* const image = trial.memory.inputOf(static_cast<std::size_t>(g.channels) * g.height * g.width);
  const bool normed = random.chance(3);
  const float* const bias = normed ? trial.memory.inputOf(dim) : nullptr;
  const NormWeights norm{trial.memory.inputOf(dim), trial.memory.inputOf(dim), 1e-3f, random.chance(2)};
  std::vector<int> only;
  for (int i = 0; i < patches; ++i)
    if (random.chance(2)) only.push_back(i);
  const bool some = random.chance(3) && !only.empty();
  const int rows = some ? static_cast<int>(only.size()) : patches;
  const int* const chosen = some ? trial.memory.input<int>(only) : nullptr;
  const PackedLinear packed(weight, bias);
  const MatrixView<float> tokens = trial.memory.outputRows(rows, dim, true),
                          threaded = trial.memory.outputRows(rows, dim, true);
  patchEmbed(image, g, packed, position, tokens, Serial(), normed ? &norm : nullptr, chosen);
  patchEmbed(image, g, packed, position, threaded, trial.threads(), normed ? &norm : nullptr, chosen);
  trial.same<float>(tokens, threaded, kThreadsMatter);
  Reference products(patches, dim);
  for (int i = 0; normed && i < patches; ++i)
    for (int c = 0; c < dim; ++c) products.at(i, c) = static_cast<double>(bias[c]);
  products = test::patchEmbed(image, g, weight, products);
  if (normed) products = test::norm(products, norm);
  Reference expected(rows, dim);
  for (int i = 0; i < rows; ++i)
    for (int c = 0; c < dim; ++c) {
      const int patch = some ? only[static_cast<std::size_t>(i)] : i;
      expected.at(i, c) = products.at(patch, c) + static_cast<double>(position.row(patch)[c]);
    }
  trial.near(tokens, expected, normed ? 3e-4 : 2e-5);  // the norm of a few columns enlarges what they differ by
}

void tryMaskScores(Trial& trial) {
  Random& random = trial.random;
  const int classes = random.size(2, 40), rows = random.size(1, 80), dim = random.size(2, 60),
            wide = random.size(2, 60);
  const MatrixView<const float> tokens = trial.memory.inputRows(classes + rows, dim, 1, true);
  const MatrixView<const float> patch = trial.memory.inputRows(wide, dim, unit(dim)),
                                of_class = trial.memory.inputRows(wide, dim, unit(dim));
  const NormWeights norm{trial.memory.inputOf(classes), trial.memory.inputOf(classes), 0.1f};
  const MatrixView<float> scores = trial.memory.outputRows(rows, classes, true),
                          threaded = trial.memory.outputRows(rows, classes, true);
  const PackedLinear proj_patch(patch, nullptr), proj_classes(of_class, nullptr);
  maskScores(tokens, classes, proj_patch, proj_classes, norm.weight, norm.bias, norm.eps, scores, Serial());
  maskScores(tokens, classes, proj_patch, proj_classes, norm.weight, norm.bias, norm.eps, threaded, trial.threads());
  trial.same<float>(scores, threaded, kThreadsMatter);
  trial.near(scores,
             test::maskScores(Reference(tokens.rowRange(0, classes)),
                              Reference(tokens.rowRange(classes, classes + rows)), of_class, patch, norm),
             5e-5);
}

}  // namespace

std::vector<Kernel> productKernels() {
  std::vector<Kernel> kernels = {{"PackedLinear fp32", [](Trial& trial) { tryPackedLinear(trial, Precision::kFp32); }},
                                 {"PackedLinear bf16", [](Trial& trial) { tryPackedLinear(trial, Precision::kBf16); }},
                                 {"PackedLinear fp16", [](Trial& trial) { tryPackedLinear(trial, Precision::kFp16); }},
                                 {"PackedLinear int8", [](Trial& trial) { tryPackedLinear(trial, Precision::kInt8); }},
                                 {"multiply", tryMultiply},
                                 {"Convolution", tryConvolution},
                                 {"patchEmbed", tryPatchEmbed},
                                 {"maskScores", tryMaskScores}};
#if defined(__x86_64__)
  kernels.push_back(
      {"PackedLinear bf16 on emulated AMX", [](Trial& trial) { tryEmulatedAmx(trial, Precision::kBf16); }});
  kernels.push_back(
      {"PackedLinear int8 on emulated AMX", [](Trial& trial) { tryEmulatedAmx(trial, Precision::kInt8); }});
#endif
  return kernels;
}

}  // namespace mpm::worlds
