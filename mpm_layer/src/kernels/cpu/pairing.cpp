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
  for (; i < n; ++i) rest += static_cast<double>(x[i]) * x[i];
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b))) + rest;
}

void normaliseRow(const Normalised& row, float* HWY_RESTRICT to, int n) {
  if (row.inverse < 0) {
    const double inverse = 1 / std::sqrt(sumOfSquares(row.x, n));
    for (int i = 0; i < n; ++i) to[i] = static_cast<float>(static_cast<double>(row.x[i]) * inverse);
    return;
  }
  forElements(n, [&](auto d, std::ptrdiff_t i) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row.x + i), hn::Set(d, row.inverse)), d, to + i);
  });
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

float similarityOf(Best best) {
  const auto ordered = static_cast<std::uint32_t>(best >> 32);
  return std::bit_cast<float>((ordered & 0x80000000u) != 0 ? ordered & 0x7fffffffu : ~ordered);
}

int indexOf(Best best) { return static_cast<int>(~static_cast<std::uint32_t>(best)); }

struct TaskScratch {
  Scratch<float> panel, rows, similarities;
};

/// Rows, and how to scale each to length 1.
struct Directions {
  MatrixView<const float> x;
  const float* inverse;  // {rows}, see Normalised

  void normalise(int begin, int end, float* to) const {
    for (int i = begin; i < end; ++i) {
      HWY_DYNAMIC_DISPATCH(normaliseRow)
      (Normalised{x.row(i), inverse[i]}, to + static_cast<std::ptrdiff_t>(i - begin) * x.cols, x.cols);
    }
  }
};

struct Similarity {
  Directions a, b;
  Best* best;    // {rows of a}
  bool one_set;  // b is a, and a pair counts for both of its rows

  // All pairs with a column in the given panel of b; of one set, the pairs i < j.
  void runPanel(int panel_index) const {
    thread_local TaskScratch scratch;
    const int dim = a.x.cols;
    const auto depth = static_cast<std::size_t>(dim);
    float* const panel = scratch.panel.atLeast(depth * kPanel);
    float* const rows = scratch.rows.atLeast(depth * kPanel);
    float* const similarities = scratch.similarities.atLeast(static_cast<std::size_t>(kRows) * kPanel);
    const int first = panel_index * kPanel;
    const int columns = std::min(kPanel, b.x.rows - first);
    b.normalise(first, first + columns, rows);
    packPanel(rows, dim, columns, dim, panel, 0);
    clearPanel(panel, dim, columns);

    alignas(64) float column_best[kPanel];
    alignas(64) std::int32_t column_index[kPanel] = {};
    std::fill(column_best, column_best + kPanel, kNoPair);
    const int count = one_set ? first + columns : a.x.rows;
    for (int begin = 0; begin < count; begin += kRows) {
      const int end = std::min(begin + kRows, count);
      a.normalise(begin, end, rows);
      panelProduct(rows, dim, end - begin, dim, panel, similarities, kPanel);
      for (int i = begin; i < end; ++i) {
        float* row = similarities + (i - begin) * kPanel;
        if (one_set && i >= first) std::fill(row, row + (i - first + 1), kNoPair);
        std::fill(row + columns, row + kPanel, kNoPair);
        const Candidate found = HWY_DYNAMIC_DISPATCH(scanRow)(row, i, column_best, column_index);
        if (found.similarity > kNoPair) raise(best[i], {found.similarity, first + found.index});
      }
    }
    for (int j = 0; one_set && j < columns; ++j)
      if (column_best[j] > kNoPair) raise(best[first + j], {column_best[j], column_index[j]});
  }
};

// Memory of one call.
thread_local struct {
  Scratch<float> inverse;
  Scratch<Best> best;
} pairing_scratch;

// `inverse` {x.rows} of Directions. False when a row holds a NaN or an infinity.
bool invertNorms(MatrixView<const float> x, float* inverse, const Parallel& parallel) {
  std::atomic<bool> finite = true;
  runPieces(parallel, x.rows, kPanel, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const double squares = HWY_DYNAMIC_DISPATCH(sumOfSquares)(x.row(i), x.cols);
      if (!std::isfinite(squares)) finite = false;
      const bool moderate = squares > 1e-36 && squares < 1e36;
      inverse[i] = squares == 0 ? 0.0f : moderate ? static_cast<float>(1 / std::sqrt(squares)) : -1.0f;
    }
  });
  return finite;
}

void findBest(const Similarity& similarity, std::span<int> best, std::span<float> similarities,
              const Parallel& parallel) {
  const int panels = panelsFor(similarity.b.x.rows);
  std::fill_n(similarity.best, best.size(), Best{0});
  parallel.run(panels, [&](int task) { similarity.runPanel(panels - 1 - task); });  // of one set: most rows first
  std::transform(similarity.best, similarity.best + best.size(), best.begin(), indexOf);
  if (!similarities.empty())
    std::transform(similarity.best, similarity.best + best.size(), similarities.begin(), similarityOf);
}

}  // namespace

bool bestNeighbours(MatrixView<const float> x, std::span<int> best, const Parallel& parallel,
                    std::span<float> similarity) {
  const auto count = static_cast<std::size_t>(x.rows);
  float* const inverse = pairing_scratch.inverse.atLeast(count);
  Best* const found = pairing_scratch.best.atLeast(count);
  if (!invertNorms(x, inverse, parallel)) return false;
  findBest({{x, inverse}, {x, inverse}, found, true}, best, similarity, parallel);
  if (x.rows == 1) best[0] = 0;
  return true;
}

bool bestMatches(MatrixView<const float> a, MatrixView<const float> b, std::span<int> best, std::span<float> similarity,
                 const Parallel& parallel) {
  const auto count = static_cast<std::size_t>(a.rows);
  float* const inverse = pairing_scratch.inverse.atLeast(count + static_cast<std::size_t>(b.rows));
  Best* const found = pairing_scratch.best.atLeast(count);
  if (!invertNorms(a, inverse, parallel) || !invertNorms(b, inverse + a.rows, parallel)) return false;
  findBest({{a, inverse}, {b, inverse + a.rows}, found, false}, best, similarity, parallel);
  return true;
}

bool windowSimilarities(MatrixView<const float> x, int width, std::span<float> similarity, const Parallel& parallel) {
  const int columns = width / 2, window_rows = static_cast<int>(similarity.size()) / std::max(columns, 1);
  std::atomic<bool> finite = true;
  parallel.run(window_rows, [&](int y) {
    for (int column = 0; column < columns; ++column) {
      const int first = 2 * y * width + 2 * column;
      const float* const rows[] = {x.row(first), x.row(first + 1), x.row(first + width), x.row(first + width + 1)};
      double inverse[4], directions = 0;
      for (int r = 0; r < 4; ++r) {
        const double squares = HWY_DYNAMIC_DISPATCH(sumOfSquares)(rows[r], x.cols);
        if (!std::isfinite(squares)) finite = false;
        inverse[r] = squares > 0 ? 1 / std::sqrt(squares) : 0;
        directions += squares > 0;
      }
      // |u1 + u2 + u3 + u4|^2 holds every pair twice, and the square of each direction, which is 1.
      double squares = 0;
      for (int c = 0; c < x.cols; ++c) {
        double sum = 0;
        for (int r = 0; r < 4; ++r) sum += inverse[r] * static_cast<double>(rows[r][c]);
        squares += sum * sum;
      }
      similarity[y * columns + column] = static_cast<float>((squares - directions) / 12);
    }
  });
  return finite;
}

}  // namespace mpm
#endif  // HWY_ONCE
