// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear_labels.h"

#include <algorithm>

#include "kernels/cpu/highway_targets.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/linear_labels.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vector_math-inl.h"

#ifndef MPM_KERNELS_CPU_LINEAR_LABELS_ONCE
#define MPM_KERNELS_CPU_LINEAR_LABELS_ONCE
namespace mpm {
namespace {

constexpr int kLinearLanes = 8;  // the widest vector in use: few models have more than eight classes in one picture
constexpr float kNeverWins = -1e30f;

}  // namespace
}  // namespace mpm
#endif

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

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
      for (int t = 1; t < columns.taps; ++t)
        value = hn::MulAdd(hn::Set(d, weight[t]),
                           valueOf(d, cell + static_cast<std::ptrdiff_t>(t) * 4 * padded + c, padded, pixel), value);
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

HWY_EXPORT(labelRow);

}  // namespace

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
