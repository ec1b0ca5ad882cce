// SPDX-License-Identifier: Apache-2.0
// Transformer blocks, their parts and their keys, and attention in windows.
#include "block.h"
#include "cpu.h"
#include "kernels/attend.h"
#include "kernels/cpu/amx_tiles.h"
#include "kernels/emulated_amx.h"
#include "kernels/transformer_block.h"
#include "kernels/window_attention.h"

namespace mpm::worlds {
namespace {

Precision randomPrecision(Random& random) {
  const Precision precision =
      random.oneOf({Precision::kFp32, Precision::kFp32, Precision::kBf16, Precision::kInt8, Precision::kFp16});
  return isHere(precision) ? precision : Precision::kFp32;
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

/// A net that reuses rows of earlier frames packs some of them again, into panels that keep the others.
void tryKeptKeys(Trial& trial, const TileKernel* tiles) {
  if (tiles == nullptr) return;
  Random& random = trial.random;
  const int rows = random.size(1, 150), heads = random.size(1, 3), head_dim = random.size(1, 40),
            dim = heads * head_dim, capacity = rows + random.size(0, 40);
  Matrix all[3] = {{rows, dim}, {rows, dim}, {rows, dim}};
  for (Matrix& matrix : all) matrix.values = trial.memory.normal(matrix.values.size());
  Scratch<float> memory;
  const std::size_t size = AttentionInput::keptSize(capacity, heads, head_dim, tiles);
  std::fill_n(memory.atLeast(size), size, 0.0f);
  KeptKeys kept{memory.atLeast(size), capacity, rows, nullptr};
  const MatrixView<float> before = trial.memory.outputRows(rows, dim), whole = trial.memory.outputRows(rows, dim);
  test::attend(all[0].view(), all[1].view(), all[2].view(), heads, 0.2f, nullptr, before, trial.threads(), tiles, kept);
  std::vector<int> changed;
  for (int i = 0; i < rows; ++i)
    if (random.chance(3)) changed.push_back(i);
  const int few = static_cast<int>(changed.size());
  Matrix some[3] = {{few, dim}, {few, dim}, {few, dim}};
  for (int part = 0; part < 3; ++part) {
    some[part].values = trial.memory.normal(some[part].values.size(), random.oneOf({0.3f, 1.0f}));
    for (int i = 0; i < few; ++i) std::copy_n(some[part].view().row(i), dim, all[part].view().row(changed[i]));
  }
  kept.places = changed.data();
  const MatrixView<float> found = trial.memory.outputRows(few, dim);
  test::attend(some[0].view(), some[1].view(), some[2].view(), heads, 0.2f, nullptr, found, Serial(), tiles, kept);
  test::attend(all[0].view(), all[1].view(), all[2].view(), heads, 0.2f, nullptr, whole, Serial(), tiles);
  for (int i = 0; i < few; ++i) {
    trial.same<float>(found.rowRange(i, i + 1), whole.rowRange(changed[i], changed[i] + 1),
                      "attends to other keys than those of all rows");
  }
}

void tryBlock(Trial& trial) {
  Random& random = trial.random;
  const test::BlockOptions options = randomBlock(random, randomPrecision(random));
  const unsigned seed = random.bits();
  const test::BlockWeights weights(options, seed);
  test::BlockWeights passing(options, seed);
  TransformerBlockSpec spec = weights.spec(), passing_spec = passing.spec();
  spec.part = passing_spec.part = randomPart(random);
  spec.parallel = passing_spec.parallel = spec.parallel && spec.part == BlockPart::kWhole;
  const bool attends = spec.part != BlockPart::kMlp;
  const int batch = random.size(1, 3), capacity = options.special + random.size(1, 90);
  std::vector<int> rows;
  for (int b = 0; b < batch; ++b) rows.push_back(options.special + random.size(1, capacity - options.special));
  // Rows past the live ones are NaN: whoever reads them shows it.
  const std::size_t values = static_cast<std::size_t>(batch) * capacity * options.dim;
  const auto ragged = [&](int columns, float sigma, int in_front) {
    const int room = capacity - in_front;
    std::vector<float> all(static_cast<std::size_t>(batch) * room * columns, std::numeric_limits<float>::quiet_NaN());
    for (int b = 0; b < batch; ++b) {
      for (int i = 0; i < (rows[static_cast<std::size_t>(b)] - in_front) * columns; ++i)
        all[static_cast<std::size_t>(b) * room * columns + i] = random.normal(sigma);
    }
    return all;
  };
  const int* const live = trial.memory.input<int>(rows);
  const float* const x = trial.memory.input<float>(ragged(options.dim, 1, 0));
  const float* const bias = attends && random.chance(2) ? trial.memory.input<float>(ragged(1, 1, 0)) : nullptr;
  const bool rotates = attends && options.rotary_tables > 0, keyed = attends && random.chance(3);
  const int pairs = rotates ? random.size(1, options.head_dim / 2) : 0;
  const int columns = 2 * options.rotary_tables * pairs;
  MatrixView<const float> rotations;
  if (rotates) {
    rotations = {trial.memory.input<float>(ragged(columns, 0.7f, options.special)),
                 batch * (capacity - options.special), columns};
  }
  const TransformerBlock block(passing_spec);
  passing.forget();
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
    const Reference expected = test::block(spec, from, bias ? bias + begin : nullptr, turns);
    checkBlock(trial, options.precision, {results[0] + begin * options.dim, n, options.dim}, expected, from);
    if (keyed) {
      trial.near({keys[0] + begin * options.head_dim, n, options.head_dim},
                 test::meanKeys(spec, test::norm(from, spec.norm1)),
                 options.precision == Precision::kFp32 ? 1e-3 : 0.2);
    }
  }
}

void tryKept(Trial& trial) {
  const Precision precision = randomPrecision(trial.random);
  test::BlockOptions options = randomBlock(trial.random, precision);
  options.rotary_tables = 0;
  const test::BlockWeights weights(options, trial.random.bits());
  const TransformerBlockSpec spec = weights.spec();
  const TransformerBlock block(spec);
  const int rows = options.special + trial.random.size(1, 150), capacity = rows + trial.random.size(0, 5);
  Scratch<float> memory;
  std::fill_n(memory.atLeast(block.keptSize(capacity)), block.keptSize(capacity), 0.0f);
  tryKeptRows(trial, spec, rows, -std::numeric_limits<float>::infinity(),
              [&](const Matrix& x, const std::vector<int>& places, const std::vector<float>& bias) {
                std::vector<float> y(x.values.size());
                block.run({x.values.data(), 1, x.rows, x.cols, &x.rows}, bias.data(),
                          {y.data(), 1, x.rows, x.cols, &x.rows}, trial.threads(), {}, {},
                          {memory.atLeast(1), capacity, rows, places.data()});
                return y;
              });
}

void tryWindows(Trial& trial) {
  const RandomWindows windows(trial, randomBlock(trial.random, randomPrecision(trial.random)), 17);
  const WindowAttentionSpec& spec = windows.spec;
  const int batch = trial.random.size(1, 2), rows = windows.rows;
  const std::vector<int> live(static_cast<std::size_t>(batch), rows);
  const int* const counts = trial.memory.input<int>(live);
  const std::size_t values = static_cast<std::size_t>(batch) * rows * spec.dim;
  const float* const x = trial.memory.inputOf(values);
  float* const y = trial.memory.output<float>(values);
  float* const threaded = trial.memory.output<float>(values);
  const WindowAttention attention(spec);
  attention.run({x, batch, rows, spec.dim, counts}, {y, batch, rows, spec.dim, counts}, Serial());
  attention.run({x, batch, rows, spec.dim, counts}, {threaded, batch, rows, spec.dim, counts}, trial.threads());
  trial.require(std::memcmp(y, threaded, values * sizeof(float)) == 0, kThreadsMatter);
  for (int b = 0; b < batch; ++b) {
    const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(b) * rows * spec.dim;
    const Reference from(MatrixView<const float>(x + begin, rows, spec.dim));
    checkBlock(trial, spec.precision, {y + begin, rows, spec.dim}, test::windowAttention(spec, from), from);
  }
}

}  // namespace

std::vector<Kernel> attentionKernels() {
  std::vector<Kernel> kernels = {
      {"TransformerBlock", tryBlock},
      {"TransformerBlock kept", tryKept},
      {"TransformerBlock attention", [](Trial& trial) { tryAttention(trial, attentionTiles(Precision::kFp32), 1e-5); }},
      {"TransformerBlock attention int8",
       [](Trial& trial) { tryAttention(trial, tileKernel(Precision::kInt8), 0.08); }},
      {"TransformerBlock keys kept in int8", [](Trial& trial) { tryKeptKeys(trial, tileKernel(Precision::kInt8)); }},
      {"WindowAttention", tryWindows}};
#if defined(__x86_64__)
  kernels.push_back({"TransformerBlock attention bf16 on emulated AMX", [](Trial& trial) {
                       tryAttention(trial, &AmxTiles<test::EmulatedAmx>::kernel(Precision::kBf16), 0.04);
                     }});
  kernels.push_back({"TransformerBlock attention int8 on emulated AMX", [](Trial& trial) {
                       tryAttention(trial, &AmxTiles<test::EmulatedAmx>::kernel(Precision::kInt8), 0.08);
                     }});
  kernels.push_back({"TransformerBlock keys kept in bf16 on emulated AMX",
                     [](Trial& trial) { tryKeptKeys(trial, &AmxTiles<test::EmulatedAmx>::kernel(Precision::kBf16)); }});
  kernels.push_back({"TransformerBlock keys kept in int8 on emulated AMX",
                     [](Trial& trial) { tryKeptKeys(trial, &AmxTiles<test::EmulatedAmx>::kernel(Precision::kInt8)); }});
#endif
  return kernels;
}

}  // namespace mpm::worlds
