// SPDX-License-Identifier: Apache-2.0
// Transformer blocks, their parts and the rows that they keep, and attention in windows.
#include "kernels/cuda/attention.h"

#include "block.h"
#include "device.h"
#include "kernels/cuda/transformer_block.h"
#include "kernels/cuda/window_attention.h"

namespace mpm::cuda::worlds {
namespace {

/// Of images in one packed batch, or of some rows of an image with all of its keys and values.
void tryAttention(Trial& trial) {
  Random& random = trial.random;
  const Number number = anyNumber(random);
  AttentionCall call;
  call.heads = random.size(1, 3);
  call.head_dim = random.size(1, random.chance(8) ? 200 : 40);
  if (number != Number::kFloat && random.chance(2)) call.head_dim = 8 * random.size(1, 16);  // for tensor cores
  if (number != Number::kFloat && random.chance(3)) call.head_dim = 64;
  const int most = stream().device().major < 8 ? 128 : 256;
  call.head_dim = random.chance(20) ? most : std::min(call.head_dim, most);
  const int width = call.heads * call.head_dim;
  // Without an image of its own for each multiprocessor tiles are small.
  const bool many = random.chance(6);
  std::vector<int> rows(size(4 * stream().device().multiprocessors), 9);
  if (!many) rows = imageRows(random, 1, random.chance(4) ? 140 : 40);
  const bool kept = random.chance(4);
  if (kept) rows.resize(1);
  const float sigma = random.oneOf({1.0f, 1.0f, 3.0f});
  const int total = std::accumulate(rows.begin(), rows.end(), 0), keys = kept ? random.size(1, 130) : total;
  const Packed qkv(rows, 3 * width, number, trial.memory.normal(area(total, 3 * width), sigma));
  const Values all(number, trial.memory.normal(area(keys, 2 * width), sigma));
  std::vector<float> bias = trial.memory.normal(size(keys));
  const int kind = random.size(0, 2);
  for (std::size_t i = 1; kind == 2 && i < bias.size(); ++i)
    if (random.chance(3)) bias[i] = -1e30f;  // no key
  int begin = 0;
  for (const int count : rows) {  // but each image has one
    if (!kept) bias[size(begin)] = 0;
    begin += count;
  }
  const Buffer<float> device_bias = uploaded(stream(), bias);
  call.scale = random.oneOf({1.0f, 1.0f, 1.0f, -1.0f, 0.0f}) / std::sqrt(static_cast<float>(call.head_dim));
  call.key_bias = kind == 0 ? nullptr : device_bias.data();
  call.rows = qkv.ragged;
  call.kept = kept ? all.data() : nullptr;
  call.kept_rows = kept ? keys : 0;
  if (hasWarpgroupProducts(stream().device()) && random.chance(2)) call.warpgroups = random.chance(2);
  const Values out(number, std::vector<float>(area(total, width)));
  AttentionCall wide = call;
  wide.head_dim = most + 1;
  trial.refuses([&] { attention(stream(), wide, number, qkv.values.data(), out.data()); },
                "heads of up to " + std::to_string(most) + " columns");
  attention(stream(), call, number, qkv.values.data(), out.data());
  const std::vector<float> found = out.now();
  // Probabilities and results are rounded to 8 bits (bf16) and 11 (fp16) before and after the second product.
  const double tolerance = (number == Number::kFloat  ? 5e-6
                            : number == Number::kHalf ? 2e-3
                                                      : 1.6e-2) *
                           (sigma > 1 ? 10 : 1);
  for (int b = 0; b < call.rows.batch; ++b) {
    const Reference own(qkv.image(qkv.values.rounded, b));
    const Reference others =
        kept ? Reference(MatrixView<const float>(all.rounded.data(), keys, 2 * width)) : own.columns(width, 3 * width);
    const int first = kept ? 0 : qkv.offsets[size(b)];
    trial.near(
        {found.data() + area(qkv.offsets[size(b)], width), own.rows, width},
        mpm::test::attention(own.columns(0, width), others.columns(0, width), others.columns(width, 2 * width),
                             call.heads, static_cast<double>(call.scale), kind == 0 ? nullptr : bias.data() + first),
        tolerance);
  }
}

void tryRelativeProducts(Trial& trial) {
  Random& random = trial.random;
  const Number number = anyNumber(random);
  AttentionCall call;
  call.heads = random.size(1, 3);
  call.head_dim = random.size(1, 80);
  const int height = random.size(1, 7), width = random.size(1, 7), tokens = height * width, images = random.size(1, 3),
            columns = call.heads * call.head_dim;
  const Packed qkv(std::vector<int>(size(images), tokens), 3 * columns, number,
                   trial.memory.normal(area(images * tokens, 3 * columns)));
  call.rows = qkv.ragged;
  const std::vector<float> of_rows = trial.memory.normal(area(2 * height - 1, call.head_dim)),
                           of_columns = trial.memory.normal(area(2 * width - 1, call.head_dim));
  const Buffer<float> device_rows = uploaded(stream(), of_rows), device_columns = uploaded(stream(), of_columns);
  const Buffer<float> products(stream(), area(images * tokens * call.heads, height + width));
  relativeProducts(stream(), call, height, width, device_rows.data(), device_columns.data(), number, qkv.values.data(),
                   products.data());
  const std::vector<float> found = now(products);
  std::size_t next = 0;
  for (int row = 0; row < images * tokens; ++row) {
    for (int h = 0; h < call.heads; ++h) {
      for (int other = 0; other < height + width; ++other) {
        const int y = row % tokens / width, x = row % width;
        const float* const position = other < height
                                          ? of_rows.data() + area(y - other + height - 1, call.head_dim)
                                          : of_columns.data() + area(x - (other - height) + width - 1, call.head_dim);
        const float* const q = qkv.values.rounded.data() + area(row, 3 * columns) + h * call.head_dim;
        double sum = 0;
        for (int c = 0; c < call.head_dim; ++c) sum += static_cast<double>(q[c]) * static_cast<double>(position[c]);
        trial.near(static_cast<double>(found[next++]), sum, 1e-5);
      }
    }
  }
}

void tryBlock(Trial& trial) {
  Random& random = trial.random;
  mpm::test::BlockOptions options = mpm::worlds::randomBlock(random, anyPrecision(random));
  options.head_dim = random.chance(4) ? 64 : options.head_dim;
  const mpm::test::BlockWeights weights(options, random.bits());
  TransformerBlockSpec spec = weights.spec();
  spec.part = mpm::worlds::randomPart(random);
  spec.parallel = spec.parallel && spec.part == BlockPart::kWhole;
  const bool attends = spec.part != BlockPart::kMlp;
  const std::vector<int> rows = imageRows(random, std::max(options.special, 1), options.special + 20);
  const Packed x(rows, spec.dim, Number::kFloat,
                 trial.memory.normal(area(std::accumulate(rows.begin(), rows.end(), 0), spec.dim)));
  const std::vector<float> bias = trial.memory.normal(size(x.ragged.total));
  const Buffer<float> device_bias = uploaded(stream(), bias);
  const bool biased = attends && random.chance(2), rotates = attends && options.rotary_tables > 0;
  const int pairs = rotates ? random.size(1, options.head_dim / 2) : 0, columns = 2 * options.rotary_tables * pairs;
  std::vector<int> patches;
  for (const int all : rows) patches.push_back(all - options.special);
  const Packed turns(patches, columns, Number::kFloat,
                     trial.memory.normal(area(x.ragged.total - options.special * x.ragged.batch, columns), 0.7f));
  const Buffer<float> keys(stream(), attends && random.chance(3) ? area(x.ragged.total, spec.head_dim) : 0);
  Gemm gemm(stream());
  BlockWorkspace workspace;
  TransformerBlock(stream(), spec)
      .run(stream(), gemm, workspace, x.ragged,
           {.key_bias = biased ? device_bias.data() : nullptr,
            .rotations = rotates ? turns.data() : nullptr,
            .pairs = pairs,
            .keys = keys.data()},
           x.data());
  const std::vector<float> found = x.values.now(), mean = now(keys);
  for (int b = 0; b < x.ragged.batch; ++b) {
    const Reference from(x.image(x.values.rounded, b));
    MatrixView<const float> turn;
    if (rotates) turn = turns.image(turns.values.rounded, b);
    mpm::worlds::checkBlock(trial, spec.precision, x.image(found, b),
                            mpm::test::block(spec, from, biased ? bias.data() + x.offsets[size(b)] : nullptr, turn),
                            from);
    if (mean.empty()) continue;
    trial.near({mean.data() + area(x.offsets[size(b)], spec.head_dim), from.rows, spec.head_dim},
               mpm::test::meanKeys(spec, mpm::test::norm(from, spec.norm1)),
               spec.precision == Precision::kFp32 ? 1e-3 : 0.2);
  }
}

void tryKept(Trial& trial) {
  Random& random = trial.random;
  mpm::test::BlockOptions options = mpm::worlds::randomBlock(random, anyPrecision(random));
  options.head_dim = random.chance(4) ? 64 : options.head_dim;
  options.rotary_tables = 0;
  const mpm::test::BlockWeights weights(options, random.bits());
  const TransformerBlockSpec spec = weights.spec();
  const TransformerBlock block(stream(), spec);
  const int rows = options.special + random.size(1, random.chance(4) ? 130 : 40);
  const Buffer<unsigned char> kept(stream(), block.keptBytes(rows));
  clear(stream(), kept.data(), kept.capacity());
  Gemm gemm(stream());
  BlockWorkspace workspace;
  mpm::worlds::tryKeptRows(trial, spec, rows, -1e30f,
                           [&](const Matrix& x, const std::vector<int>& places, const std::vector<float>& bias) {
                             const Packed packed({x.rows}, x.cols, Number::kFloat, x.values);
                             std::vector<int> computed;
                             for (const int place : places)
                               if (place >= spec.special) computed.push_back(place - spec.special);
                             const Buffer<int> device_computed = uploaded(stream(), computed);
                             const Buffer<float> device_bias = uploaded(stream(), bias);
                             block.run(stream(), gemm, workspace, packed.ragged,
                                       {.key_bias = device_bias.data(),
                                        .kept = kept.data(),
                                        .kept_rows = rows,
                                        .places = {x.rows, spec.special, device_computed.data()}},
                                       packed.data());
                             return packed.values.now();
                           });
}

void tryKeepRows(Trial& trial) {
  Random& random = trial.random;
  const int special = random.size(0, 3), patches = random.size(1, 60), columns = random.size(1, 50),
            stride = columns + random.size(0, 20);
  std::vector<int> computed, places;
  for (int i = 0; i < special; ++i) places.push_back(i);
  const bool first = random.chance(4);
  const unsigned share = random.bits() % 5;
  for (int i = 0; i < patches; ++i)
    if (random.bits() % 4 < share) computed.push_back(i);
  for (std::size_t i = 0; i < computed.size(); ++i)
    places.push_back(special + (first ? static_cast<int>(i) : computed[i]));
  const Number number = anyNumber(random);
  const int count = static_cast<int>(places.size());
  const Values from(number, trial.memory.normal(area(count, stride))),
      kept(number, trial.memory.normal(area(special + patches, columns)));
  const Buffer<int> device_computed = uploaded(stream(), computed);
  keepRows(stream(), {count, special, first ? nullptr : device_computed.data()}, columns, stride, number, from.data(),
           kept.data());
  std::vector<float> expected = kept.rounded;
  for (int i = 0; i < count; ++i)
    std::copy_n(from.rounded.begin() + i * stride, columns, expected.begin() + places[size(i)] * columns);
  trial.require(kept.now() == expected, "puts rows in other places");
}

void tryWindows(Trial& trial) {
  const mpm::worlds::RandomWindows windows(trial, mpm::worlds::randomBlock(trial.random, anyPrecision(trial.random)),
                                           9);
  const WindowAttentionSpec& spec = windows.spec;
  WindowAttention attention(stream(), spec);
  trial.require(attention.rows() == windows.rows && attention.dim() == spec.dim, "has other sides");
  Gemm gemm(stream());
  BlockWorkspace workspace;
  for (int calls = 0; calls < 2; ++calls) {
    const std::vector<int> rows(size(trial.random.size(1, 2)), windows.rows);
    const Packed x(rows, spec.dim, Number::kFloat, trial.memory.normal(area(windows.rows, spec.dim) * rows.size()));
    attention.run(stream(), gemm, workspace, x.ragged.batch, x.data());
    const std::vector<float> found = x.values.now();
    for (int b = 0; b < x.ragged.batch; ++b) {
      const Reference from(x.image(x.values.rounded, b));
      mpm::worlds::checkBlock(trial, spec.precision, x.image(found, b), mpm::test::windowAttention(spec, from), from);
    }
  }
}

}  // namespace

std::vector<Kernel> attentionKernels() {
  return {{"cuda::attention", tryAttention},    {"cuda::relativeProducts", tryRelativeProducts},
          {"cuda::TransformerBlock", tryBlock}, {"cuda::TransformerBlock kept", tryKept},
          {"cuda::keepRows", tryKeepRows},      {"cuda::WindowAttention", tryWindows}};
}

}  // namespace mpm::cuda::worlds
