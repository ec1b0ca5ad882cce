// SPDX-License-Identifier: Apache-2.0
// Operators of heads.
#include "base/element_functions.h"
#include "device.h"
#include "kernels/cuda/convolution.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/resample.h"
#include "kernels/cuda/sampling.h"
#include "product_case.h"
#include "resample_case.h"

namespace mpm::cuda::worlds {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

std::size_t productOf(const std::vector<int>& sides) {
  return std::accumulate(sides.begin(), sides.end(), std::size_t{1},
                         [](std::size_t n, int side) { return n * size(side); });
}

void tryConvolution(Trial& trial) {
  const Precision precision = anyPrecision(trial.random);
  const mpm::worlds::RandomConvolution c(trial, precision, 60);
  const Values x(Number::kFloat, trial.memory.normal(size(c.batch * c.height * c.width * c.spec.channels)));
  std::vector<const float*> addends, device_addends;
  std::vector<Values> added;
  for (int i = trial.random.size(0, 2); i > 0; --i) {
    addends.push_back(trial.memory.inputOf(c.outputs()));
    added.emplace_back(Number::kFloat, std::vector<float>(addends.back(), addends.back() + c.outputs()));
    device_addends.push_back(static_cast<const float*>(added.back().data()));
  }
  const Buffer<float> y(stream(), c.outputs());
  Gemm gemm(stream());
  ConvolutionWorkspace workspace;
  workspace.most_gathered =
      trial.random.oneOf({std::size_t{1} << 20, std::size_t{700}});  // all rows at once, and a few at a time
  Convolution(stream(), c.spec)
      .run(stream(), gemm, workspace,
           {static_cast<const float*>(x.data()), c.batch, c.height, c.width, c.spec.channels}, device_addends,
           {y.data(), c.batch, c.out_height, c.out_width, c.spec.outputs});
  const std::vector<float> found = now(y);
  const std::vector<double> expected = mpm::test::convolution(
      c.spec, {x.rounded.data(), c.batch, c.height, c.width, c.spec.channels}, c.out_height, c.out_width, addends);
  const double tolerance = precision == Precision::kFp32 ? 2e-5 : precision == Precision::kBf16 ? 0.06 : 0.01;
  for (std::size_t i = 0; i < expected.size(); ++i) trial.near(static_cast<double>(found[i]), expected[i], tolerance);
}

/// How arrays lie in memory: their axes in a random order, or repeated.
struct Axes {
  std::vector<int> sides;
  ElementLayout layout;

  explicit Axes(Random& random) : sides(size(random.size(1, 4))) {
    for (int& side : sides) side = random.size(1, 6);
    layout.rank = static_cast<int>(sides.size());
    std::copy(sides.begin(), sides.end(), layout.shape);
  }
  /// Gives an operand its steps; returns how many elements it has.
  std::size_t place(Random& random, int operand) {
    std::vector<int> order(sides.size());
    std::iota(order.begin(), order.end(), 0);
    const bool turned = random.chance(3);
    for (std::size_t i = order.size() - 1; i > 0 && turned; --i) std::swap(order[i], order[random.bits() % (i + 1)]);
    std::size_t count = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      const int axis = order[i];
      const bool repeated = random.chance(4);
      layout.steps[operand][axis] = repeated ? 0 : static_cast<long long>(count);
      count *= repeated ? 1 : size(sides[size(axis)]);
    }
    return count;
  }
  /// Where the element `i` of a dense result is in an operand.
  static std::size_t at(const ElementLayout& layout, int operand, std::size_t i) {
    long long place = 0;
    for (int axis = layout.rank; axis-- > 0; i /= size(layout.shape[axis]))
      place += layout.steps[operand][axis] * static_cast<long long>(i % size(layout.shape[axis]));
    return static_cast<std::size_t>(place);
  }
};

/// `found` is `expected`, also where that is none or infinite.
void nearAny(Trial& trial, float found, double expected, double tolerance) {
  if (std::abs(expected) > 1e30) return trial.require(found == static_cast<float>(expected), "is not as large");
  trial.near(static_cast<double>(found), expected, tolerance);
}

/// Every function of the CPU's layers, in double, with zeros, halves, NaN and infinities among the operands.
void tryMapElements(Trial& trial) {
  Random& random = trial.random;
  const auto& function = kElementFunctions<double>[random.bits() % std::size(kElementFunctions<double>)];
  const bool copies = random.chance(12);
  Axes axes(random);
  std::vector<float> values[3];
  Buffer<float> device[3];
  for (int k = 0; k < 3; ++k) {
    values[k] = trial.memory.normal(axes.place(random, k), 2);
    if (random.chance(2))
      for (float& value : values[k]) value = std::round(2 * value) / 2;
    if (random.chance(3)) values[k][random.bits() % values[k].size()] = random.oneOf({kNan, kInf, 0.0f, 40.0f, -40.0f});
    device[k] = uploaded(stream(), values[k]);
  }
  const std::optional<DeviceFunction> known = deviceFunction(function.name);
  if (!known) return trial.require(false, std::string(function.name) + " is not known");
  const std::size_t count = productOf(axes.sides);
  const Buffer<float> y(stream(), count);
  mapElements(stream(), copies ? DeviceFunction::kCopy : *known, axes.layout,
              {device[0].data(), device[1].data(), device[2].data()}, y.data());
  const std::vector<float> found = now(y);
  for (std::size_t i = 0; i < count; ++i) {
    const auto operand = [&](int k) { return static_cast<double>(values[k][Axes::at(axes.layout, k, i)]); };
    nearAny(trial, found[i], copies ? operand(0) : function.value(operand(0), operand(1), operand(2)), 3e-6);
  }
  trial.require(!deviceFunction("Gamma") && !deviceFunction(""), "knows a function that there is not");
}

void tryCopyBlocks(Trial& trial) {
  const int rows = trial.random.size(1, 40), width = trial.random.size(1, 70), stride = width + trial.random.size(0, 9);
  const Values x(Number::kFloat, trial.memory.normal(area(rows, width))),
      y(Number::kFloat, trial.memory.normal(area(rows, stride)));
  copyBlocks(stream(), static_cast<const float*>(x.data()), size(rows), size(width), size(stride),
             static_cast<float*>(y.data()));
  std::vector<float> expected = y.rounded;
  for (int r = 0; r < rows; ++r) std::copy_n(x.rounded.begin() + r * width, width, expected.begin() + r * stride);
  trial.require(y.now() == expected, "copies other blocks");
}

/// Three axes, of which a function works along the middle one.
struct Along {
  int outer, side, inner;
  std::vector<float> values;
  Buffer<float> device;

  Along(Trial& trial, int most_side, float sigma)
      : outer(trial.random.size(1, 4)),
        side(trial.random.size(1, most_side)),
        inner(trial.random.size(1, 5)),
        values(trial.memory.normal(size(outer * side * inner), sigma)) {}
  void upload() { device = uploaded(stream(), values); }
  double at(int o, int s, int i) const { return static_cast<double>(values[size((o * side + s) * inner + i)]); }
  /// body(o, i) for each line along the middle axis.
  template <class Body>
  void each(Body body) const {
    for (int o = 0; o < outer; ++o)
      for (int i = 0; i < inner; ++i) body(o, i);
  }
};

void tryWindows(Trial& trial) {
  Random& random = trial.random;
  Along x(trial, 9, 1);
  x.upload();
  const bool sums = random.chance(2), fills = !sums && random.chance(2);
  const int places = random.size(1, 12), taps = fills ? 1 : random.size(1, 4);
  std::vector<int> indices(size(places * taps));
  for (int& index : indices) index = fills && random.chance(3) ? -1 : static_cast<int>(random.bits() % size(x.side));
  const std::vector<float> weights = trial.memory.normal(indices.size());
  std::optional<float> fill;
  if (fills) fill = random.normal(2);
  const Windows windows(stream(), indices, sums ? weights : std::vector<float>(), taps, fill);
  const Buffer<float> y(stream(), size(x.outer * places * x.inner));
  windows.run(stream(), x.device.data(), size(x.outer), x.side, size(x.inner), y.data());
  const std::vector<float> found = now(y);
  x.each([&](int o, int i) {
    for (int p = 0; p < places; ++p) {
      double expected = sums ? 0 : -1e30;
      for (int t = 0; t < taps; ++t) {
        const int index = indices[size(p * taps + t)];
        const double value = index < 0 ? static_cast<double>(*fill) : x.at(o, index, i);
        expected =
            sums ? expected + static_cast<double>(weights[size(p * taps + t)]) * value : std::max(expected, value);
      }
      trial.near(static_cast<double>(found[size((o * places + p) * x.inner + i)]), expected, 2e-6);
    }
  });
  const int highest = *std::max_element(indices.begin(), indices.end());
  if (highest >= 0) {
    trial.refuses([&] { windows.run(stream(), x.device.data(), size(x.outer), highest, size(x.inner), y.data()); },
                  "takes index " + std::to_string(highest));
  }
}

void tryNormaliseGroups(Trial& trial) {
  Random& random = trial.random;
  const int batch = random.size(1, 3), groups = random.size(1, 4), channels = groups * random.size(1, 4),
            width = random.size(1, 90);
  const Values x(Number::kFloat, trial.memory.normal(size(batch * channels * width), 2, 5));
  const Values scale(Number::kFloat, trial.memory.normal(size(channels))),
      offset(Number::kFloat, trial.memory.normal(size(channels)));
  const bool in_place = random.chance(2);
  const Values apart(Number::kFloat, std::vector<float>(x.rounded.size()));
  const Values& y = in_place ? x : apart;
  const int each = channels / groups * width;
  normaliseGroups(stream(), static_cast<const float*>(x.data()), size(batch * groups), size(each), size(width),
                  channels, 1e-3f, static_cast<const float*>(scale.data()), static_cast<const float*>(offset.data()),
                  static_cast<float*>(y.data()));
  const std::vector<float> found = y.now(), one(size(each), 1.0f), zero(size(each));
  const Reference expected = mpm::test::norm(Reference(MatrixView<const float>(x.rounded.data(), batch * groups, each)),
                                             {one.data(), zero.data(), 1e-3f});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t channel = i / size(width) % size(channels);
    trial.near(
        static_cast<double>(found[i]),
        expected.values[i] * static_cast<double>(scale.rounded[channel]) + static_cast<double>(offset.rounded[channel]),
        5e-5);
  }
}

void tryReduceElements(Trial& trial) {
  Random& random = trial.random;
  const auto& reduction = kElementReductions[random.bits() % std::size(kElementReductions)];
  const int extreme = random.size(0, 3);  // 1: the smallest, 2: the largest
  std::vector<int> sides(size(random.size(1, 4)));
  for (int& side : sides) side = random.size(1, random.chance(4) ? 70 : 7);
  while (productOf(sides) > 4000) sides.pop_back();
  std::vector<float> x = trial.memory.normal(productOf(sides), 0.5f, 1);
  for (float& value : x) value = std::round(8 * value) / 8;  // some are equal
  if (random.chance(4)) x[random.bits() % x.size()] = random.oneOf({kNan, kInf, -kInf});
  ElementLayout kept, gone;
  long long step = static_cast<long long>(x.size());
  for (const int side : sides) {
    step /= side;
    ElementLayout& layout = random.chance(2) ? kept : gone;
    layout.shape[layout.rank] = side;
    layout.steps[0][layout.rank++] = step;
  }
  const auto count = [](const ElementLayout& layout) { return productOf({layout.shape, layout.shape + layout.rank}); };
  const bool last = random.chance(2);
  const std::optional<DeviceReduction> known = deviceReduction(extreme == 1   ? "ArgMin"
                                                               : extreme == 2 ? "ArgMax"
                                                                              : reduction.name);
  if (!known) return trial.require(false, std::string(reduction.name) + " is not known");
  const Buffer<float> device = uploaded(stream(), x), y(stream(), count(kept));
  reduceElements(stream(), *known, last, kept, gone, device.data(), y.data());
  const std::vector<float> found = now(y);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto member = [&](std::size_t m) {
      return static_cast<double>(x[Axes::at(kept, 0, i) + Axes::at(gone, 0, m)]);
    };
    double value = reduction.start;
    std::size_t best = 0;
    for (std::size_t m = 0; m < count(gone); ++m) {
      value = reduction.step(value, member(m));
      if ((extreme == 2 ? member(m) > member(best) : member(m) < member(best)) || (last && member(m) == member(best)))
        best = m;
    }
    if (extreme == 1 || extreme == 2)
      trial.require(found[i] == static_cast<float>(best), "finds another place");
    else
      nearAny(trial, found[i], reduction.finish(value, static_cast<double>(count(gone))), 1e-6);
  }
  trial.require(!deviceReduction("ReduceMedian"), "knows a function that there is not");
}

void trySoftmaxAlong(Trial& trial) {
  Along x(trial, 90, 30);
  x.upload();
  const Buffer<float> y(stream(), x.values.size());
  softmaxAlong(stream(), x.device.data(), size(x.outer), x.side, size(x.inner), y.data());
  const std::vector<float> found = now(y);
  x.each([&](int o, int i) {
    double sum = 0, top = -1e9;
    for (int s = 0; s < x.side; ++s) top = std::max(top, x.at(o, s, i));
    for (int s = 0; s < x.side; ++s) sum += std::exp(x.at(o, s, i) - top);
    for (int s = 0; s < x.side; ++s) {
      trial.near(static_cast<double>(found[size((o * x.side + s) * x.inner + i)]), std::exp(x.at(o, s, i) - top) / sum,
                 1e-6);
    }
  });
}

void tryExtremesAlong(Trial& trial) {
  Along x(trial, 90, 1);
  for (float& value : x.values) value = trial.random.chance(40) ? kNan : std::round(3 * value);
  x.upload();
  const int k = trial.random.chance(4) ? x.side : trial.random.size(1, x.side);
  const bool largest = trial.random.chance(2);
  const std::size_t count = size(x.outer * k * x.inner);
  const Buffer<float> values(stream(), count), indices(stream(), count);
  extremesAlong(stream(), x.device.data(), size(x.outer), x.side, size(x.inner), k, largest, values.data(),
                indices.data());
  const std::vector<float> found = now(values), places = now(indices);
  x.each([&](int o, int i) {
    // A NaN counts as the largest.
    const auto rank = [&](int s) { return std::isnan(x.at(o, s, i)) ? static_cast<double>(kInf) : x.at(o, s, i); };
    std::vector<int> order(size(x.side));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return largest ? rank(a) > rank(b) : rank(a) < rank(b); });
    for (int n = 0; n < k; ++n) {
      const std::size_t at = size((o * k + n) * x.inner + i);
      trial.require(places[at] == static_cast<float>(order[size(n)]), "finds another place");
      trial.near(static_cast<double>(found[at]), x.at(o, order[size(n)], i), 0);
    }
  });
}

/// From the definition: each pixel of the map around a place, times its distance's weight along both axes.
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
  for (int row = static_cast<int>(std::floor(y)) - 2; row <= std::floor(y) + 3; ++row) {
    for (int column = static_cast<int>(std::floor(x)) - 2; column <= std::floor(x) + 3; ++column) {
      const double share = how.taps == 1 ? (row == y && column == x ? 1 : 0) : weight(y - row) * weight(x - column);
      const int r = inside(row, height), c = inside(column, width);
      if (r >= 0 && r < height && c >= 0 && c < width) sum += share * static_cast<double>(map[r * width + c]);
    }
  }
  return sum;
}

void tryGridSample(Trial& trial) {
  Random& random = trial.random;
  const GridSampling how{random.oneOf({1, 2, 4}),
                         random.oneOf({GridPadding::kZeros, GridPadding::kBorder, GridPadding::kReflection}),
                         random.chance(2)};
  GridSampleCall call{.batch = random.size(1, 3),
                      .channels = random.size(1, 4),
                      .height = random.size(1, 9),
                      .width = random.size(1, 9),
                      .places = random.size(1, 300)};
  call.one_grid = random.chance(2);
  const std::vector<float> maps = trial.memory.normal(size(call.batch * call.channels * call.height * call.width)),
                           grid = trial.memory.normal(size((call.one_grid ? 1 : call.batch) * call.places * 2), 0.8f);
  const Buffer<float> device_maps = uploaded(stream(), maps), device_grid = uploaded(stream(), grid);
  call.maps = device_maps.data();
  call.grid = device_grid.data();
  const std::size_t count = size(call.batch * call.channels * call.places);
  const Buffer<float> y(stream(), count);
  gridSample(stream(), how, call, y.data());
  const std::vector<float> found = now(y);
  for (int b = 0; b < call.batch; ++b) {
    for (int p = 0; p < call.places; ++p) {
      const float* const at = grid.data() + 2 * ((call.one_grid ? 0 : b * call.places) + p);
      const auto middle = [&](float value, int side) {  // between two pixels rounding decides which is nearest
        const double place = how.corners ? (static_cast<double>(value) + 1) / 2 * (side - 1)
                                         : ((static_cast<double>(value) + 1) * side - 1) / 2;
        return std::abs(place - std::floor(place) - 0.5) < 1e-4;
      };
      if (how.taps == 1 && (middle(at[0], call.width) || middle(at[1], call.height))) continue;
      for (int c = 0; c < call.channels; ++c) {
        trial.near(static_cast<double>(found[size((b * call.channels + c) * call.places + p)]),
                   sampled(how, maps.data() + (b * call.channels + c) * call.height * call.width, call.height,
                           call.width, static_cast<double>(at[0]), static_cast<double>(at[1])),
                   3e-5);
      }
    }
  }
}

/// x has axes without an index, then those with one, then the slice.
void tryGatherSlices(Trial& trial) {
  Random& random = trial.random;
  const int batch = random.size(1, 3), rows = random.size(1, 9), depth = random.size(1, 3);
  const bool shared = random.chance(2);  // the same indices for each of the batch
  GatherCall call;
  call.depth = depth;
  call.width = size(random.size(1, 40));
  long long step = static_cast<long long>(call.width);
  for (int d = depth; d-- > 0;) {
    call.sides[d] = random.size(1, 5);
    call.steps[d] = step;
    step *= call.sides[d];
  }
  call.slices = {.rank = 2, .shape = {batch, rows}, .steps = {{step, 0}}};
  call.index_rows = size(shared ? rows : batch * rows);
  std::vector<float> indices;
  bool outside = false;
  for (std::size_t i = 0; i < call.index_rows * size(depth); ++i) {
    const int side = call.sides[i % size(depth)], beside = random.chance(60) ? 1 : 0;
    const int index =
        beside != 0 ? random.oneOf({side, -side - 1}) : static_cast<int>(random.bits() % size(2 * side)) - side;
    outside = outside || beside != 0;
    indices.push_back(static_cast<float>(index));
  }
  const std::vector<float> x = trial.memory.normal(size(batch) * static_cast<std::size_t>(step));
  const Buffer<float> device_x = uploaded(stream(), x), device_indices = uploaded(stream(), indices);
  const Buffer<int> found_outside = uploaded(stream(), std::vector<int>{0});
  call.x = device_x.data();
  call.indices = device_indices.data();
  const std::size_t slices = size(batch * rows);
  const Buffer<float> y(stream(), slices * call.width);
  gatherSlices(stream(), call, y.data(), found_outside.data());
  trial.require(now(found_outside)[0] == (outside ? 1 : 0), "takes an index outside, or refuses one inside");
  if (outside) return;
  const std::vector<float> found = now(y);
  for (std::size_t i = 0; i < slices; ++i) {
    long long from = static_cast<long long>(i) / rows * step;
    for (int d = 0; d < depth; ++d) {
      const auto index = static_cast<int>(indices[i % call.index_rows * size(depth) + size(d)]);
      from += call.steps[d] * (index < 0 ? index + call.sides[d] : index);
    }
    trial.require(std::equal(x.begin() + from, x.begin() + from + static_cast<std::ptrdiff_t>(call.width),
                             found.begin() + static_cast<std::ptrdiff_t>(i * call.width)),
                  "gathers another slice");
  }
}

void tryResizeArgmax(Trial& trial) {
  const AxisResampling rows = mpm::worlds::randomAxis(trial.random, 9, 30),
                       columns = mpm::worlds::randomAxis(trial.random, 12, trial.random.chance(4) ? 300 : 60);
  const mpm::worlds::RandomScores random(trial, rows, columns, 300);
  const int grid = rows.inputs * columns.inputs, height = rows.outputs(), width = columns.outputs(),
            pixels = height * width;
  const int batch = trial.random.size(1, 2), classes = random.classes;
  std::vector<float> scores = random.values;
  if (batch == 2) scores.insert(scores.begin(), random.values.rbegin(), random.values.rend());
  const Buffer<float> device = uploaded(stream(), scores), floats(stream(), area(batch, pixels)),
                      logits(stream(), area(batch * classes, pixels));
  const Buffer<unsigned char> bytes(stream(), area(batch, pixels));
  const ResizeArgmax resize(stream(), rows, columns);
  resize.floatLabels(stream(), device.data(), batch, classes, floats.data());
  resize.logits(stream(), device.data(), batch, classes, logits.data());
  const std::vector<float> labels = now(floats), found = now(logits);
  const MatrixView<const float> last(scores.data() + area((batch - 1) * grid, classes), grid, classes);
  random.check(trial, last, rows, columns, labels.data() + area(batch - 1, pixels), width);
  if (classes <= 256) {
    resize.run(stream(), device.data(), batch, classes, bytes.data());
    const std::vector<unsigned char> small = now(bytes);
    trial.require(std::equal(small.begin(), small.end(), labels.begin()), "gives other labels as bytes");
  } else {
    trial.refuses([&] { resize.run(stream(), device.data(), batch, classes, bytes.data()); }, "1 to 256 classes");
  }
  for (int b = 0; b < batch; ++b) {
    for (int c = 0; c < classes; ++c) {
      for (int pixel = 0; pixel < pixels; ++pixel) {
        trial.near(static_cast<double>(found[area(b * classes + c, pixels) + size(pixel)]),
                   mpm::test::logitAt({scores.data() + area(b * grid, classes), grid, classes}, rows, columns,
                                      pixel / width, pixel % width, c),
                   2e-5);
      }
    }
  }
}

}  // namespace

std::vector<Kernel> headKernels() {
  return {
      {"cuda::Convolution", tryConvolution},         {"cuda::mapElements, cuda::deviceFunction", tryMapElements},
      {"cuda::copyBlocks", tryCopyBlocks},           {"cuda::Windows", tryWindows},
      {"cuda::normaliseGroups", tryNormaliseGroups}, {"cuda::reduceElements, cuda::deviceReduction", tryReduceElements},
      {"cuda::softmaxAlong", trySoftmaxAlong},       {"cuda::extremesAlong", tryExtremesAlong},
      {"cuda::gridSample", tryGridSample},           {"cuda::gatherSlices", tryGatherSlices},
      {"cuda::ResizeArgmax", tryResizeArgmax}};
}

}  // namespace mpm::cuda::worlds
