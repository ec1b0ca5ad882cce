// SPDX-License-Identifier: Apache-2.0
// The scores of a taught head, its loss and its gradient.
#include "kernels/head_gradient.h"

#include "cpu.h"

namespace mpm::worlds {
namespace {

struct Head {
  HeadShape shape;
  const float* weights;

  explicit Head(Trial& trial)
      : shape{trial.random.size(1, 40), trial.random.size(1, 50), trial.random.size(1, 9)},
        weights(trial.memory.inputOf(shape.size(), 0.4f, 0.2f)) {}

  double at(std::size_t i) const { return static_cast<double>(weights[i]); }
  double hiddenWeight(int k, int h) const {
    return at(shape.hiddenWeight() + static_cast<std::size_t>(k) * shape.hidden + h);
  }
  double scoreWeight(int h, int c) const {
    return at(shape.scoreWeight() + static_cast<std::size_t>(h) * shape.classes + c);
  }

  /// Of tokens {N, dim}: behind the norm's weights, before GELU, and the scores.
  struct Layers {
    Reference scaled, sums, scores;
  };
  Layers forward(MatrixView<const float> units) const {
    Layers layers{Reference(units), Reference(units.rows, shape.hidden), Reference(units.rows, shape.classes)};
    for (int i = 0; i < units.rows; ++i) {
      for (int k = 0; k < shape.dim; ++k)
        layers.scaled.at(i, k) = layers.scaled.at(i, k) * at(k) + at(shape.normBias() + k);
      for (int c = 0; c < shape.classes; ++c) layers.scores.at(i, c) = at(shape.scoreBias() + c);
      for (int h = 0; h < shape.hidden; ++h) {
        double sum = at(shape.hiddenBias() + h);
        for (int k = 0; k < shape.dim; ++k) sum += layers.scaled.at(i, k) * hiddenWeight(k, h);
        layers.sums.at(i, h) = sum;
        for (int c = 0; c < shape.classes; ++c)
          layers.scores.at(i, c) += test::activated(Activation::kGeluErf, sum) * scoreWeight(h, c);
      }
    }
    return layers;
  }
};

void tryHeadScores(Trial& trial) {
  const Head head(trial);
  const MatrixView<const float> units = trial.memory.inputRows(trial.random.size(1, 90), head.shape.dim, 1, true);
  const MatrixView<float> scores = trial.memory.outputRows(units.rows, head.shape.classes, true),
                          threaded = trial.memory.outputRows(units.rows, head.shape.classes, true);
  headScores(head.shape, head.weights, units, scores, Serial());
  headScores(head.shape, head.weights, units, threaded, trial.threads());
  trial.same<float>(scores, threaded, kThreadsMatter);
  trial.near(scores, head.forward(units).scores, 5e-5);
}

void tryHeadGradient(Trial& trial) {
  Random& random = trial.random;
  const Head head(trial);
  const HeadShape& s = head.shape;
  const int height = random.size(1, 6), width = random.size(1, 6), pictures = random.size(1, 3);
  const AxisResampling rows = bilinearAxis(height, height * random.size(1, 4)),
                       columns = bilinearAxis(width, width * random.size(1, 4));
  std::vector<float> class_weights;
  for (int c = 0; c < s.classes; ++c) class_weights.push_back(0.2f + std::abs(random.normal(1)));
  const int cells = rows.outputs() * columns.outputs();
  std::vector<LabelledRows> batch;
  for (int p = 0; p < pictures; ++p) {
    std::vector<std::uint8_t> labels(static_cast<std::size_t>(cells));
    for (std::uint8_t& label : labels)
      label = random.chance(4) ? std::uint8_t{255} : static_cast<std::uint8_t>(random.bits() % (s.classes + 1));
    batch.push_back({trial.memory.inputRows(height * width, s.dim, 1, true), trial.memory.input<std::uint8_t>(labels)});
  }
  HeadGradient of(s, rows, columns, class_weights);
  float* const gradient = trial.memory.output<float>(s.size());
  float* const threaded = trial.memory.output<float>(s.size());
  const double loss = of(head.weights, batch, gradient, Serial());
  const double again = of(head.weights, batch, threaded, trial.threads());

  double total = 0, weighed = 0;
  std::vector<Head::Layers> layers;
  std::vector<Reference> slopes;  // of the loss by the scores, before the division by `weighed`
  for (const LabelledRows& picture : batch) {
    layers.push_back(head.forward(picture.units));
    slopes.emplace_back(height * width, s.classes);
    for (int y = 0; y < rows.outputs(); ++y) {
      for (int x = 0; x < columns.outputs(); ++x) {
        const int label = picture.cells[y * columns.outputs() + x];
        if (label >= s.classes) continue;
        const auto each = [&](auto work) {
          for (int t = 0; t < rows.taps; ++t) {
            for (int u = 0; u < columns.taps; ++u) {
              work((rows.first[y] + t) * width + columns.first[x] + u,
                   static_cast<double>(rows.weightsOf(y)[t]) * static_cast<double>(columns.weightsOf(x)[u]));
            }
          }
        };
        std::vector<double> logits(static_cast<std::size_t>(s.classes));
        for (int c = 0; c < s.classes; ++c) {
          each([&](int i, double weight) {
            logits[static_cast<std::size_t>(c)] += weight * layers.back().scores.at(i, c);
          });
        }
        double sum = 0;
        for (const double logit : logits) sum += std::exp(logit);
        const auto factor = static_cast<double>(class_weights[static_cast<std::size_t>(label)]);
        total += factor * (std::log(sum) - logits[static_cast<std::size_t>(label)]);
        weighed += factor;
        for (int c = 0; c < s.classes; ++c) {
          const double slope = factor * (std::exp(logits[static_cast<std::size_t>(c)]) / sum - (c == label ? 1 : 0));
          each([&](int i, double weight) { slopes.back().at(i, c) += weight * slope; });
        }
      }
    }
  }
  if (weighed == 0) return trial.require(std::isnan(loss), "finds a loss where no cell has a class");
  trial.require(loss == again && std::memcmp(gradient, threaded, s.size() * sizeof(float)) == 0, kThreadsMatter);
  trial.near(loss, total / weighed, 1e-5);
  std::vector<double> expected(s.size());
  for (std::size_t p = 0; p < batch.size(); ++p) {
    for (int i = 0; i < height * width; ++i) {
      const Head::Layers& layer = layers[p];
      std::vector<double> of_input(static_cast<std::size_t>(s.dim));
      for (int c = 0; c < s.classes; ++c)
        expected[s.scoreBias() + static_cast<std::size_t>(c)] += slopes[p].at(i, c) / weighed;
      for (int h = 0; h < s.hidden; ++h) {
        const double z = layer.sums.at(i, h);
        double slope = 0;
        for (int c = 0; c < s.classes; ++c) {
          slope += slopes[p].at(i, c) / weighed * head.scoreWeight(h, c);
          expected[s.scoreWeight() + static_cast<std::size_t>(h) * s.classes + c] +=
              slopes[p].at(i, c) / weighed * test::activated(Activation::kGeluErf, z);
        }
        slope *= 0.5 * std::erfc(-z / std::sqrt(2.0)) + z * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
        expected[s.hiddenBias() + static_cast<std::size_t>(h)] += slope;
        for (int k = 0; k < s.dim; ++k) {
          expected[s.hiddenWeight() + static_cast<std::size_t>(k) * s.hidden + h] += slope * layer.scaled.at(i, k);
          of_input[static_cast<std::size_t>(k)] += slope * head.hiddenWeight(k, h);
        }
      }
      for (int k = 0; k < s.dim; ++k) {
        expected[static_cast<std::size_t>(k)] +=
            of_input[static_cast<std::size_t>(k)] * static_cast<double>(batch[p].units.row(i)[k]);
        expected[s.normBias() + static_cast<std::size_t>(k)] += of_input[static_cast<std::size_t>(k)];
      }
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) trial.near(static_cast<double>(gradient[i]), expected[i], 2e-5);
}

}  // namespace

std::vector<Kernel> headKernels() { return {{"headScores", tryHeadScores}, {"HeadGradient", tryHeadGradient}}; }

}  // namespace mpm::worlds
