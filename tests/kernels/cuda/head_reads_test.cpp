// SPDX-License-Identifier: Apache-2.0
// Operators of heads that look at many elements for each result, or read where another tensor says.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "base/element_functions.h"
#include "kernels/cuda/on_device.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/resample.h"
#include "kernels/cuda/sampling.h"

namespace mpm::cuda {
namespace {

using test::normal;

class CudaHeadReads : public test::OnDevice {};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

// The middle of three axes, and the outer two.
TEST_F(CudaHeadReads, ReductionsOverAxes) {
  const int outer = 2, inner = 3;
  for (const unsigned schedule : test::schedules())
    for (const int side : {1, 7, 70}) {
      test::useSchedule(schedule);
      std::vector<float> x = normal(outer * side * inner, 4, 0.5f, 1);
      for (float& value : x) value = std::round(8 * value) / 8;  // some are equal
      const Buffer<float> device = uploaded(stream(), x);
      const ElementLayout whole{.rank = 3, .shape = {outer, side, inner}, .steps = {{side * inner, inner, 1}}};
      const ElementLayout middle{.rank = 1, .shape = {side}, .steps = {{inner}}},
          others{.rank = 2, .shape = {outer, inner}, .steps = {{side * inner, 1}}},
          last{.rank = 1, .shape = {inner}, .steps = {{1}}},
          front{.rank = 2, .shape = {outer, side}, .steps = {{side * inner, inner}}}, none{};
      for (const ElementReduction& reduction : kElementReductions)
        for (const auto& [kept, gone] : {std::pair(others, middle), {last, front}, {none, whole}, {whole, none}}) {
          SCOPED_TRACE(::testing::Message() << schedule << ": " << reduction.name << " of " << side);
          std::vector<double> expected, counts;
          const auto places = [](const ElementLayout& layout) {
            std::vector<long long> all = {0};
            for (int axis = 0; axis < layout.rank; ++axis) {
              std::vector<long long> next;
              for (const long long place : all)
                for (int i = 0; i < layout.shape[axis]; ++i) next.push_back(place + i * layout.steps[0][axis]);
              all = next;
            }
            return all;
          };
          Buffer<float> y(stream(), x.size());
          reduceElements(stream(), *deviceReduction(reduction.name), false, kept, gone, device.data(), y.data());
          const std::vector<long long> results = places(kept), members = places(gone);
          const std::vector<float> found = fetched(y.data(), results.size());
          for (std::size_t i = 0; i < results.size(); ++i) {
            double value = reduction.start;
            for (const long long member : members)
              value = reduction.step(value, static_cast<double>(x[results[i] + member]));
            value = reduction.finish(value, static_cast<double>(members.size()));
            if (std::isnan(value))
              ASSERT_TRUE(std::isnan(found[i]));
            else if (std::isinf(value))
              ASSERT_EQ(static_cast<double>(found[i]), value) << i;
            else
              ASSERT_NEAR(static_cast<double>(found[i]), value, 1e-6 * (1 + std::abs(value))) << i;
          }
        }
    }
  EXPECT_FALSE(deviceReduction("ReduceMedian").has_value());
}

TEST_F(CudaHeadReads, PlacesOfExtremes) {
  const int rows = 3, side = 70;
  std::vector<float> x = normal(rows * side, 4);
  for (float& value : x) value = std::round(2 * value);  // many ties
  // A NaN that comes first is the extreme, and others are passed over: a lane that meets one still sees what is behind.
  x[5] = x[side] = x[2 * side + 3] = kNan;
  x[5 + 32] = 50;
  x[5 + 64] = -50;
  const Buffer<float> device = uploaded(stream(), x);
  const ElementLayout kept{.rank = 1, .shape = {rows}, .steps = {{side}}},
      gone{.rank = 1, .shape = {side}, .steps = {{1}}};
  for (const unsigned schedule : test::schedules())
    for (const bool largest : {false, true})
      for (const bool last : {false, true}) {
        test::useSchedule(schedule);
        Buffer<float> y(stream(), rows);
        reduceElements(stream(), *deviceReduction(largest ? "ArgMax" : "ArgMin"), last, kept, gone, device.data(),
                       y.data());
        const std::vector<float> found = fetched(y.data(), rows);
        for (int r = 0; r < rows; ++r) {
          int best = 0;
          for (int i = 1; i < side; ++i) {
            const float a = x[r * side + i], b = x[r * side + best];
            if ((largest ? a > b : a < b) || (last && a == b)) best = i;
          }
          EXPECT_EQ(found[r], static_cast<float>(best)) << r;
        }
      }
}

TEST_F(CudaHeadReads, SoftmaxAlongAnAxis) {
  for (const unsigned schedule : test::schedules())
    for (const auto& [outer, side, inner] : {std::tuple(2, 5, 3), {1, 70, 1}, {3, 1, 2}}) {
      test::useSchedule(schedule);
      const std::vector<float> x = normal(outer * side * inner, 1, 30);
      const Buffer<float> device = uploaded(stream(), x);
      Buffer<float> y(stream(), x.size());
      softmaxAlong(stream(), device.data(), outer, side, inner, y.data());
      const std::vector<float> found = fetched(y.data(), x.size());
      for (int o = 0; o < outer; ++o)
        for (int i = 0; i < inner; ++i) {
          const auto at = [&](int s) { return (o * side + s) * inner + i; };
          double sum = 0, top = -1e9;
          for (int s = 0; s < side; ++s) top = std::max(top, static_cast<double>(x[at(s)]));
          for (int s = 0; s < side; ++s) sum += std::exp(static_cast<double>(x[at(s)]) - top);
          for (int s = 0; s < side; ++s)
            ASSERT_NEAR(static_cast<double>(found[at(s)]), std::exp(static_cast<double>(x[at(s)]) - top) / sum, 1e-6);
        }
    }
}

TEST_F(CudaHeadReads, TheLargestAndTheSmallest) {
  const int outer = 2, side = 40, inner = 2;
  std::vector<float> x = normal(outer * side * inner, 1);
  for (float& value : x) value = std::round(3 * value);
  x[5] = x[60] = kNan;
  const Buffer<float> device = uploaded(stream(), x);
  for (const int k : {1, 7, side})
    for (const bool largest : {true, false}) {
      SCOPED_TRACE(::testing::Message() << k << (largest ? " largest" : " smallest"));
      Buffer<float> values(stream(), outer * k * inner), indices(stream(), outer * k * inner);
      extremesAlong(stream(), device.data(), outer, side, inner, k, largest, values.data(), indices.data());
      const std::vector<float> found = fetched(values.data(), values.capacity()),
                               places = fetched(indices.data(), indices.capacity());
      for (int o = 0; o < outer; ++o)
        for (int i = 0; i < inner; ++i) {
          // A NaN counts as the largest.
          const auto rank = [&](int s) {
            const float value = x[(o * side + s) * inner + i];
            return std::isnan(value) ? kInf : value;
          };
          std::vector<int> order(side);
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(),
                           [&](int a, int b) { return largest ? rank(a) > rank(b) : rank(a) < rank(b); });
          for (int n = 0; n < k; ++n) {
            const int at = (o * k + n) * inner + i;
            ASSERT_EQ(places[at], static_cast<float>(order[n])) << n;
            ASSERT_TRUE(found[at] == rank(order[n]) || std::isnan(found[at]));
          }
        }
    }
}

// From the definition: each pixel of the map around a place, times its distance's weight along both axes.
double sampled(const GridSampling& how, const float* map, int height, int width, double x, double y) {
  const auto place = [&](double at, int side) {
    return how.corners ? (at + 1) / 2 * (side - 1) : ((at + 1) * side - 1) / 2;
  };
  const auto weight = [&](double d) {
    d = std::abs(d);
    if (how.taps == 2) return std::max(0.0, 1 - d);
    const double a = -0.75;
    if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
    return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0.0;
  };
  const auto inside = [&](int i, int side) {
    if (how.padding == GridPadding::kBorder) return std::clamp(i, 0, side - 1);
    while (how.padding == GridPadding::kReflection && (i < 0 || i >= side)) {
      if (side == 1) return 0;
      i = i < 0 ? -i - (how.corners ? 0 : 1) : 2 * side - i - (how.corners ? 2 : 1);
    }
    return i;
  };
  x = place(x, width);
  y = place(y, height);
  if (how.taps == 1) x = std::nearbyint(x), y = std::nearbyint(y);
  double sum = 0;
  for (int row = static_cast<int>(std::floor(y)) - 2; row <= std::floor(y) + 3; ++row)
    for (int column = static_cast<int>(std::floor(x)) - 2; column <= std::floor(x) + 3; ++column) {
      const double share = how.taps == 1 ? (row == y && column == x ? 1 : 0) : weight(y - row) * weight(x - column);
      const int r = inside(row, height), c = inside(column, width);
      if (r >= 0 && r < height && c >= 0 && c < width) sum += share * static_cast<double>(map[r * width + c]);
    }
  return sum;
}

TEST_F(CudaHeadReads, MapsBetweenTheirPixels) {
  const int batch = 2, channels = 3, height = 5, width = 7, places = 300;
  const std::vector<float> maps = normal(batch * channels * height * width, 1);
  const Buffer<float> device = uploaded(stream(), maps);
  for (const int taps : {1, 2, 4})
    for (const GridPadding padding : {GridPadding::kZeros, GridPadding::kBorder, GridPadding::kReflection})
      for (const bool corners : {false, true})
        for (const bool one_grid : {false, true}) {
          SCOPED_TRACE(::testing::Message() << taps << " taps, padding " << static_cast<int>(padding) << ", corners "
                                            << corners << ", one grid " << one_grid);
          const GridSampling how{taps, padding, corners};
          const std::vector<float> grid = normal((one_grid ? 1 : batch) * places * 2, 2, 0.8f);
          const Buffer<float> device_grid = uploaded(stream(), grid);
          Buffer<float> y(stream(), batch * channels * places);
          gridSample(stream(), how,
                     {batch, channels, height, width, places, device.data(), device_grid.data(), one_grid}, y.data());
          const std::vector<float> found = fetched(y.data(), y.capacity());
          for (int b = 0; b < batch; ++b)
            for (int p = 0; p < places; ++p)
              for (int c = 0; c < channels; ++c) {
                const float* const at = grid.data() + 2 * ((one_grid ? 0 : b * places) + p);
                ASSERT_NEAR(static_cast<double>(found[(b * channels + c) * places + p]),
                            sampled(how, maps.data() + (b * channels + c) * height * width, height, width,
                                    static_cast<double>(at[0]), static_cast<double>(at[1])),
                            2e-5)
                    << p;
              }
        }
}

// x {2, 5, 3}: slices along the middle axis, elements by places of all axes, and an index outside.
TEST_F(CudaHeadReads, SlicesByIndicesOfTheNet) {
  const std::vector<float> x = normal(30, 1), indices = {4, 0, -1, 2};
  const Buffer<float> device = uploaded(stream(), x), device_indices = uploaded(stream(), indices);
  Buffer<int> outside = uploaded(stream(), std::vector<int>{0});
  Buffer<float> y(stream(), 2 * 4 * 3);
  GatherCall call{};
  call.slices = {.rank = 2, .shape = {2, 4}, .steps = {{15, 0}}};
  call.index_rows = 4;
  call.depth = 1;
  call.sides[0] = 5;
  call.steps[0] = 3;
  call.width = 3;
  call.x = device.data();
  call.indices = device_indices.data();
  gatherSlices(stream(), call, y.data(), outside.data());
  const std::vector<float> found = fetched(y.data(), y.capacity());
  const int rows[] = {4, 0, 4, 2};
  for (int i = 0; i < 24; ++i) EXPECT_EQ(found[i], x[i / 12 * 15 + rows[i / 3 % 4] * 3 + i % 3]) << i;
  EXPECT_EQ(fetched(outside.data(), 1)[0], 0);
  call.sides[0] = 4;  // 4 is outside
  gatherSlices(stream(), call, y.data(), outside.data());
  EXPECT_EQ(fetched(outside.data(), 1)[0], 1);
  clear(stream(), outside.data(), sizeof(int));

  const std::vector<float> pairs = {1, -5, 0, 3};  // of the first two axes
  const Buffer<float> device_pairs = uploaded(stream(), pairs);
  call.slices = {.rank = 1, .shape = {2}, .steps = {{0}}};
  call.index_rows = 2;
  call.depth = 2;
  call.sides[0] = 2, call.sides[1] = 5;
  call.steps[0] = 15, call.steps[1] = 3;
  call.indices = device_pairs.data();
  gatherSlices(stream(), call, y.data(), outside.data());
  const std::vector<float> slices = fetched(y.data(), 6);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(slices[i], x[(i < 3 ? 15 : 9) + i % 3]) << i;
  EXPECT_EQ(fetched(outside.data(), 1)[0], 0);

  call.sides[1] = 4;  // -5 is outside
  gatherSlices(stream(), call, y.data(), outside.data());
  EXPECT_EQ(fetched(outside.data(), 1)[0], 1);
}

// Labels of any number of classes and logits, from the sum over the taps.
TEST_F(CudaHeadReads, LogitsAndLabelsOfManyClasses) {
  const int batch = 2, classes = 300;
  const AxisResampling rows = bilinearAxis(3, 11), columns = bilinearAxis(4, 9);
  const std::vector<float> scores = normal(batch * 12 * classes, 1);
  const Buffer<float> device = uploaded(stream(), scores);
  const ResizeArgmax resize(stream(), rows, columns);
  Buffer<float> labels(stream(), batch * 99), logits(stream(), batch * 99 * classes);
  resize.floatLabels(stream(), device.data(), batch, classes, labels.data());
  resize.logits(stream(), device.data(), batch, classes, logits.data());
  const std::vector<float> label = fetched(labels.data(), batch * 99),
                           logit = fetched(logits.data(), logits.capacity());
  for (int b = 0; b < batch; ++b)
    for (int pixel = 0; pixel < 99; ++pixel) {
      int best = 0;
      double top = -1e9;
      for (int c = 0; c < classes; ++c) {
        double sum = 0;
        for (int t = 0; t < 2; ++t)
          for (int u = 0; u < 2; ++u) {
            const int cell = (rows.first[pixel / 9] + t) * 4 + columns.first[pixel % 9] + u;
            sum += static_cast<double>(rows.weightsOf(pixel / 9)[t]) *
                   static_cast<double>(columns.weightsOf(pixel % 9)[u]) *
                   static_cast<double>(scores[(b * 12 + cell) * classes + c]);
          }
        ASSERT_NEAR(static_cast<double>(logit[(b * classes + c) * 99 + pixel]), sum, 1e-5);
        if (sum > top) top = sum, best = c;
      }
      ASSERT_EQ(label[b * 99 + pixel], static_cast<float>(best));
    }
}

}  // namespace
}  // namespace mpm::cuda
