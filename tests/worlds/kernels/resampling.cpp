// SPDX-License-Identifier: Apache-2.0
#include "cpu.h"
#include "resample_case.h"

namespace mpm::worlds {
namespace {

/// By the definition: half-pixel centres, edges clamped.
void tryBilinearAxis(Trial& trial) {
  const int inputs = trial.random.size(1, 60), outputs = trial.random.size(1, 600);
  const AxisResampling axis = bilinearAxis(inputs, outputs);
  if (axis.outputs() != outputs || axis.inputs != inputs) return trial.require(false, "has other sides");
  for (int o = 0; o < outputs; ++o) {
    const int first = axis.first[o];
    if (first < 0 || first + axis.taps > inputs) return trial.require(false, "reads beside the axis");
    const double at = std::clamp((o + 0.5) * inputs / outputs - 0.5, 0.0, inputs - 1.0);
    for (int i = 0; i < inputs; ++i) {
      const int t = i - first;
      const double found = t < 0 || t >= axis.taps ? 0 : tap(axis, o, t),
                   expected = std::max(0.0, 1 - std::abs(at - i));
      trial.require(std::abs(found - expected) <= 1e-6, "gives another weight");
    }
  }
}

template <typename T>
void tryResizeArgmax(Trial& trial) {
  const AxisResampling rows = randomAxis(trial.random, 12, 40), columns = randomAxis(trial.random, 12, 70);
  const int height = rows.outputs(), width = columns.outputs();
  const RandomScores random_scores(trial, rows, columns, 250);
  const int classes = random_scores.classes;
  const MatrixView<const float> scores =
      trial.memory.inputRows(rows.inputs * columns.inputs, classes, random_scores.values, true);
  const int stride = width + (trial.random.chance(2) ? 0 : trial.random.size(1, 9));
  const std::size_t pixels = static_cast<std::size_t>(height - 1) * stride + width;
  T* const labels = trial.memory.output<T>(pixels);
  T* const threaded = trial.memory.output<T>(pixels);
  const std::vector<T> before(labels, labels + pixels);
  resizeArgmax<T>(scores, rows, columns, {labels, height, width, stride}, Serial());
  resizeArgmax<T>(scores, rows, columns, {threaded, height, width, stride}, trial.threads());
  trial.require(std::memcmp(labels, threaded, pixels * sizeof(T)) == 0, kThreadsMatter);
  for (int y = 0; y + 1 < height; ++y) {
    const std::size_t gap = static_cast<std::size_t>(y) * stride + width,
                      wide = static_cast<std::size_t>(stride - width);
    trial.require(std::memcmp(labels + gap, before.data() + gap, wide * sizeof(T)) == 0, "writes between the rows");
  }
  random_scores.check(trial, scores, rows, columns, labels, stride);
}

// Into a map {height, width, classes}, or with `kByClass` into {classes, height, width}.
template <bool kByClass>
void tryResize(Trial& trial) {
  const auto resize = kByClass ? resizeLogits : resizePixels;
  const AxisResampling rows = randomAxis(trial.random, 12, 40), columns = randomAxis(trial.random, 12, 70);
  const int classes = trial.random.size(1, 30), height = rows.outputs(), width = columns.outputs();
  const MatrixView<const float> scores = trial.memory.inputRows(rows.inputs * columns.inputs, classes, 1, true);
  const std::size_t count = static_cast<std::size_t>(classes) * height * width;
  float* const logits = trial.memory.output<float>(count);
  float* const threaded = trial.memory.output<float>(count);
  resize(scores, rows, columns, logits, Serial());
  resize(scores, rows, columns, threaded, trial.threads());
  trial.require(std::memcmp(logits, threaded, count * sizeof(float)) == 0, kThreadsMatter);
  for (int c = 0; c < classes; ++c) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        trial.near(static_cast<double>(logits[kByClass ? (c * height + y) * width + x : (y * width + x) * classes + c]),
                   test::logitAt(scores, rows, columns, y, x, c), 1e-5);
      }
    }
  }
}

void tryCombineRows(Trial& trial) {
  const int taps = trial.random.size(1, 9), count = trial.random.size(1, 200);
  const MatrixView<const float> from = trial.memory.inputRows(taps, count);
  const float* const weight = trial.memory.inputOf(taps);
  float* const to = trial.memory.output<float>(count);
  combineRows(from.data, from.stride, weight, taps, to, count);
  for (int i = 0; i < count; ++i) {
    double sum = 0;
    for (int t = 0; t < taps; ++t) sum += static_cast<double>(weight[t]) * static_cast<double>(from.row(t)[i]);
    trial.near(static_cast<double>(to[i]), sum, 5e-6);
  }
}

void tryComposeAxes(Trial& trial) {
  const AxisResampling first = randomAxis(trial.random, 20, 20);
  AxisResampling second = randomAxis(trial.random, 20, 20);
  second = bilinearAxis(first.outputs(), second.outputs());
  const AxisResampling both = composeAxes(first, second);
  trial.require(both.inputs == first.inputs && both.outputs() == second.outputs(), "has other sides");
  std::vector<double> x(static_cast<std::size_t>(first.inputs));
  for (double& value : x) value = static_cast<double>(trial.random.normal(1));
  const auto resample = [](const AxisResampling& axis, const std::vector<double>& from) {
    std::vector<double> to;
    for (int o = 0; o < axis.outputs(); ++o) {
      double sum = 0;
      for (int t = 0; t < axis.taps; ++t) sum += tap(axis, o, t) * from[static_cast<std::size_t>(axis.first[o] + t)];
      to.push_back(sum);
    }
    return to;
  };
  for (int o = 0; o < both.outputs(); ++o) {
    if (both.first[o] < 0 || both.first[o] + both.taps > both.inputs)
      return trial.require(false, "reads beside the axis");
  }
  const std::vector<double> found = resample(both, x), expected = resample(second, resample(first, x));
  for (std::size_t o = 0; o < expected.size(); ++o) trial.near(found[o], expected[o], 2e-6);
}

void tryLabelByLinearModels(Trial& trial) {
  Random& random = trial.random;
  const int grid_h = random.size(1, 7), grid_w = random.size(1, 7), classes = random.size(1, 40);
  const int height = random.size(1, 30), width = random.size(1, 60);
  LinearModels models(grid_h, grid_w, classes);
  const bool ties = random.chance(6);  // all functions are 0
  for (std::size_t i = 0; i < models.data.size(); ++i)
    if (!ties && static_cast<int>(i) % models.padded < classes) models.data[i] = random.normal(1);
  const AxisResampling rows = bilinearAxis(grid_h, height), columns = bilinearAxis(grid_w, width);
  std::vector<std::uint8_t> values(static_cast<std::size_t>(height) * width * 3), names;
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random.bits());
  for (int c = 0; c < classes; ++c) names.push_back(static_cast<std::uint8_t>(200 - 3 * c));
  const std::size_t pixels = static_cast<std::size_t>(height) * width;
  const std::uint8_t* const image = trial.memory.input<std::uint8_t>(values);
  std::uint8_t* const labels = trial.memory.output<std::uint8_t>(pixels);
  std::uint8_t* const threaded = trial.memory.output<std::uint8_t>(pixels);
  labelByLinearModels(models, rows, columns, {image, height, 3 * width}, names, {labels, height, width}, Serial());
  labelByLinearModels(models, rows, columns, {image, height, 3 * width}, names, {threaded, height, width},
                      trial.threads());
  trial.require(std::memcmp(labels, threaded, pixels) == 0, kThreadsMatter);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::vector<double> of_class(static_cast<std::size_t>(classes));
      for (int s = 0; s < rows.taps; ++s) {
        for (int t = 0; t < columns.taps; ++t) {
          const std::size_t cell = static_cast<std::size_t>(rows.first[y] + s) * grid_w + columns.first[x] + t;
          for (int c = 0; c < classes; ++c) {
            const auto factor = [&](std::size_t v) {
              return static_cast<double>(models.data[(cell * 4 + v) * models.padded + c]);
            };
            double value = factor(3);
            for (std::size_t v = 0; v < 3; ++v) value += factor(v) * image[(y * width + x) * 3 + v] / 255;
            of_class[static_cast<std::size_t>(c)] += tap(rows, y, s) * tap(columns, x, t) * value;
          }
        }
      }
      const double most = *std::max_element(of_class.begin(), of_class.end());
      const int found = (200 - labels[y * width + x]) / 3;
      if (found < 0 || found >= classes || labels[y * width + x] != names[static_cast<std::size_t>(found)])
        return trial.require(false, "gives a label that is none");
      trial.require(!ties || found == 0, "gives another class than the first of equal ones");
      trial.require(of_class[static_cast<std::size_t>(found)] >= most - 2e-5 * (1 + std::abs(most)),
                    "gives a class with a smaller value");
    }
  }
}

}  // namespace

std::vector<Kernel> resamplingKernels() {
  return {{"bilinearAxis", tryBilinearAxis},
          {"resizeArgmax of a net", tryResizeArgmax<float>},
          {"resizeArgmax of a picture", tryResizeArgmax<unsigned char>},
          {"resizeLogits", tryResize<true>},
          {"resizePixels", tryResize<false>},
          {"combineRows", tryCombineRows},
          {"composeAxes", tryComposeAxes},
          {"labelByLinearModels", tryLabelByLinearModels}};
}

}  // namespace mpm::worlds
