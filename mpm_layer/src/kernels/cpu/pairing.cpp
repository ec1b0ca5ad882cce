// SPDX-License-Identifier: Apache-2.0
#include "kernels/pairing.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/panels.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pairing.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vector_math-inl.h"

#ifndef MPM_KERNELS_CPU_PAIRING_ONCE
#define MPM_KERNELS_CPU_PAIRING_ONCE
namespace mpm {
namespace {

// Less than every cosine: marks a pair that does not count.
constexpr float kNoPair = -2.0f;

struct Candidate {
  float similarity;
  int index;
};

// How to scale a row to length 1. `inverse` is 0 for a zero row. It is negative for a row whose norm is outside the
// range in which one fp32 factor is exact enough: such rows are divided in double precision.
struct Normalised {
  const float* x;
  float inverse;
};

}  // namespace
}  // namespace mpm
#endif

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

// In double, where squares of finite floats neither overflow nor vanish. A NaN or infinity shows in the sum.
double sumOfSquares(const float* HWY_RESTRICT x, int n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const int lanes = static_cast<int>(hn::MaxLanes(d));
  auto a = hn::Zero(d), b = a;
  int i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto p = hn::PromoteTo(d, hn::LoadU(df, x + i)), q = hn::PromoteTo(d, hn::LoadU(df, x + i + lanes));
    a = hn::MulAdd(p, p, a);
    b = hn::MulAdd(q, q, b);
  }
  double rest = 0;
  for (; i < n; ++i) rest += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b))) + rest;
}

void normaliseRow(const Normalised& row, float* HWY_RESTRICT to, int n) {
  const Floats d;
  if (row.inverse < 0) {
    const double inverse = 1 / std::sqrt(sumOfSquares(row.x, n));
    for (int i = 0; i < n; ++i) to[i] = static_cast<float>(static_cast<double>(row.x[i]) * inverse);
    return;
  }
  const Vec factor = hn::Set(d, row.inverse);
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(hn::Mul(hn::LoadU(d, row.x + i), factor), d, to + i);
  for (; i < n; ++i) to[i] = row.x[i] * row.inverse;
}

// Returns the largest similarity of a row, ties to the lowest column. Sets a column's best to this row, `index`, where
// this similarity is larger. `similarities`, `column_best` and `column_index` {kPanel}, aligned.
Candidate scanRow(const float* HWY_RESTRICT similarities, std::int32_t index, float* HWY_RESTRICT column_best,
                  std::int32_t* HWY_RESTRICT column_index) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto row = hn::Set(di, index);
  Vec best = hn::Set(d, kNoPair);
  for (int j = 0; j < kPanel; j += kLanes) {
    const Vec s = hn::Load(d, similarities + j);
    const Vec column = hn::Load(d, column_best + j);
    const auto larger = hn::Gt(s, column);
    hn::Store(hn::Max(s, column), d, column_best + j);
    hn::Store(hn::IfThenElse(hn::RebindMask(di, larger), row, hn::Load(di, column_index + j)), di, column_index + j);
    best = hn::Max(best, s);
  }
  const float max = hn::GetLane(hn::MaxOfLanes(d, best));
  const Vec wanted = hn::Set(d, max);
  for (int j = 0; j < kPanel; j += kLanes) {
    const auto lane = hn::FindFirstTrue(d, hn::Eq(hn::Load(d, similarities + j), wanted));
    if (lane >= 0) return {max, j + static_cast<int>(lane)};
  }
  return {kNoPair, 0};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
namespace {

HWY_EXPORT(sumOfSquares);
HWY_EXPORT(normaliseRow);
HWY_EXPORT(scanRow);

// Rows normalised at a time. They fit into L2 together with a panel of dim 768.
constexpr int kRows = 48;

// One number per token. Its maximum is (largest similarity, lowest index), so tasks may raise it in any order and the
// result is the same.
using Best = std::uint64_t;

Best toBest(Candidate candidate) {
  const auto bits = std::bit_cast<std::uint32_t>(candidate.similarity + 0.0f);  // -0 becomes +0: they are a tie
  const std::uint32_t ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return static_cast<Best>(ordered) << 32 | static_cast<std::uint32_t>(~candidate.index);
}

void raise(Best& best, Candidate candidate) {
  const Best offered = toBest(candidate);
  std::atomic_ref<Best> shared(best);
  Best seen = shared.load(std::memory_order_relaxed);
  while (seen < offered && !shared.compare_exchange_weak(seen, offered, std::memory_order_relaxed)) {
  }
}

struct TaskScratch {
  Scratch<float> panel, rows, similarities;
};

struct Similarity {
  MatrixView<const float> x;
  const float* inverse;  // {N}, see Normalised
  Best* best;            // {N}

  void normalise(int begin, int end, float* to) const {
    for (int i = begin; i < end; ++i) HWY_DYNAMIC_DISPATCH(normaliseRow)
    (Normalised{x.row(i), inverse[i]}, to + static_cast<std::ptrdiff_t>(i - begin) * x.cols, x.cols);
  }

  // All pairs i < j with j in the given panel.
  void runPanel(int panel_index) const {
    thread_local TaskScratch scratch;
    const int n = x.rows, dim = x.cols;
    const auto depth = static_cast<std::size_t>(dim);
    float* const panel = scratch.panel.atLeast(depth * kPanel);
    float* const rows = scratch.rows.atLeast(depth * kPanel);
    float* const similarities = scratch.similarities.atLeast(static_cast<std::size_t>(kRows) * kPanel);
    const int first = panel_index * kPanel;
    const int columns = std::min(kPanel, n - first);
    normalise(first, first + columns, rows);
    packPanel(rows, dim, columns, dim, panel, 0);
    clearPanel(panel, dim, columns);

    alignas(64) float column_best[kPanel];
    alignas(64) std::int32_t column_index[kPanel] = {};
    std::fill(column_best, column_best + kPanel, kNoPair);
    for (int begin = 0; begin < first + columns; begin += kRows) {
      const int end = std::min(begin + kRows, first + columns);
      normalise(begin, end, rows);
      panelProduct(rows, dim, end - begin, dim, panel, similarities, kPanel);
      for (int i = begin; i < end; ++i) {
        float* row = similarities + (i - begin) * kPanel;
        if (i >= first) std::fill(row, row + (i - first + 1), kNoPair);
        std::fill(row + columns, row + kPanel, kNoPair);
        const Candidate found = HWY_DYNAMIC_DISPATCH(scanRow)(row, i, column_best, column_index);
        if (found.similarity > kNoPair) raise(best[i], {found.similarity, first + found.index});
      }
    }
    for (int j = 0; j < columns; ++j)
      if (column_best[j] > kNoPair) raise(best[first + j], {column_best[j], column_index[j]});
  }
};

struct Workspace {
  Scratch<float> inverse;
  Scratch<Best> best;
};

}  // namespace

bool bestNeighbours(MatrixView<const float> x, std::span<int> best, const Parallel& parallel) {
  thread_local Workspace workspace;
  const int n = x.rows;
  const auto count = static_cast<std::size_t>(n);
  float* const inverse = workspace.inverse.atLeast(count);
  Best* const found = workspace.best.atLeast(count);
  std::atomic<bool> finite = true;
  parallel.run(panelsFor(n), [&](int task) {
    const int end = std::min((task + 1) * kPanel, n);
    for (int i = task * kPanel; i < end; ++i) {
      const double squares = HWY_DYNAMIC_DISPATCH(sumOfSquares)(x.row(i), x.cols);
      if (!std::isfinite(squares)) finite = false;
      const bool moderate = squares > 1e-36 && squares < 1e36;
      inverse[i] = squares == 0 ? 0.0f : moderate ? static_cast<float>(1 / std::sqrt(squares)) : -1.0f;
      found[i] = 0;
    }
  });
  if (!finite) return false;
  const Similarity similarity{x, inverse, found};
  const int panels = panelsFor(n);
  parallel.run(panels, [&](int task) { similarity.runPanel(panels - 1 - task); });  // most rows first
  for (int i = 0; i < n; ++i)
    best[static_cast<std::size_t>(i)] = static_cast<int>(~static_cast<std::uint32_t>(found[i]));
  if (n == 1) best[0] = 0;
  return true;
}

}  // namespace mpm
#endif  // HWY_ONCE
