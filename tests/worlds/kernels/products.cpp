// SPDX-License-Identifier: Apache-2.0
// Linear layers, products, convolutions, patches and scores of the mask transformer.
#include "cpu.h"
#include "kernels/cpu/amx_tiles.h"
#include "kernels/emulated_amx.h"
#include "kernels/int8_convolution.h"
#include "kernels/int8_rows.h"
#include "kernels/linear.h"
#include "kernels/mask_scores.h"
#include "kernels/precision.h"
#include "product_case.h"

namespace mpm::worlds {
namespace {

float unit(int terms) { return 1 / std::sqrt(static_cast<float>(terms)); }

/// How far a product may be from that of exact operands: what the precision rounds of each of them.
double allowed(Precision precision, MatrixView<const float> x, int i, MatrixView<const float> w, int o) {
  double error = 1e-6;
  for (int k = 0; k < x.cols; ++k) {
    const double a = std::abs(static_cast<double>(x.row(i)[k])), b = std::abs(static_cast<double>(w.row(o)[k]));
    if (precision == Precision::kFp32) error += 1e-6 * a * b;
    if (precision == Precision::kBf16) error += a * b * 0x1.02p-7;
    if (precision == Precision::kFp16) error += a * b * 0x1p-8 + 0x1p-20;
  }
  return error;
}

/// Numbers for int8, which has one scale for a row: some are all as large as the largest, and there are rows of zeros
/// and with one large number.
std::vector<float> numbers(Trial& trial, int rows, int cols, float sigma, bool int8) {
  std::vector<float> values = trial.memory.normal(static_cast<std::size_t>(rows) * cols, sigma);
  if (!int8) return values;
  const bool extreme = trial.random.chance(4);
  for (float& value : values)
    if (extreme) value = trial.random.chance(9) ? -sigma : sigma;
  float* const row = values.data() + static_cast<std::ptrdiff_t>(trial.random.size(0, rows - 1)) * cols;
  if (trial.random.chance(4)) std::fill_n(row, cols, trial.random.oneOf({0.0f, -1e-40f}));
  if (trial.random.chance(4)) row[trial.random.size(0, cols - 1)] = 1e15f;
  return values;
}

/// `make(weight, bias)` gives what computes the layer. Of int8: whether it adds up integers, and how large they are.
template <class Make>
void tryLinear(Trial& trial, Precision precision, Make make, bool whole = false, int most_weight = kMaxInt8) {
  Random& random = trial.random;
  const bool int8 = precision == Precision::kInt8, deep = random.chance(6);
  const int in = random.size(1, deep ? 3100 : 300), out = random.size(1, deep ? 40 : 200),
            rows = random.size(1, deep ? 40 : PackedLinear::kMaxRows);
  const MatrixView<const float> weight = trial.memory.inputRows(out, in, numbers(trial, out, in, unit(in), int8));
  const float* const bias = random.chance(3) ? nullptr : trial.memory.inputOf(out);
  std::vector<float> values = numbers(trial, rows, in, 1, int8);
  const int bad = random.chance(6) ? random.size(0, rows - 1) : -1;
  if (bad >= 0) {
    values[static_cast<std::size_t>(bad) * in + random.size(0, in - 1)] =
        random.oneOf({std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()});
  }
  const MatrixView<const float> x = trial.memory.inputRows(rows, in, values);
  const MatrixView<const float> before = trial.memory.inputRows(rows, out);
  const bool accumulate = random.chance(2);
  const MatrixView<float> y = accumulate ? trial.memory.copyOf(before) : trial.memory.outputRows(rows, out);
  const auto linear = make(weight, bias);
  linear.run(x, y, accumulate);
  const Reference exact = int8 ? Reference(0, 0) : test::linear(Reference(x), {weight, bias});
  const test::Int8Rows of_x(x, kMaxInt8), of_weight(weight, static_cast<float>(most_weight));
  for (int i = 0; i < rows; ++i) {
    for (int o = 0; o < out; ++o) {
      const double found = static_cast<double>(y.row(i)[o]),
                   offset = bias != nullptr ? static_cast<double>(bias[o]) : 0,
                   start = accumulate ? static_cast<double>(before.row(i)[o]) : 0;
      if (i == bad) {
        trial.require(!std::isfinite(found), "makes a number of a row that holds none");
        continue;
      }
      double expected = start, error = 1e-6 * (std::abs(offset) + std::abs(start)) + 1e-30;
      if (int8) {
        std::int64_t sum = 0, magnitude = 0;
        for (int k = 0; k < in; ++k) {
          const int product = of_x.values[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] *
                              of_weight.values[static_cast<std::size_t>(o)][static_cast<std::size_t>(k)];
          sum += product;
          magnitude += std::abs(product);
        }
        const double scale = static_cast<double>(of_x.scales[static_cast<std::size_t>(i)]) *
                             static_cast<double>(of_weight.scales[static_cast<std::size_t>(o)]);
        expected += scale * static_cast<double>(sum) + offset;
        error += scale * (whole ? 1e-6 * static_cast<double>(std::abs(sum)) : 4e-6 * static_cast<double>(magnitude));
      } else {
        expected += exact.at(i, o);
        error += allowed(precision, x, i, weight, o);
      }
      trial.require(std::abs(found - expected) <= error, "is off by " + std::to_string(std::abs(found - expected)));
    }
  }
  const int first = random.size(0, rows - 1), last = random.size(first + 1, rows);
  const MatrixView<float> part = trial.memory.copyOf(before.rowRange(first, last));
  linear.run(x.rowRange(first, last), part, accumulate);
  trial.same<float>(part, y.rowRange(first, last), "gives a row other bytes beside other rows");
}

void tryPackedLinear(Trial& trial, Precision precision) {
  if (!isHere(precision)) return;
  const TileKernel* const kernel = precision == Precision::kInt8 ? tileKernel(precision) : nullptr;
  const auto make = [precision](MatrixView<const float> weight, const float* bias) {
    return PackedLinear(weight, bias, precision);
  };
  tryLinear(trial, precision, make, cpuHasInt8(), kernel != nullptr ? kernel->max_w : kMaxInt8);
}

#if defined(__x86_64__)
void tryTiles(Trial& trial, const TileKernel& kernel) {
  const auto make = [&kernel](MatrixView<const float> weight, const float* bias) {
    return TileLinear(kernel, weight, bias);
  };
  tryLinear(trial, kernel.precision, make, true, kernel.max_w);
  trial.require(!test::EmulatedAmx::isConfigured(), "leaves the tiles of AMX configured");
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
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      double sum = accumulate ? static_cast<double>(before.row(i)[j]) : 0;
      for (int k = 0; k < depth; ++k) {
        sum += static_cast<double>(turn_a ? a.view.row(k)[i] : a.view.row(i)[k]) *
               static_cast<double>(turn_b ? b.view.row(j)[k] : b.view.row(k)[j]);
      }
      expected.at(i, j) = sum;
    }
  }
  trial.near(c, expected, 1e-5);
}

void tryConvolution(Trial& trial) {
  const bool bf16 = trial.random.chance(2) && isHere(Precision::kBf16);
  const RandomConvolution c(trial, bf16 ? Precision::kBf16 : Precision::kFp32, 420);
  std::vector<float> pixels =
      trial.memory.normal(static_cast<std::size_t>(c.batch) * c.height * c.width * c.spec.channels);
  const bool nan = c.spec.precision == Precision::kFp32 && trial.random.chance(6);
  if (nan) pixels[trial.random.bits() % pixels.size()] = std::numeric_limits<float>::quiet_NaN();
  const float* const x = trial.memory.input<float>(pixels);
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
  const double tolerance = c.spec.precision == Precision::kFp32 ? 2e-5 : 0.06;
  for (std::size_t i = 0; i < expected.size(); ++i) trial.near(static_cast<double>(y[i]), expected[i], tolerance);
}

/// One that is wide enough for int8, against loops on the rounded numbers.
void tryInt8Convolution(Trial& trial) {
  const TileKernel* const kernel = convolutionTiles(Precision::kInt8);
  if (kernel == nullptr) return;
  Random& random = trial.random;
  ConvolutionSpec spec;
  spec.precision = Precision::kInt8;
  spec.channels = random.size(96, 140);
  spec.outputs = random.size(96, 140);
  spec.relu_input = random.chance(3);
  if (random.chance(2)) spec.activation = Activation::kRelu;
  const int side = random.oneOf({1, 3}), height = random.size(1, 9), width = random.size(1, 9);
  int outputs[2] = {height, width};
  for (int axis = 0; axis < 2; ++axis) {
    spec.kernel[axis] = side;
    spec.pads[axis] = random.size(0, side - 1);
    outputs[axis] += random.size(0, 1);
  }
  const int taps = spec.channels * side * side;
  spec.weight = trial.memory.inputOf(static_cast<std::size_t>(spec.outputs) * taps, unit(taps));
  spec.bias = trial.memory.inputOf(spec.outputs);
  const float* const x = trial.memory.inputOf(static_cast<std::size_t>(height) * width * spec.channels);
  const std::size_t count = static_cast<std::size_t>(outputs[0]) * outputs[1] * spec.outputs;
  std::vector<const float*> addends;
  for (int i = random.size(0, 2); i > 0; --i) addends.push_back(trial.memory.inputOf(count));
  const MapsView<const float> from{x, 1, height, width, spec.channels};
  float* const y = trial.memory.output<float>(count);
  Convolution(spec).run(from, addends, {y, 1, outputs[0], outputs[1], spec.outputs}, trial.threads());
  const auto expected = test::Int8Convolution(spec, kernel->max_w).run(from, outputs[0], outputs[1], addends);
  for (std::size_t i = 0; i < count; ++i) trial.near(static_cast<double>(y[i]), static_cast<double>(expected[i]), 1e-5);
}

#if defined(__x86_64__)
/// The sum of its taps, of numbers that bf16 holds, so that only the sums round.
void tryTileConvolution(Trial& trial) {
  Random& random = trial.random;
  const int height = random.size(1, 6), width = random.size(1, 9), channels = random.size(1, 70),
            outputs = random.size(1, 70);
  std::vector<TileConvolution::Tap> taps;
  for (int count = random.size(1, 9); count > 0; --count)
    taps.push_back({random.size(0, 6) - 2, random.size(0, 6) - 2});
  const auto coarse = [&](int rows, int cols) {
    std::vector<float> values = trial.memory.normal(static_cast<std::size_t>(rows) * cols);
    for (float& value : values) value = std::round(value * 16) / 16;
    return values;
  };
  // One row and one column more than there are results: taps see them, too.
  const std::vector<float> map = coarse((height + 1) * (width + 1), channels);
  const int depth = static_cast<int>(taps.size()) * channels;
  const MatrixView<const float> weight = trial.memory.inputRows(outputs, depth, coarse(outputs, depth));
  const float* const bias = trial.memory.inputOf(static_cast<std::size_t>(outputs));
  const TileConvolution convolution(AmxTiles<test::EmulatedAmx>::kernel(Precision::kBf16), taps, channels, weight,
                                    bias);
  const TileConvolution::Layout layout = convolution.layoutFor(height, width);
  const auto words = static_cast<std::size_t>(convolution.words());
  std::vector<std::uint32_t> rounded(layout.pixels * words, 0u);
  const int seen_rows = std::min(height + 1, layout.height - layout.top),
            seen_columns = std::min(width + 1, layout.width - layout.left);
  for (int row = 0; row < seen_rows; ++row) {
    convolution.round(
        map.data() + static_cast<std::ptrdiff_t>(row) * (width + 1) * channels, seen_columns,
        rounded.data() + static_cast<std::size_t>((row + layout.top) * layout.width + layout.left) * words);
  }
  const int begin = random.size(0, width - 1), rows = (height - 1) * layout.width + width - begin;
  const bool accumulate = random.chance(2);
  const MatrixView<const float> before = trial.memory.inputRows(rows, outputs);
  const MatrixView<float> y = trial.memory.copyOf(before);
  convolution.run(trial.memory.input<std::uint32_t>(rounded), layout, begin, y, accumulate);
  trial.require(!test::EmulatedAmx::isConfigured(), "leaves the tiles of AMX configured");
  for (int i = 0; i < rows; ++i) {
    const int row = (begin + i) / layout.width, column = (begin + i) % layout.width;
    for (int o = 0; o < outputs && column < width; ++o) {  // else of the border
      double sum = static_cast<double>(bias[o]) + (accumulate ? static_cast<double>(before.row(i)[o]) : 0);
      for (int k = 0; k < depth; ++k) {
        const TileConvolution::Tap& tap = taps[static_cast<std::size_t>(k / channels)];
        const int from = row + tap.dy, beside = column + tap.dx;
        if (from < 0 || from >= seen_rows || beside < 0 || beside >= seen_columns) continue;
        sum += static_cast<double>(
                   map[static_cast<std::size_t>((from * (width + 1) + beside) * channels + k % channels)]) *
               static_cast<double>(weight.row(o)[k]);
      }
      trial.near(static_cast<double>(y.row(i)[o]), sum, 1e-5);
    }
  }
}
#endif

void tryPatchEmbed(Trial& trial) {
  Random& random = trial.random;
  const RandomPatches patch(trial, 40);
  const PatchGeometry& g = patch.geometry;
  const int patches = g.gridHeight() * g.gridWidth(), dim = patch.weight.rows;
  const MatrixView<const float> position = trial.memory.inputRows(patches, dim);
  const float* const image = trial.memory.inputOf(static_cast<std::size_t>(g.channels) * g.height * g.width);
  std::vector<int> only;
  for (int i = 0; i < patches; ++i)
    if (random.chance(2)) only.push_back(i);
  const bool some = random.chance(3) && !only.empty();
  const int rows = some ? static_cast<int>(only.size()) : patches;
  const int* const chosen = some ? trial.memory.input<int>(only) : nullptr;
  const PackedLinear packed(patch.weight, patch.bias);
  const NormWeights* const norm = patch.normed ? &patch.norm : nullptr;
  const MatrixView<float> tokens = trial.memory.outputRows(rows, dim, true),
                          threaded = trial.memory.outputRows(rows, dim, true);
  patchEmbed(image, g, packed, position, tokens, Serial(), norm, chosen);
  patchEmbed(image, g, packed, position, threaded, trial.threads(), norm, chosen);
  trial.same<float>(tokens, threaded, kThreadsMatter);
  const Reference all = patch.tokens(image, g, position);
  for (int i = 0; i < rows; ++i) {
    const int from = some ? only[static_cast<std::size_t>(i)] : i;
    trial.near(tokens.rowRange(i, i + 1), all.rowRange(from, from + 1), patch.tolerance());
  }
}

void tryMaskScores(Trial& trial) {
  Random& random = trial.random;
  const int classes = random.size(2, 150), rows = random.size(1, 140), dim = random.size(2, 60),
            wide = random.size(2, 60);
  std::vector<float> values = trial.memory.normal(static_cast<std::size_t>(classes + rows) * dim);
  if (random.chance(3)) std::fill_n(values.end() - dim, dim, 0.0f);  // a row without a direction
  const MatrixView<const float> tokens = trial.memory.inputRows(classes + rows, dim, values, true);
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
                                 {"Convolution int8", tryInt8Convolution},
                                 {"patchEmbed", tryPatchEmbed},
                                 {"maskScores", tryMaskScores}};
#if defined(__x86_64__)
  kernels.push_back({"Convolution on emulated AMX", tryTileConvolution});
  kernels.push_back({"PackedLinear bf16 on emulated AMX",
                     [](Trial& trial) { tryTiles(trial, AmxTiles<test::EmulatedAmx>::kernel(Precision::kBf16)); }});
  kernels.push_back({"PackedLinear int8 on emulated AMX",
                     [](Trial& trial) { tryTiles(trial, AmxTiles<test::EmulatedAmx>::kernel(Precision::kInt8)); }});
  // CPUs with AVX-512 have better instructions.
  kernels.push_back({"PackedLinear int8 in pairs", [](Trial& trial) {
                       if (pairsKernel() != nullptr) tryTiles(trial, *pairsKernel());
                     }});
#endif
  return kernels;
}

}  // namespace mpm::worlds
