// SPDX-License-Identifier: Apache-2.0
// Random blocks and windows, for the CPU and for GPUs.
#pragma once

#include "kernels/block_weights.h"
#include "trial.h"

namespace mpm::worlds {

inline test::BlockOptions randomBlock(Random& random, Precision precision) {
  test::BlockOptions o;
  o.heads = random.size(1, 4);
  o.head_dim = random.size(1, 70);
  o.dim = random.size(2, 70);
  o.hidden = random.size(1, 90);
  o.special = random.size(0, 3);
  o.qk_norm = random.chance(3);
  o.gated = random.chance(3);
  o.mlp_norm = random.chance(4);
  o.attention_norm = random.chance(4);
  o.rms = random.chance(3);
  o.biases = !random.chance(4);
  o.norm_per_head = o.qk_norm && random.chance(2);
  o.parallel = random.chance(4);
  o.activation = test::kActivations[random.bits() % std::size(test::kActivations)];
  if (random.chance(2) && o.head_dim > 1) o.rotary_tables = random.chance(2) ? 1 : o.heads;
  o.precision = precision;
  // Norms of few columns enlarge what a precision rounds.
  if (precision != Precision::kFp32)
    for (int* const side : {&o.dim, &o.head_dim, &o.hidden}) *side += 16;
  return o;
}

inline BlockPart randomPart(Random& random) {
  return random.oneOf({BlockPart::kWhole, BlockPart::kWhole, BlockPart::kAttention, BlockPart::kMlp});
}

inline void checkBlock(Trial& trial, Precision precision, MatrixView<const float> found, const Reference& expected,
                       const Reference& from) {
  // Norms of one or two columns, as heads and hidden layers may have, enlarge what rounding leaves.
  if (precision == Precision::kFp32) return trial.near(found, expected, 2e-3);
  trial.close(found, expected, from, precision == Precision::kInt8 ? 0.1 : 0.05);
}

/// Attention in windows of an image, and positions of each kind.
struct RandomWindows {
  test::BlockWeights weights;
  WindowAttentionSpec spec;
  int rows;  ///< of an image

  /// `most`: windows of a few images may be so much larger.
  RandomWindows(Trial& trial, test::BlockOptions options, int most)
      : weights((options.rotary_tables = 0, options), trial.random.bits()) {
    Random& random = trial.random;
    static_cast<AttentionSpec&>(spec) = weights.spec();
    const bool few = random.chance(5);
    const int windows = random.size(1, few ? 2 : 5), height = random.size(1, few ? most : 5),
              width = random.size(1, few ? most + 2 : 5), tokens = height * width;
    // The rows in a random order, and padding where they end.
    rows = random.size(std::max(1, windows * tokens - tokens), windows * tokens);
    std::vector<float> places(static_cast<std::size_t>(windows) * tokens, -1.0f);
    for (int i = 0; i < rows; ++i) places[static_cast<std::size_t>(i)] = static_cast<float>(i);
    for (std::size_t i = places.size() - 1; i > 0; --i) std::swap(places[i], places[random.bits() % (i + 1)]);
    spec.windows = {windows, tokens, trial.memory.input<float>(places)};
    const int kind = random.size(0, 3);
    const float size = random.oneOf({0.3f, 4.0f});  // logits with and without a search for their maximum
    if (kind == 1 || kind == 2) {
      spec.position_bias.entries = kind == 1 ? tokens * tokens : random.size(1, 30);
      spec.position_bias.table =
          trial.memory.inputOf(static_cast<std::size_t>(options.heads) * spec.position_bias.entries, size);
      std::vector<float> index(static_cast<std::size_t>(tokens) * tokens);
      for (float& entry : index)
        entry = static_cast<float>(random.bits() % static_cast<unsigned>(spec.position_bias.entries));
      if (kind == 2) spec.position_bias.index = trial.memory.input<float>(index);
    } else if (kind == 3) {
      const auto table = [&](int side) {
        return trial.memory.inputOf(static_cast<std::size_t>(2 * side - 1) * options.head_dim, size);
      };
      spec.relative_positions = {height, width, table(height), table(width)};
    }
  }
};

/// Calls of a block that keeps the keys and values of earlier calls: some rows are computed again, and attend to what
/// all rows had when they were computed last. `run(x, places, bias)` gives the rows of a call, of which the first
/// `spec.special` are always there. `no_key`: the bias of a row that is none.
template <class Run>
void tryKeptRows(Trial& trial, const TransformerBlockSpec& spec, int rows, float no_key, Run run) {
  Random& random = trial.random;
  test::Matrix all(rows, spec.dim);
  for (int call = 0; call < 4; ++call) {
    std::vector<int> places;
    const unsigned share = random.bits() % 5;
    for (int i = 0; i < rows; ++i)
      if (call == 0 || i < spec.special || random.bits() % 4 < share) places.push_back(i);
    std::vector<float> bias(static_cast<std::size_t>(rows));
    const bool gaps = random.chance(2), tiles = random.chance(4);  // single rows, or all but one
    for (int i = 0; i + 1 < rows; ++i)
      if (tiles || (gaps && random.chance(3))) bias[static_cast<std::size_t>(i)] = no_key;
    const int count = static_cast<int>(places.size());
    if (count == 0) continue;
    test::Matrix x(count, spec.dim);
    x.values = trial.memory.normal(x.values.size());
    for (int i = 0; i < count; ++i)
      std::copy_n(x.view().row(i), spec.dim, all.view().row(places[static_cast<std::size_t>(i)]));
    const std::vector<float> y = run(x, places, bias);
    const Reference whole = test::block(spec, Reference(all.view()), bias.data());
    Reference expected(0, spec.dim);
    for (const int place : places) expected = test::stacked(expected, whole.rowRange(place, place + 1));
    checkBlock(trial, spec.precision, {y.data(), count, spec.dim}, expected, Reference(x.view()));
  }
}

}  // namespace mpm::worlds
