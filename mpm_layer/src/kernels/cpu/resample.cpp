// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample.h"

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/highway_targets.h"
#include "kernels/elementwise.h"
#include "kernels/scratch.h"
#include "mpm/error.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/resample.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vector_math-inl.h"

#ifndef MPM_KERNELS_CPU_RESAMPLE_ONCE
#define MPM_KERNELS_CPU_RESAMPLE_ONCE
namespace mpm {
namespace {

// Output rows that one task computes at a time: enough independent chains to hide the latency of a maximum.
constexpr int kRows = 4;
// Taps that the pixel-parallel path handles: bilinear has 2, a bilinear resize of one 3.
constexpr int kMaxTaps = 4;
// The widest vector for linear models: few have more than eight classes in one picture.
constexpr int kLinearLanes = 8;
constexpr float kNeverWins = -1e30f;

// Vertically resampled rows, still at the grid's columns: {kRows, columns.inputs, classes}.
struct GridRows {
  const float* data;
  std::ptrdiff_t row_stride;  // between output rows
  int classes;
};

// Output pixels that read the same grid columns.
struct Run {
  int begin, end, first;
};

}  // namespace
}  // namespace mpm
#endif

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

void combine(const float* HWY_RESTRICT from, std::ptrdiff_t stride, const float* HWY_RESTRICT weight, int taps,
             float* HWY_RESTRICT to, std::ptrdiff_t count) {
  const auto each = [&](auto d, std::ptrdiff_t i) HWY_ATTR {
    auto sum = hn::Mul(hn::Set(d, weight[0]), hn::LoadU(d, from + i));
    for (int t = 1; t < taps; ++t) sum = hn::MulAdd(hn::Set(d, weight[t]), hn::LoadU(d, from + t * stride + i), sum);
    hn::StoreU(sum, d, to + i);
  };
  forElements(count < kLanes ? count : count / kLanes * kLanes, each);
  if (count > kLanes && count % kLanes != 0) each(Floats(), count - kLanes);  // the last vector may overlap
}

// Pixels [begin, end) of a row, of the pixels of `row`.
void combinePixels(const float* HWY_RESTRICT row, int channels, const AxisResampling& columns, int begin, int end,
                   float* HWY_RESTRICT to) {
  for (int x = begin; x < end; ++x, to += channels) {
    combine(row + static_cast<std::ptrdiff_t>(columns.first[x]) * channels, channels, columns.weightsOf(x),
            columns.taps, to, channels);
  }
}

template <int kTaps, class D>
HWY_INLINE hn::Vec<D> interpolate([[maybe_unused]] D d, const float* HWY_RESTRICT s, int classes,
                                  const hn::Vec<D> (&w)[kTaps]) {
  auto sum = hn::Mul(w[0], hn::Set(d, s[0]));
  if constexpr (kTaps > 1) sum = hn::MulAdd(w[1], hn::Set(d, s[classes]), sum);
  if constexpr (kTaps > 2) sum = hn::MulAdd(w[2], hn::Set(d, s[2 * classes]), sum);
  if constexpr (kTaps > 3) sum = hn::MulAdd(w[3], hn::Set(d, s[3 * classes]), sum);
  return sum;
}

// Running maximum and its class of one output row.
template <class D>
struct Argmax {
  hn::Vec<D> best;
  hn::Vec<hn::RebindToSigned<D>> label;

  HWY_INLINE void offer(hn::Vec<D> score, hn::Vec<hn::RebindToSigned<D>> index) {
    const hn::RebindToSigned<D> di{};
    label = hn::IfThenElse(hn::RebindMask(di, hn::Gt(score, best)), index, label);
    best = hn::Max(score, best);
  }
};

// Labels of up to one vector of pixels in kRows rows, pixel-parallel; `weight` {kTaps, lanes}. Ties go to the lower
// class, because only a larger score replaces it.
template <int kTaps, class D>
HWY_INLINE void labelPixels(D d, const float* HWY_RESTRICT s, const GridRows& rows, const float* HWY_RESTRICT weight,
                            std::int32_t* HWY_RESTRICT labels) {
  const hn::RebindToSigned<D> di;
  const int lanes = static_cast<int>(hn::MaxLanes(d));
  hn::Vec<D> w[kTaps];
  for (int t = 0; t < kTaps; ++t) w[t] = hn::Load(d, weight + t * lanes);
  const float *s0 = s, *s1 = s + rows.row_stride, *s2 = s + 2 * rows.row_stride, *s3 = s + 3 * rows.row_stride;
  const int classes = rows.classes;
  const auto zero = hn::Zero(di);
  Argmax<D> a0{interpolate<kTaps>(d, s0, classes, w), zero}, a1{interpolate<kTaps>(d, s1, classes, w), zero};
  Argmax<D> a2{interpolate<kTaps>(d, s2, classes, w), zero}, a3{interpolate<kTaps>(d, s3, classes, w), zero};
  const auto next = hn::Set(di, 1);
  auto index = zero;
  for (int c = 1; c < classes; ++c) {
    index = hn::Add(index, next);
    a0.offer(interpolate<kTaps>(d, s0 + c, classes, w), index);
    a1.offer(interpolate<kTaps>(d, s1 + c, classes, w), index);
    a2.offer(interpolate<kTaps>(d, s2 + c, classes, w), index);
    a3.offer(interpolate<kTaps>(d, s3 + c, classes, w), index);
  }
  hn::Store(a0.label, di, labels);
  hn::Store(a1.label, di, labels + lanes);
  hn::Store(a2.label, di, labels + 2 * lanes);
  hn::Store(a3.label, di, labels + 3 * lanes);
}

template <int kTaps, class D>
HWY_INLINE void labelRunOf(D d, const GridRows& rows, const AxisResampling& columns, const Run& run,
                           std::int32_t* HWY_RESTRICT labels, int label_stride) {
  const int lanes = static_cast<int>(hn::MaxLanes(d));
  HWY_ALIGN float weight[kTaps * hn::MaxLanes(d)];
  HWY_ALIGN std::int32_t found[kRows * hn::MaxLanes(d)];
  const float* s = rows.data + static_cast<std::ptrdiff_t>(run.first) * rows.classes;
  for (int begin = run.begin; begin < run.end; begin += lanes) {
    const int count = std::min(lanes, run.end - begin);
    for (int t = 0; t < kTaps; ++t) {
      for (int i = 0; i < lanes; ++i)
        weight[t * lanes + i] = columns.weight[(begin + std::min(i, count - 1)) * kTaps + t];
    }
    labelPixels<kTaps>(d, s, rows, weight, found);
    for (int r = 0; r < kRows; ++r) std::copy_n(found + r * lanes, count, labels + r * label_stride + begin);
  }
}

// The narrowest vector that holds a whole run wastes the fewest lanes.
template <int kTaps>
void labelRun(const GridRows& rows, const AxisResampling& columns, const Run& run, std::int32_t* HWY_RESTRICT labels,
              int label_stride) {
  const int pixels = run.end - run.begin;
  if (pixels <= 4) return labelRunOf<kTaps>(hn::CappedTag<float, 4>(), rows, columns, run, labels, label_stride);
  if (pixels <= 8) return labelRunOf<kTaps>(hn::CappedTag<float, 8>(), rows, columns, run, labels, label_stride);
  labelRunOf<kTaps>(hn::ScalableTag<float>(), rows, columns, run, labels, label_stride);
}

// Class-parallel: for many taps, or runs of one or two pixels, where pixel lanes would be idle. `sum` {classes}.
std::int32_t labelPixel(const float* HWY_RESTRICT s, int classes, const float* HWY_RESTRICT weight, int taps,
                        float* HWY_RESTRICT sum) {
  combine(s, classes, weight, taps, sum, classes);
  return static_cast<std::int32_t>(std::max_element(sum, sum + classes) - sum);
}

// The lowest of the classes with the highest score.
std::int32_t bestClass(const float* HWY_RESTRICT s, int classes) {
  const Floats d;
  if (classes < 2 * kLanes) return static_cast<std::int32_t>(std::max_element(s, s + classes) - s);
  auto most = hn::Max(hn::LoadU(d, s), hn::LoadU(d, s + classes - kLanes));  // the last vector may overlap
  for (int c = kLanes; c + kLanes <= classes; c += kLanes) most = hn::Max(most, hn::LoadU(d, s + c));
  return static_cast<std::int32_t>(std::find(s, s + classes, hn::GetLane(hn::MaxOfLanes(d, most))) - s);
}

// Where one class is the best in all grid columns that a run reads, it is the best in between: weights are not
// negative, and rounding keeps the order. Most pixels of a picture lie in such runs.
bool fillRun(const std::int32_t* best, int grid_w, int taps, const Run& run, std::int32_t* HWY_RESTRICT labels,
             int label_stride) {
  const std::int32_t first = best[run.first];
  for (int r = 0; r < kRows; ++r) {
    for (int t = 0; t < taps; ++t)
      if (best[r * grid_w + run.first + t] != first) return false;
  }
  for (int r = 0; r < kRows; ++r)
    std::fill(labels + r * label_stride + run.begin, labels + r * label_stride + run.end, first);
  return true;
}

// `best` {kRows, columns.inputs} and `sum` {classes} are scratch.
void labelRows(const GridRows& rows, const AxisResampling& columns, const Run* runs, int run_count, int row_count,
               std::int32_t* labels, std::int32_t* best, float* sum) {
  const int width = columns.outputs(), grid_w = columns.inputs;
  if (columns.taps <= kMaxTaps && run_count * 2 <= width) {
    for (int r = 0; r < kRows; ++r) {
      for (int x = 0; x < grid_w; ++x) {
        best[r * grid_w + x] =
            bestClass(rows.data + r * rows.row_stride + static_cast<std::ptrdiff_t>(x) * rows.classes, rows.classes);
      }
    }
    constexpr decltype(&labelRun<1>) kLabel[kMaxTaps] = {labelRun<1>, labelRun<2>, labelRun<3>, labelRun<4>};
    for (const Run* run = runs; run != runs + run_count; ++run) {
      if (!fillRun(best, grid_w, columns.taps, *run, labels, width))
        kLabel[columns.taps - 1](rows, columns, *run, labels, width);
    }
    return;
  }
  for (int r = 0; r < row_count; ++r) {
    for (int x = 0; x < width; ++x) {
      const float* s = rows.data + r * rows.row_stride + static_cast<std::ptrdiff_t>(columns.first[x]) * rows.classes;
      labels[r * width + x] = labelPixel(s, rows.classes, columns.weightsOf(x), columns.taps, sum);
    }
  }
}

template <class D>
HWY_INLINE hn::Vec<D> valueOf(D d, const float* HWY_RESTRICT model, int padded, const hn::Vec<D> (&pixel)[3]) {
  auto sum = hn::LoadU(d, model + 3 * padded);
  for (int v = 0; v < 3; ++v) sum = hn::MulAdd(pixel[v], hn::LoadU(d, model + v * padded), sum);
  return sum;
}

void labelRow(const float* HWY_RESTRICT models, int padded, const AxisResampling& columns,
              const std::uint8_t* HWY_RESTRICT image, const std::uint8_t* HWY_RESTRICT label,
              std::uint8_t* HWY_RESTRICT labels) {
  const hn::CappedTag<float, kLinearLanes> d;
  const hn::RebindToSigned<decltype(d)> di;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto first_classes = hn::Iota(di, 0);
  for (int x = 0; x < columns.outputs(); ++x) {
    const float* const cell = models + static_cast<std::ptrdiff_t>(columns.first[x]) * 4 * padded;
    const float* const weight = columns.weightsOf(x);
    hn::Vec<decltype(d)> pixel[3];
    for (int v = 0; v < 3; ++v) pixel[v] = hn::Set(d, static_cast<float>(image[3 * x + v]) * (1.f / 255));
    auto best = hn::Set(d, 2 * kNeverWins);
    auto best_class = first_classes;
    for (int c = 0; c < padded; c += lanes) {
      auto value = hn::Mul(hn::Set(d, weight[0]), valueOf(d, cell + c, padded, pixel));
      for (int t = 1; t < columns.taps; ++t) {
        value = hn::MulAdd(hn::Set(d, weight[t]),
                           valueOf(d, cell + static_cast<std::ptrdiff_t>(t) * 4 * padded + c, padded, pixel), value);
      }
      const auto larger = hn::Gt(value, best);
      best = hn::IfThenElse(larger, value, best);
      best_class = hn::IfThenElse(hn::RebindMask(di, larger), hn::Add(first_classes, hn::Set(di, c)), best_class);
    }
    const auto winners = hn::Eq(best, hn::MaxOfLanes(d, best));
    const auto candidates = hn::IfThenElse(hn::RebindMask(di, winners), best_class, hn::Set(di, padded));
    labels[x] = label[hn::GetLane(hn::MinOfLanes(di, candidates))];
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
namespace {

HWY_EXPORT(combine);
HWY_EXPORT(combinePixels);
HWY_EXPORT(labelRows);
HWY_EXPORT(labelRow);

// Memory of one task.
thread_local struct {
  Scratch<float> rows, sum, pixels;
  Scratch<std::int32_t> labels;
} resample_scratch;

// Output rows [begin, begin + count) at the grid's columns. Rows up to kRows repeat the last, so that the label loop
// needs no case for the end of the image.
GridRows resampleRows(MatrixView<const float> scores, const AxisResampling& rows, int grid_w, int begin, int count,
                      Scratch<float>& scratch) {
  const std::ptrdiff_t grid_row = static_cast<std::ptrdiff_t>(grid_w) * scores.cols;
  float* data = scratch.atLeast(kRows * grid_row);
  for (int r = 0; r < kRows; ++r) {
    const int y = begin + std::min(r, count - 1), first = rows.first[y] * grid_w;
    const float* weight = rows.weightsOf(y);
    if (scores.stride == scores.cols) {
      combineRows(scores.row(first), grid_row, weight, rows.taps, data + r * grid_row, grid_row);
      continue;
    }
    for (int x = 0; x < grid_w; ++x) {
      combineRows(scores.row(first + x), grid_w * scores.stride, weight, rows.taps,
                  data + r * grid_row + static_cast<std::ptrdiff_t>(x) * scores.cols, scores.cols);
    }
  }
  return {data, grid_row, scores.cols};
}

std::vector<Run> runsOf(const AxisResampling& axis) {
  std::vector<Run> runs;
  for (int o = 0; o < axis.outputs(); ++o) {
    const int first = axis.first[o];
    if (runs.empty() || runs.back().first != first)
      runs.push_back({o, o + 1, first});
    else
      runs.back().end = o + 1;
  }
  return runs;
}

}  // namespace

void combineRows(const float* from, std::ptrdiff_t stride, const float* weight, int taps, float* to,
                 std::ptrdiff_t count) {
  HWY_DYNAMIC_DISPATCH(combine)(from, stride, weight, taps, to, count);
}

AxisResampling composeAxes(const AxisResampling& first, const AxisResampling& second) {
  AxisResampling axis;
  axis.inputs = first.inputs;
  std::vector<double> dense(first.inputs);
  std::vector<std::pair<int, std::vector<double>>> rows;
  for (int o = 0; o < second.outputs(); ++o) {
    std::fill(dense.begin(), dense.end(), 0.0);
    int low = first.inputs, high = 0;
    for (int t = 0; t < second.taps; ++t) {
      const double outer = second.weightsOf(o)[t];
      if (outer == 0) continue;  // a tap with weight 0 must not widen the row
      const int middle = second.first[o] + t;
      const int from = first.first[middle];
      for (int u = 0; u < first.taps; ++u) {
        const double inner = first.weightsOf(middle)[u];
        if (inner == 0) continue;
        dense[from + u] += outer * inner;
        low = std::min(low, from + u);
        high = std::max(high, from + u + 1);
      }
    }
    low = std::min(low, first.inputs - 1);
    high = std::max(high, low + 1);
    rows.emplace_back(low, std::vector<double>(dense.begin() + low, dense.begin() + high));
    axis.taps = std::max(axis.taps, high - low);
  }
  for (const auto& [low, weights] : rows) {
    const int from = std::min(low, axis.inputs - axis.taps);
    axis.first.push_back(from);
    for (int t = 0; t < axis.taps; ++t) {
      const int k = from + t - low;
      axis.weight.push_back(k >= 0 && k < static_cast<int>(weights.size()) ? static_cast<float>(weights[k]) : 0.0f);
    }
  }
  return axis;
}

AxisResampling AxisTaps::of(int inputs) const {
  AxisResampling axis;
  axis.inputs = inputs;
  const auto each = static_cast<std::ptrdiff_t>(taps);
  for (auto at = indices.begin(); at != indices.end(); at += each) {
    const auto [least, most] = std::minmax_element(at, at + each);
    if (*least < 0 || *most >= inputs) {
      throw Error("a resize takes row or column " + std::to_string(*least < 0 ? *least : *most) + " of " +
                  std::to_string(inputs) + ": convert the original model again");
    }
    axis.taps = std::max(axis.taps, *most - *least + 1);
  }
  for (std::size_t i = 0; i < indices.size(); i += static_cast<std::size_t>(taps)) {
    const auto at = indices.begin() + static_cast<std::ptrdiff_t>(i);
    axis.first.push_back(std::min(*std::min_element(at, at + each), inputs - axis.taps));
    const std::size_t row = axis.weight.size();
    axis.weight.resize(row + static_cast<std::size_t>(axis.taps), 0.0f);
    for (std::size_t t = 0; t < static_cast<std::size_t>(taps); ++t)
      axis.weight[row + static_cast<std::size_t>(indices[i + t] - axis.first.back())] += weights[i + t];
  }
  return axis;
}

template <typename T>
void resizeArgmax(MatrixView<const float> scores, const AxisResampling& rows, const AxisResampling& columns,
                  MatrixView<T> labels, const Parallel& parallel) {
  const std::vector<Run> runs = runsOf(columns);
  const int width = columns.outputs();
  runPieces(parallel, rows.outputs(), kRows, [&](int begin, int end) {
    auto& scratch = resample_scratch;
    const int count = end - begin;
    const GridRows grid = resampleRows(scores, rows, columns.inputs, begin, count, scratch.rows);
    const auto pixels = static_cast<std::size_t>(kRows) * width;
    std::int32_t* found = scratch.labels.atLeast(pixels + static_cast<std::size_t>(kRows) * columns.inputs);
    HWY_DYNAMIC_DISPATCH(labelRows)
    (grid, columns, runs.data(), static_cast<int>(runs.size()), count, found, found + pixels,
     scratch.sum.atLeast(scores.cols));
    for (int r = 0; r < count; ++r) {
      std::transform(found + static_cast<std::ptrdiff_t>(r) * width, found + static_cast<std::ptrdiff_t>(r + 1) * width,
                     labels.row(begin + r), [](std::int32_t label) { return static_cast<T>(label); });
    }
  });
}

template void resizeArgmax<float>(MatrixView<const float>, const AxisResampling&, const AxisResampling&,
                                  MatrixView<float>, const Parallel&);
template void resizeArgmax<unsigned char>(MatrixView<const float>, const AxisResampling&, const AxisResampling&,
                                          MatrixView<unsigned char>, const Parallel&);

void resizePixels(MatrixView<const float> pixels, const AxisResampling& rows, const AxisResampling& columns,
                  float* resized, const Parallel& parallel) {
  const int width = columns.outputs();
  runPieces(parallel, rows.outputs(), kRows, [&](int begin, int end) {
    const GridRows grid = resampleRows(pixels, rows, columns.inputs, begin, end - begin, resample_scratch.rows);
    for (int y = begin; y < end; ++y) {
      HWY_DYNAMIC_DISPATCH(combinePixels)
      (grid.data + (y - begin) * grid.row_stride, pixels.cols, columns, 0, width,
       resized + static_cast<std::ptrdiff_t>(y) * width * pixels.cols);
    }
  });
}

void resizeLogits(MatrixView<const float> scores, const AxisResampling& rows, const AxisResampling& columns,
                  float* logits, const Parallel& parallel) {
  constexpr int kStep = 64;  // pixels that lie in L1 until their classes are written, as whole cache lines
  const int height = rows.outputs(), width = columns.outputs(), classes = scores.cols;
  runPieces(parallel, height, kRows, [&](int begin, int end) {
    auto& scratch = resample_scratch;
    const GridRows grid = resampleRows(scores, rows, columns.inputs, begin, end - begin, scratch.rows);
    float* const pixels = scratch.pixels.atLeast(static_cast<std::size_t>(kStep) * classes);
    for (int y = begin; y < end; ++y) {
      for (int x = 0; x < width; x += kStep) {
        const int count = std::min(kStep, width - x);
        HWY_DYNAMIC_DISPATCH(combinePixels)
        (grid.data + (y - begin) * grid.row_stride, classes, columns, x, x + count, pixels);
        rowsToColumns({pixels, count, classes},
                      {logits + static_cast<std::ptrdiff_t>(y) * width, classes, width,
                       static_cast<std::ptrdiff_t>(height) * width},
                      x);
      }
    }
  });
}

LinearModels::LinearModels(int grid_rows, int grid_columns, int number_of_classes)
    : rows(grid_rows),
      columns(grid_columns),
      classes(number_of_classes),
      padded((number_of_classes + kLinearLanes - 1) / kLinearLanes * kLinearLanes),
      data(static_cast<std::size_t>(rows) * columns * 4 * padded) {
  for (std::size_t model = 3 * static_cast<std::size_t>(padded); model < data.size();
       model += 4 * static_cast<std::size_t>(padded))
    std::fill(data.begin() + model + classes, data.begin() + model + padded, kNeverWins);
}

void labelByLinearModels(const LinearModels& models, const AxisResampling& rows, const AxisResampling& columns,
                         MatrixView<const std::uint8_t> image, const std::vector<std::uint8_t>& label,
                         MatrixView<std::uint8_t> labels, const Parallel& parallel) {
  const std::size_t row = static_cast<std::size_t>(models.columns) * 4 * models.padded;
  parallel.run(rows.outputs(), [&](int y) {
    thread_local Scratch<float> scratch;
    float* const blended = scratch.atLeast(row);
    // The functions of one row of pixels, still at the grid's columns.
    combineRows(models.data.data() + static_cast<std::size_t>(rows.first[y]) * row, row, rows.weightsOf(y), rows.taps,
                blended, row);
    HWY_DYNAMIC_DISPATCH(labelRow)(blended, models.padded, columns, image.row(y), label.data(), labels.row(y));
  });
}

}  // namespace mpm
#endif  // HWY_ONCE
