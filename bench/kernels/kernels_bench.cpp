// SPDX-License-Identifier: Apache-2.0
// Speed of the kernels on the sizes of Segmenter: rows 1025 (512 x 512, patch 16), 740 and 540 (after the insertions).
#include <benchmark/benchmark.h>

#include "kernels/attend.h"
#include "kernels/block_weights.h"
#include "kernels/convolution.h"
#include "kernels/pairing.h"
#include "kernels/resample.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

using test::Matrix;
using test::Threads;

void setRate(benchmark::State& state, double flops) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

// 0, 1, 2: fp32, bf16, int8.
Precision precisionOf(benchmark::State& state, std::int64_t number) {
  if (number == 1 && !cpuHasBf16()) state.SkipWithError("no bf16 on this CPU");
  if (number == 2 && !cpuHasInt8()) state.SkipWithError("no int8 on this CPU");
  return number == 1 && cpuHasBf16() ? Precision::kBf16 : number == 2 ? Precision::kInt8 : Precision::kFp32;
}

// Peak of one core, to compare the others with: a square product whose operands fit into L2.
void BM_GemmPeak(benchmark::State& state) {
  const int n = 384;
  const Matrix weight = Matrix::normal(n, n, 1), x = Matrix::normal(PackedLinear::kMaxRows, n, 2);
  Matrix y(PackedLinear::kMaxRows, n);
  const PackedLinear linear(weight.view(), nullptr, precisionOf(state, state.range(0)));
  for (auto _ : state) linear.run(x.view(), y.view());
  setRate(state, 2.0 * PackedLinear::kMaxRows * n * n);
}
BENCHMARK(BM_GemmPeak)->DenseRange(0, 2)->ArgName("precision")->Unit(benchmark::kMicrosecond);

// {rows, in, out, precision} on one thread.
void BM_Linear(benchmark::State& state) {
  const int rows = static_cast<int>(state.range(0)), in = static_cast<int>(state.range(1)),
            out = static_cast<int>(state.range(2));
  const Matrix weight = Matrix::normal(out, in, 1), x = Matrix::normal(rows, in, 2);
  Matrix y(rows, out);
  const PackedLinear linear(weight.view(), nullptr, precisionOf(state, state.range(3)));
  for (auto _ : state) linear.run(x.view(), y.view());
  setRate(state, 2.0 * rows * in * out);
}
// All products of a block of ViT-T, S, B and L. On a new CPU each should come close to BM_GemmPeak.
BENCHMARK(BM_Linear)
    ->ArgNames({"rows", "in", "out", "precision"})
    ->Apply([](benchmark::internal::Benchmark* products) {
      for (const int dim : {192, 384, 768, 1024}) {
        for (const int rows : {96, PackedLinear::kMaxRows}) {
          for (const auto& [in, out] : {std::pair{1, 3}, {1, 1}, {1, 4}, {4, 1}})
            for (const int precision : {0, 1, 2}) products->Args({rows, in * dim, out * dim, precision});
        }
      }
      products->Args({17, 192, 768, 0});
    })
    ->Unit(benchmark::kMicrosecond);

// {side, channels, outputs, precision}: 3x3 on one thread, as in the heads of Depth Anything, DPT and UPerNet.
void BM_Convolution(benchmark::State& state) {
  const int side = static_cast<int>(state.range(0)), in = static_cast<int>(state.range(1)),
            out = static_cast<int>(state.range(2));
  const Matrix weight = Matrix::normal(out, in * 9, 1), bias = Matrix::normal(1, out, 2),
               x = Matrix::normal(side * side, in, 3);
  Matrix y(side * side, out);
  ConvolutionSpec spec;
  spec.channels = in;
  spec.outputs = out;
  spec.weight = weight.values.data();
  spec.bias = bias.values.data();
  spec.precision = precisionOf(state, state.range(3));
  for (int axis = 0; axis < 2; ++axis) {
    spec.kernel[axis] = 3;
    spec.pads[axis] = 1;
  }
  const Convolution convolution(spec);
  for (auto _ : state)
    convolution.run({x.values.data(), 1, side, side, in}, {}, {y.values.data(), 1, side, side, out}, Serial());
  setRate(state, 18.0 * side * side * in * out);
}
BENCHMARK(BM_Convolution)
    ->ArgNames({"side", "channels", "outputs", "precision"})
    ->ArgsProduct({{148}, {64}, {64}, {0, 1, 2}})
    ->ArgsProduct({{296}, {64}, {32}, {0, 1, 2}})
    ->ArgsProduct({{518}, {32}, {32}, {0, 1, 2}})
    ->ArgsProduct({{19}, {384}, {384}, {0, 1, 2}})
    ->ArgsProduct({{128}, {256}, {256}, {0, 1, 2}})
    ->ArgsProduct({{128}, {1536}, {384}, {0, 1, 2}})
    ->Unit(benchmark::kMillisecond);

// {threads, rows, heads}, heads of 64.
void BM_Attention(benchmark::State& state) {
  const Threads threads(static_cast<int>(state.range(0)));
  const int rows = static_cast<int>(state.range(1)), heads = static_cast<int>(state.range(2)), dim = heads * 64;
  const Matrix q = Matrix::normal(rows, dim, 1), k = Matrix::normal(rows, dim, 2), v = Matrix::normal(rows, dim, 3);
  Matrix out(rows, dim);
  for (auto _ : state) test::attend(q.view(), k.view(), v.view(), heads, 0.125f, nullptr, out.view(), threads);
  setRate(state, 4.0 * rows * rows * dim);
}
BENCHMARK(BM_Attention)
    ->ArgNames({"threads", "rows", "heads"})
    ->ArgsProduct({{1, 2}, {540, 740, 1025}, {3}})
    ->Args({2, 1025, 12})
    ->Args({2, 4097, 12})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// {threads, rows, heads, precision}: a whole block, dim = 64 heads, MLP x4.
void BM_Block(benchmark::State& state) {
  const Threads threads(static_cast<int>(state.range(0)));
  const int rows = static_cast<int>(state.range(1)), heads = static_cast<int>(state.range(2)), dim = heads * 64;
  const test::BlockWeights weights({.dim = dim,
                                    .heads = heads,
                                    .head_dim = 64,
                                    .hidden = 4 * dim,
                                    .biases = false,
                                    .precision = precisionOf(state, state.range(3))});
  const TransformerBlock block(weights.spec());
  const Matrix x = Matrix::normal(rows, dim, 5);
  Matrix y(rows, dim);
  for (auto _ : state)
    block.run({x.values.data(), 1, rows, dim, &rows}, nullptr, {y.values.data(), 1, rows, dim, &rows}, threads);
  setRate(state, 24.0 * rows * dim * dim + 4.0 * rows * rows * dim);
}
BENCHMARK(BM_Block)
    ->ArgNames({"threads", "rows", "heads", "precision"})
    ->ArgsProduct({{1, 2}, {540, 740, 1025}, {3}, {0}})
    ->ArgsProduct({{2}, {540, 740, 1025}, {3}, {1, 2}})
    ->ArgsProduct({{2}, {540, 740, 1025}, {12}, {0, 1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// {threads, rows, dim}
void BM_Pairing(benchmark::State& state) {
  const Threads threads(static_cast<int>(state.range(0)));
  const int rows = static_cast<int>(state.range(1)), dim = static_cast<int>(state.range(2));
  const Matrix x = Matrix::normal(rows, dim, 1);
  std::vector<int> best(static_cast<std::size_t>(rows));
  for (auto _ : state)
    if (!bestNeighbours(x.view(), best, threads)) state.SkipWithError("input is not finite");
  setRate(state, 1.0 * rows * rows * dim);
}
BENCHMARK(BM_Pairing)
    ->ArgNames({"threads", "rows", "dim"})
    ->ArgsProduct({{1, 2}, {1024}, {192, 768}})
    ->Args({2, 740, 192})
    ->Args({2, 9216, 768})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// {threads, grid, classes, size}
void BM_ResizeArgmax(benchmark::State& state) {
  const Threads threads(static_cast<int>(state.range(0)));
  const int grid = static_cast<int>(state.range(1)), classes = static_cast<int>(state.range(2)),
            size = static_cast<int>(state.range(3));
  const Matrix scores = Matrix::normal(grid * grid, classes, 1);
  const AxisResampling axis = bilinearAxis(grid, size);
  std::vector<float> labels(static_cast<std::size_t>(size * size));
  for (auto _ : state) resizeArgmax<float>(scores.view(), axis, axis, {labels.data(), size, size}, threads);
}
BENCHMARK(BM_ResizeArgmax)
    ->ArgNames({"threads", "grid", "classes", "size"})
    ->Args({1, 32, 150, 512})
    ->Args({2, 32, 150, 512})
    ->Args({2, 32, 19, 512})
    ->Args({2, 64, 150, 512})
    ->Args({2, 64, 19, 1000})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mpm
