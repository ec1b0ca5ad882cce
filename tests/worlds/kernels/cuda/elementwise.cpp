// SPDX-License-Identifier: Apache-2.0
#include "device.h"
#include "kernels/cuda/gemm.h"
#include "rounded.h"

namespace mpm::cuda::worlds {
namespace {

/// norm() of slices that have others beside them, and the two ways to call it that a Norm has.
void tryNorm(Trial& trial) {
  Random& random = trial.random;
  const int way = random.size(0, 2), rows = random.size(1, 20), dim = random.size(1, random.chance(4) ? 300 : 70);
  const int slices = way == 1 ? 1 : random.size(1, 4), beside = way == 1 ? 0 : random.size(0, 2);
  const bool own = random.chance(2);
  const NormWeights weights{trial.memory.inputOf(size(slices * dim)), trial.memory.inputOf(size(slices * dim)), 1e-3f,
                            random.chance(2)};
  const Number from = anyNumber(random), to = way == 2 ? from : anyNumber(random);
  const int stride = (slices + beside) * dim;
  const bool in_place = way == 2 || (from == to && random.chance(2));
  const int y_stride = in_place || way == 1 ? stride : (slices + random.size(0, 2)) * dim;
  const Values x(from, trial.memory.normal(size(rows * stride), 2, 5)),
      other(to, trial.memory.normal(size(rows * y_stride)));
  const Values& y = in_place ? x : other;
  if (way == 0) {
    const auto onDevice = [&](const float* host) {
      return uploaded(stream(), std::vector<float>(host, host + (own ? slices * dim : dim)));
    };
    const Buffer<float> weight = onDevice(weights.weight), bias = onDevice(weights.bias);
    norm(stream(), {rows, slices, dim, stride, y_stride, weight.data(), bias.data(), weights.eps, weights.rms, own},
         from, x.data(), to, y.data());
  } else {
    const Norm norm(stream(), weights, dim, own ? slices : 1);
    if (way == 1) norm.run(stream(), rows, from, x.data(), to, y.data());
    if (way == 2) norm.runOnSlices(stream(), rows, slices, stride, from, x.data());
  }
  const std::vector<float> found = y.now();
  for (int r = 0; r < rows; ++r) {
    for (int s = 0; s < y_stride / dim; ++s) {
      const float* const result = found.data() + area(r, y_stride) + s * dim;
      if (s >= slices) {
        for (int c = 0; c < dim; ++c)
          trial.require(result[c] == y.rounded[area(r, y_stride) + size(s * dim + c)], "changes what lies beside");
        continue;
      }
      const NormWeights of_slice{weights.weight + (own ? s * dim : 0), weights.bias + (own ? s * dim : 0), weights.eps,
                                 weights.rms};
      const Reference expected = mpm::test::norm(
          Reference(MatrixView<const float>(x.rounded.data() + area(r, stride) + s * dim, 1, dim)), of_slice);
      for (int c = 0; c < dim; ++c) nearRounded(trial, to, result[c], expected.at(0, c), 5e-5);
    }
  }
}

void tryConvert(Trial& trial) {
  const Number number = anyNumber(trial.random);
  const int exponent = trial.random.size(-20, 12);  // so that halves have room for it
  std::vector<float> values = trial.memory.normal(size(trial.random.size(1, 400)), std::ldexp(1.0f, exponent));
  // Halfway between two numbers of the type, or one of them.
  const std::uint32_t kept = number == Number::kHalf ? 0xfffff000u : 0xffff8000u;
  if (trial.random.chance(3))
    for (float& value : values) value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & kept);
  const Values expected(number, values), found(number, std::vector<float>(values.size()));
  const Buffer<float> from = uploaded(stream(), values);
  convert(stream(), from.data(), values.size(), number, found.data());
  trial.require(found.now() == expected.rounded, "is not the nearest number");
}

void tryRotate(Trial& trial) {
  Random& random = trial.random;
  RotaryCall call;
  call.heads = random.size(1, 6);
  call.tables = random.chance(2) ? 1 : call.heads;
  call.pairs = random.size(1, 20);
  call.head_dim = 2 * call.pairs + random.size(0, 7);
  call.special = random.size(0, 3);
  const int width = call.heads * call.head_dim, stride = 2 * width + random.size(0, width),
            columns = 2 * call.tables * call.pairs;
  const std::vector<int> rows = imageRows(random, std::max(call.special, 1), call.special + 15);
  std::vector<int> patches;
  for (const int all : rows) patches.push_back(all - call.special);
  const int total = std::accumulate(rows.begin(), rows.end(), 0);
  const Number number = anyNumber(random);
  const Packed x(rows, stride, number, trial.memory.normal(area(total, stride)));
  const int turning = total - call.special * static_cast<int>(rows.size());
  const Packed turns(patches, columns, Number::kFloat, trial.memory.normal(area(turning, columns), 0.7f));
  call.rows = x.ragged;
  call.rotations = turns.data();
  rotate(stream(), call, stride, number, x.values.data());
  const std::vector<float> found = x.values.now();
  for (int b = 0; b < x.ragged.batch; ++b) {
    const Reference from(x.image(x.values.rounded, b));
    const MatrixView<const float> result = x.image(found, b);
    for (const int part : {0, 1}) {
      const Reference expected = mpm::test::rotated(from.columns(part * width, (part + 1) * width), call.heads,
                                                    call.special, turns.image(turns.values.rounded, b), call.tables);
      for (int i = 0; i < result.rows; ++i) {
        for (int c = 0; c < width; ++c)
          nearRounded(trial, number, result.row(i)[part * width + c], expected.at(i, c), 2e-6);
      }
    }
    for (int i = 0; i < result.rows; ++i) {
      for (int c = 2 * width; c < stride; ++c)
        trial.require(static_cast<double>(result.row(i)[c]) == from.at(i, c), "turns more than q and k");
    }
  }
}

void tryMeanOfSlices(Trial& trial) {
  Random& random = trial.random;
  const int rows = random.size(1, 30), slices = random.size(1, 5), dim = random.size(1, 70),
            stride = slices * dim + random.size(0, 9);
  const Number number = anyNumber(random);
  const Values x(number, trial.memory.normal(area(rows, stride)));
  const Buffer<float> mean(stream(), area(rows, dim));
  meanOfSlices(stream(), rows, slices, dim, stride, number, x.data(), mean.data());
  const std::vector<float> found = now(mean);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < dim; ++c) {
      double sum = 0;
      for (int s = 0; s < slices; ++s) sum += static_cast<double>(x.rounded[area(r, stride) + size(s * dim + c)]);
      trial.near(static_cast<double>(found[area(r, dim) + size(c)]), sum / slices, 1e-6);
    }
  }
}

void tryActivate(Trial& trial) {
  Random& random = trial.random;
  const Activation activation = mpm::test::kActivations[random.bits() % std::size(mpm::test::kActivations)];
  const bool gated = random.chance(2);
  const int rows = random.size(1, 12), cols = random.size(1, 150), from_cols = gated ? 2 * cols : cols;
  const Number number = anyNumber(random);
  std::vector<float> values = trial.memory.normal(area(rows, from_cols), random.oneOf({1e-6f, 0.01f, 4.0f, 30.0f}));
  if (random.chance(4)) values[random.bits() % values.size()] = random.oneOf({1e4f, -1e4f, 0.0f});
  const Values x(number, values), apart(number, std::vector<float>(area(rows, cols)));
  const Values& y = gated || random.chance(2) ? apart : x;
  activate(stream(), activation, gated, rows, cols, number, x.data(), y.data());
  const std::vector<float> found = y.now();
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      const auto value = static_cast<double>(x.rounded[area(r, from_cols) + size(c)]);
      const double gate = gated ? static_cast<double>(x.rounded[area(r, from_cols) + size(cols + c)]) : 1;
      const double expected = mpm::test::activated(activation, value) * gate;
      if (number == Number::kHalf && std::abs(expected) > 65000) continue;
      const double error = 3e-7 * std::abs(value * gate) / (1 + std::abs(expected));
      nearRounded(trial, number, found[area(r, cols) + size(c)], expected, 1e-6 + error);
    }
  }
}

void tryAddBias(Trial& trial) {
  const int rows = trial.random.size(1, 12), cols = trial.random.size(1, 150);
  const Number number = anyNumber(trial.random);
  const Values y(number, trial.memory.normal(area(rows, cols))), bias(number, trial.memory.normal(size(cols)));
  addBias(stream(), rows, cols, number, bias.data(), y.data());
  const std::vector<float> found = y.now();
  for (std::size_t i = 0; i < found.size(); ++i) {
    nearRounded(trial, number, found[i],
                static_cast<double>(y.rounded[i]) + static_cast<double>(bias.rounded[i % size(cols)]), 1e-7);
  }
}

void tryFindNotFinite(Trial& trial) {
  std::vector<float> values(size(trial.random.size(1, 3000)), 3.4e38f);
  const bool finite = trial.random.chance(3);
  if (!finite) {
    values[trial.random.bits() % values.size()] =
        trial.random.oneOf({std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()});
  }
  const Buffer<float> x = uploaded(stream(), values);
  const Buffer<int> found = uploaded(stream(), std::vector<int>{0});
  findNotFinite(stream(), x.data(), values.size(), found.data());
  trial.require(now(found)[0] == (finite ? 0 : 1), "gives the other answer");
}

void tryNormaliseRows(Trial& trial) {
  const int rows = trial.random.size(1, 20), dim = trial.random.size(1, 100);
  std::vector<float> values = trial.memory.normal(area(rows, dim), trial.random.oneOf({1e-6f, 1.0f, 1e6f}));
  if (trial.random.chance(2)) std::fill_n(values.begin(), dim, 0.0f);
  const Buffer<float> x = uploaded(stream(), values);
  normaliseRows(stream(), rows, dim, x.data());
  const std::vector<float> found = now(x);
  trial.near({found.data(), rows, dim},
             mpm::test::unitRows(Reference(MatrixView<const float>(values.data(), rows, dim))), 1e-6);
}

/// Operands as each precision rounds them, sums in fp32, every way of putting the result down.
void tryLinear(Trial& trial) {
  Random& random = trial.random;
  const int rows = random.size(1, 40), in = random.size(1, 90), out = random.size(1, 150);
  const Precision precision = anyPrecision(random);
  const Number operand = operandOf(precision);
  const Into into = random.oneOf({Into::kOperand, Into::kFloat, Into::kAddToFloat});
  const Number result = into == Into::kOperand ? operand : Number::kFloat;
  const std::vector<float> weight = trial.memory.normal(area(out, in), 0.2f);
  const float* const bias = random.chance(3) ? nullptr : trial.memory.inputOf(size(out));
  const Values x(operand, trial.memory.normal(area(rows, in))), y(result, trial.memory.normal(area(rows, out))),
      w(operand, weight);
  Gemm gemm(stream());
  const Linear linear(stream(), {weight.data(), out, in}, bias, precision);
  trial.require(linear.in() == in && linear.out() == out, "has other sides");
  linear.run(stream(), gemm, x.data(), rows, into, y.data());
  const std::vector<float> found = y.now();
  // TF32 cuts 13 bits of each operand off.
  const double part = precision == Precision::kTf32 ? 0x1p-9 : 3e-6;
  for (int i = 0; i < rows; ++i) {
    for (int o = 0; o < out; ++o) {
      const std::size_t at = area(i, out) + size(o);
      const double start = into == Into::kAddToFloat ? static_cast<double>(y.rounded[at]) : 0;
      double sum = start, magnitude = 1;
      for (int k = 0; k < in; ++k) {
        const double product = static_cast<double>(x.rounded[area(i, in) + size(k)]) *
                               static_cast<double>(w.rounded[area(o, in) + size(k)]);
        sum += product;
        magnitude += std::abs(product);
      }
      if (bias != nullptr) sum += static_cast<double>(bias[o]);
      const double of_bias =
          result == Number::kFloat || bias == nullptr ? 0 : std::abs(static_cast<double>(bias[o])) * 0x1p-8;
      nearRounded(trial, result, found[at], sum, (part * magnitude + of_bias) / (1 + std::abs(sum)));
    }
  }
}

}  // namespace

std::vector<Kernel> elementwiseKernels() {
  return {{"cuda::norm, cuda::Norm", tryNorm},
          {"cuda::convert", tryConvert},
          {"cuda::rotate", tryRotate},
          {"cuda::meanOfSlices", tryMeanOfSlices},
          {"cuda::activate", tryActivate},
          {"cuda::addBias", tryAddBias},
          {"cuda::findNotFinite", tryFindNotFinite},
          {"cuda::normaliseRows", tryNormaliseRows},
          {"cuda::Linear", tryLinear}};
}

}  // namespace mpm::cuda::worlds
