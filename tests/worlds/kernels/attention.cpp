// SPDX-License-Identifier: Apache-2.0
// Transformer blocks, their parts and their keys, and attention in windows.
#include "kernels/attend.h"
#include "kernels/block_weights.h"
#include "kernels/cpu/amx_tiles.h"
#include "kernels/emulated_amx.h"
#include "kernels/transformer_block.h"
#include "kernels/window_attention.h"
#include "trial.h"

namespace mpm::worlds {
namespace {

test::BlockOptions randomOptions(Random& random) {
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
  o.precision =
      random.oneOf({Precision::kFp32, Precision::kFp32, Precision::kBf16, Precision::kInt8, Precision::kFp16});
  if (!isHere(o.precision)) o.precision = Precision::kFp32;
  // Norms of few columns enlarge what a precision rounds.
  if (o.precision != Precision::kFp32)
    for (int* const side : {&o.dim, &o.head_dim, &o.hidden}) *side += 16;
  return o;
}

/// Norms of one or two columns, as heads and hidden layers may have, enlarge what rounding leaves.
constexpr double kTolerance = 2e-3;

void check(Trial& trial, Precision precision, MatrixView<const float> found, const Reference& expected,
           const Reference& from) {
  if (precision == Precision::kFp32) return trial.near(found, expected, kTolerance);
  trial.close(found, expected, from, precision == Precision::kInt8 ? 0.1 : 0.05);
}

/// On tiles of a precision, or without: the fp32 tiles.
void tryAttention(Trial& trial, const TileKernel* tiles, double tolerance) {
  Random& random = trial.random;
  const int rows = random.size(1, 270), heads = random.size(1, 3),
            head_dim = random.size(1, random.chance(4) ? 144 : 40), width = heads * head_dim;
  // Sums of exponentials need a maximum where the logits may be larger than 60.
  const bool large = tolerance < 1e-3 && random.chance(2);
  const MatrixView<const float> q = trial.memory.inputRows(rows, width,
                                                           large ? random.oneOf({2.0f, 9.0f, 60.0f}) : 1.0f),
                                k = trial.memory.inputRows(rows, width), v = trial.memory.inputRows(rows, width);
  std::vector<float> biases = trial.memory.normal(static_cast<std::size_t>(rows));
  const int kind = random.size(0, 4);
  if (kind == 1) biases[random.bits() % biases.size()] = 300;
  for (int i = 0; i + 1 < rows && kind == 2; ++i)
    if (random.chance(3)) biases[static_cast<std::size_t>(i)] = -std::numeric_limits<float>::infinity();
  const float* const bias = kind == 0 ? nullptr : trial.memory.input<float>(biases);
  const float scale = 1 / std::sqrt(static_cast<float>(head_dim));
  const MatrixView<float> y = trial.memory.outputRows(rows, width), threaded = trial.memory.outputRows(rows, width);
  test::attend(q, k, v, heads, scale, bias, y, Serial(), tiles);
  test::attend(q, k, v, heads, scale, bias, threaded, trial.threads(), tiles);
  trial.same<float>(y, threaded, kThreadsMatter);
#if defined(__x86_64__)
  trial.require(!test::EmulatedAmx::isConfigured(), "leaves the tiles of AMX configured");
#endif
  trial.near(y, test::attention(Reference(q), Reference(k), Reference(v), heads, static_cast<double>(scale), bias),
             large ? 1e-3 : tolerance);
}

void tryBlock(Trial& trial) {
  Random& random = trial.random;
  const test::BlockOptions options = randomOptions(random);
  const test::BlockWeights weights(options, random.bits());
  TransformerBlockSpec spec = weights.spec();
  spec.part = random.oneOf({BlockPart::kWhole, BlockPart::kWhole, BlockPart::kAttention, BlockPart::kMlp});
  spec.parallel = spec.parallel && spec.part == BlockPart::kWhole;
  const bool attends = spec.part != BlockPart::kMlp;
  const int batch = random.size(1, 3), capacity = options.special + random.size(1, 90);
  std::vector<int> rows;
  for (int b = 0; b < batch; ++b) rows.push_back(options.special + random.size(1, capacity - options.special));
  // Rows past the live ones are NaN: whoever reads them shows it.
  const std::size_t values = static_cast<std::size_t>(batch) * capacity * options.dim;
  const auto ragged = [&](int columns, float sigma, int in_front) {
    const int room = capacity - in_front;
    std::vector<float> all(static_cast<std::size_t>(batch) * room * columns, std::numeric_limits<float>::quiet_NaN());
    for (int b = 0; b < batch; ++b)
      for (int i = 0; i < (rows[static_cast<std::size_t>(b)] - in_front) * columns; ++i)
        all[static_cast<std::size_t>(b) * room * columns + i] = random.normal(sigma);
    return all;
  };
  const int* const live = trial.memory.input<int>(rows);
  const float* const x = trial.memory.input<float>(ragged(options.dim, 1, 0));
  const float* const bias = attends && random.chance(2) ? trial.memory.input<float>(ragged(1, 1, 0)) : nullptr;
  const bool rotates = attends && options.rotary_tables > 0, keyed = attends && random.chance(3);
  const int pairs = rotates ? random.size(1, options.head_dim / 2) : 0;
  const int columns = 2 * options.rotary_tables * pairs;
  MatrixView<const float> rotations;
  if (rotates)
    rotations = {trial.memory.input<float>(ragged(columns, 0.7f, options.special)),
                 batch * (capacity - options.special), columns};
  const TransformerBlock block(spec);
  const std::size_t key_values = static_cast<std::size_t>(batch) * capacity * options.head_dim;
  float* results[2];
  float* keys[2];
  for (int k = 0; k < 2; ++k) {
    results[k] = trial.memory.output<float>(values);
    keys[k] = keyed ? trial.memory.output<float>(key_values) : nullptr;
    const TokensView<float> kept =
        keyed ? TokensView<float>{keys[k], batch, capacity, options.head_dim, live} : TokensView<float>();
    const TokensView<const float> from{x, batch, capacity, options.dim, live};
    const TokensView<float> to{results[k], batch, capacity, options.dim, live};
    if (k == 0)
      block.run(from, bias, to, Serial(), kept, rotations);
    else
      block.run(from, bias, to, trial.threads(), kept, rotations);
  }
  trial.require(std::memcmp(results[0], results[1], values * sizeof(float)) == 0, kThreadsMatter);
  trial.require(!keyed || std::memcmp(keys[0], keys[1], key_values * sizeof(float)) == 0, kThreadsMatter);
  for (int b = 0; b < batch; ++b) {
    const int n = rows[static_cast<std::size_t>(b)];
    const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(b) * capacity;
    const Reference from(MatrixView<const float>(x + begin * options.dim, n, options.dim));
    MatrixView<const float> turns;
    if (rotates) turns = rotations.rowRange(b * (capacity - options.special), (b + 1) * (capacity - options.special));
    Reference expected = from;
    if (attends)
      expected = test::withAttention(spec, from,
                                     test::attended(spec, test::norm(from, spec.norm1), bias ? bias + begin : nullptr,
                                                    {turns, spec.special, spec.rotary_tables}));
    if (spec.part != BlockPart::kAttention) expected = test::withMlp(spec, expected, spec.parallel ? from : expected);
    check(trial, options.precision, {results[0] + begin * options.dim, n, options.dim}, expected, from);
    if (keyed)
      trial.near({keys[0] + begin * options.head_dim, n, options.head_dim},
                 test::meanKeys(spec, test::norm(from, spec.norm1)),
                 options.precision == Precision::kFp32 ? 1e-3 : 0.2);
  }
}

void tryWindows(Trial& trial) {
  Random& random = trial.random;
  test::BlockOptions options = randomOptions(random);
  options.rotary_tables = 0;
  const test::BlockWeights weights(options, random.bits());
  WindowAttentionSpec spec;
  static_cast<AttentionSpec&>(spec) = weights.spec();
  const bool few = random.chance(5);  // and large
  const int windows = random.size(1, few ? 2 : 5), height = random.size(1, few ? 17 : 5),
            width = random.size(1, few ? 19 : 5), tokens = height * width;
  // The rows in a random order, and padding where they end.
  const int rows = random.size(std::max(1, windows * tokens - tokens), windows * tokens);
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
    spec.relative_positions = {height, width,
                               trial.memory.inputOf(static_cast<std::size_t>(2 * height - 1) * options.head_dim, size),
                               trial.memory.inputOf(static_cast<std::size_t>(2 * width - 1) * options.head_dim, size)};
  }
  const int batch = random.size(1, 2);
  const std::vector<int> live(static_cast<std::size_t>(batch), rows);
  const int* const counts = trial.memory.input<int>(live);
  const std::size_t values = static_cast<std::size_t>(batch) * rows * options.dim;
  const float* const x = trial.memory.inputOf(values);
  float* const y = trial.memory.output<float>(values);
  float* const threaded = trial.memory.output<float>(values);
  const WindowAttention attention(spec);
  attention.run({x, batch, rows, options.dim, counts}, {y, batch, rows, options.dim, counts}, Serial());
  attention.run({x, batch, rows, options.dim, counts}, {threaded, batch, rows, options.dim, counts}, trial.threads());
  trial.require(std::memcmp(y, threaded, values * sizeof(float)) == 0, kThreadsMatter);
  for (int b = 0; b < batch; ++b) {
    const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(b) * rows * options.dim;
    const Reference from(MatrixView<const float>(x + begin, rows, options.dim));
    check(trial, options.precision, {y + begin, rows, options.dim}, test::windowAttention(spec, from), from);
  }
}

}  // namespace

std::vector<Kernel> attentionKernels() {
  std::vector<Kernel> kernels = {
      {"TransformerBlock", tryBlock},
      {"TransformerBlock attention", [](Trial& trial) { tryAttention(trial, attentionTiles(Precision::kFp32), 1e-5); }},
      {"TransformerBlock attention int8",
       [](Trial& trial) { tryAttention(trial, tileKernel(Precision::kInt8), 0.08); }},
      {"WindowAttention", tryWindows}};
#if defined(__x86_64__)
  kernels.push_back({"TransformerBlock attention bf16 on emulated AMX", [](Trial& trial) {
                       tryAttention(trial, &AmxTiles<test::EmulatedAmx>::kernel(Precision::kBf16), 0.04);
                     }});
  kernels.push_back({"TransformerBlock attention int8 on emulated AMX", [](Trial& trial) {
                       tryAttention(trial, &AmxTiles<test::EmulatedAmx>::kernel(Precision::kInt8), 0.08);
                     }});
#endif
  return kernels;
}

}  // namespace mpm::worlds
