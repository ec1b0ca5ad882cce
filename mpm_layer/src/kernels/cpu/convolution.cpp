// SPDX-License-Identifier: Apache-2.0
#include "kernels/convolution.h"

#include <algorithm>
#include <array>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/tiles.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/convolution.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

// to[f * stride] = B^T x B of a block, f < 16.
void transformInput(const float* const* HWY_RESTRICT pixels, int channels, bool relu, float* HWY_RESTRICT to,
                    std::ptrdiff_t stride) {
  forElements(channels, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
    const auto at = [&](int i) HWY_ATTR {
      const auto x = hn::LoadU(d, pixels[i] + c);
      return relu ? hn::Max(hn::Zero(d), x) : x;  // keeps a NaN
    };
    hn::Vec<decltype(d)> t[16];
    for (int j = 0; j < 4; ++j) {
      const auto x1 = at(4 + j), x2 = at(8 + j);
      t[j] = hn::Sub(at(j), x2);
      t[4 + j] = hn::Add(x1, x2);
      t[8 + j] = hn::Sub(x2, x1);
      t[12 + j] = hn::Sub(x1, at(12 + j));
    }
    for (int i = 0; i < 16; i += 4) {
      hn::StoreU(hn::Sub(t[i], t[i + 2]), d, to + i * stride + c);
      hn::StoreU(hn::Add(t[i + 1], t[i + 2]), d, to + (i + 1) * stride + c);
      hn::StoreU(hn::Sub(t[i + 2], t[i + 1]), d, to + (i + 2) * stride + c);
      hn::StoreU(hn::Sub(t[i + 1], t[i + 3]), d, to + (i + 3) * stride + c);
    }
  });
}

// The four rows of y += A^T sums A.
void transformOutput(const float* HWY_RESTRICT sums, std::ptrdiff_t stride, int outputs, float* HWY_RESTRICT y,
                     std::ptrdiff_t y_stride) {
  forElements(outputs, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
    hn::Vec<decltype(d)> t[8];
    for (int j = 0; j < 4; ++j) {
      const auto at = [&](int i) HWY_ATTR { return hn::LoadU(d, sums + (4 * i + j) * stride + c); };
      const auto m1 = at(1), m2 = at(2);
      t[j] = hn::Add(hn::Add(at(0), m1), m2);
      t[4 + j] = hn::Sub(hn::Sub(m1, m2), at(3));
    }
    for (int i = 0; i < 2; ++i) {
      const auto* m = t + 4 * i;
      float *const first = y + 2 * i * y_stride + c, *const second = first + y_stride;
      hn::StoreU(hn::Add(hn::LoadU(d, first), hn::Add(hn::Add(m[0], m[1]), m[2])), d, first);
      hn::StoreU(hn::Add(hn::LoadU(d, second), hn::Sub(hn::Sub(m[1], m[2]), m[3])), d, second);
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
namespace {

HWY_EXPORT(transformInput);
HWY_EXPORT(transformOutput);

// 3x3 convolutions with stride 1, a block of 2 x 2 output pixels at a time: Winograd's F(2x2, 3x3) multiplies 16 times
// per block, channel and output, where the definition multiplies 36 times. In bf16 what is multiplied is rounded after
// the transforms: the error is larger than that of rounded pixels and weights.
class Winograd {
 public:
  static constexpr int kMaxBlocks = 48;  // of a call: its operands and sums stay in L2

  // `weight` {outputs, channels, 3, 3}. `kernel`: of bf16; null: fp32.
  Winograd(const float* weight, int channels, int outputs, const TileKernel* kernel)
      : channels_(channels),
        outputs_(outputs),
        kernel_(kernel),
        words_(kernel != nullptr ? kernel->wordsFor(channels) : channels) {
    // {16, outputs, channels}: G w G^T
    const std::size_t in = channels, of_one = outputs * in;
    std::vector<float> transformed(16 * of_one);
    const auto spread = [](float a, float b, float c) {
      return std::array{a, 0.5f * (a + b + c), 0.5f * (a - b + c), c};
    };
    for (std::size_t i = 0; i < of_one; ++i, weight += 9) {
      std::array<float, 4> columns[3];
      for (int j = 0; j < 3; ++j) columns[j] = spread(weight[j], weight[3 + j], weight[6 + j]);
      for (int r = 0; r < 4; ++r)
        for (int j = 0; const float value : spread(columns[0][r], columns[1][r], columns[2][r]))
          transformed[(4 * r + j++) * of_one + i] = value;
    }
    std::uint32_t* to = weights_.atLeast(16 * static_cast<std::size_t>(panels()) * ofPanel());
    for (int f = 0; f < 16; ++f)
      for (int p = 0; p < panels(); ++p, to += ofPanel()) {
        const int first = p * kPanel, count = std::min(outputs - first, kPanel);
        pack({transformed.data() + f * of_one + first * in, count, channels}, to);
      }
  }

  // y {4 * blocks, outputs} += the convolutions. Row 4 b + 2 i + j is pixel (i, j) of block b. `pixels` {blocks, 16}:
  // the channels of the 4 x 4 pixels of x that a block sees, row by row. relu: x is max(x, 0).
  void run(const float* const* pixels, int blocks, bool relu, MatrixView<float> y) const {
    thread_local Scratch<std::uint32_t> input_scratch;
    thread_local Scratch<float> sum_scratch;
    const int width = panels() * kPanel;
    // A cache line more: else the 16 numbers of a block share one set of L1.
    const std::ptrdiff_t in_stride = static_cast<std::ptrdiff_t>(kMaxBlocks) * words_ + 16,
                         sum_stride = static_cast<std::ptrdiff_t>(kMaxBlocks) * width + 16;
    std::uint32_t* const inputs = input_scratch.atLeast(16 * in_stride);
    float* const sums = sum_scratch.atLeast(16 * sum_stride);
    for (int b = 0; b < blocks; ++b) transform(pixels + 16 * b, relu, inputs + b * words_, in_stride);
    for (int f = 0; f < 16; ++f)
      for (int p = 0; p < panels(); ++p)
        multiply(inputs + f * in_stride, blocks, p, weights_.data() + (f * panels() + p) * ofPanel(),
                 {sums + f * sum_stride + p * kPanel, blocks, std::min(outputs_ - p * kPanel, kPanel), width});
    for (int b = 0; b < blocks; ++b)
      HWY_DYNAMIC_DISPATCH(transformOutput)(sums + b * width, sum_stride, outputs_, y.row(4 * b), y.stride);
  }

 private:
  int panels() const { return panelsFor(outputs_); }
  std::ptrdiff_t ofPanel() const { return static_cast<std::ptrdiff_t>(words_) * kPanel; }

  // Of at most kPanel outputs.
  void pack(MatrixView<const float> weight, std::uint32_t* to) const {
    std::fill_n(to, ofPanel(), 0u);
    if (kernel_ == nullptr)
      return packPanel(weight.data, weight.stride, weight.rows, channels_, reinterpret_cast<float*>(to), 0);
    std::vector<std::uint32_t> rounded(static_cast<std::size_t>(weight.rows) * words_);
    for (int o = 0; o < weight.rows; ++o) kernel_->roundW(weight.row(o), channels_, rounded.data() + o * words_);
    kernel_->packColumns(rounded.data(), weight.rows, words_, to, 0, kernel_->widthOf(weight.rows));
  }

  void transform(const float* const* pixels, bool relu, std::uint32_t* to, std::ptrdiff_t stride) const {
    if (kernel_ == nullptr)
      return HWY_DYNAMIC_DISPATCH(transformInput)(pixels, channels_, relu, reinterpret_cast<float*>(to), stride);
    thread_local Scratch<float> scratch;
    float* const exact = scratch.atLeast(16 * static_cast<std::size_t>(channels_));
    HWY_DYNAMIC_DISPATCH(transformInput)(pixels, channels_, relu, exact, channels_);
    for (int f = 0; f < 16; ++f) kernel_->roundX(exact + f * channels_, channels_, to + f * stride);
  }

  // sums = rows of transformed pixels times a panel; may write the rest of kMaxBlocks rows and of the panel's columns.
  void multiply(const std::uint32_t* x, int rows, int panel, const std::uint32_t* w, MatrixView<float> sums) const {
    if (kernel_ == nullptr)
      return panelProduct(reinterpret_cast<const float*>(x), channels_, rows, channels_,
                          reinterpret_cast<const float*>(w), sums.data, sums.stride, sums.cols);
    static constexpr float kNoBias[kPanel] = {};
    static constexpr std::ptrdiff_t kOneTap = 0;
    const int columns = kernel_->widthOf(std::min(outputs_ - panel * kPanel, kPanel));
    for (int i = 0; i < rows; i += kernel_->rows)
      kernel_->run(PixelRows{x + static_cast<std::ptrdiff_t>(i) * words_, words_, &kOneTap, 1}, w, columns,
                   {.y = {sums.row(i), kernel_->rows, columns, sums.stride},
                    .row_scales = nullptr,
                    .column_scales = nullptr,
                    .bias = kNoBias});
  }

  int channels_, outputs_;
  const TileKernel* kernel_;
  int words_;                       // of a transformed pixel
  Scratch<std::uint32_t> weights_;  // {16, panels, words, kPanel}
};

constexpr int kLeastForWinograd = 96;  // channels and outputs, in bf16
constexpr int kRows = 128;             // pixels of a tile
constexpr int kMaxWidth = 640;         // of a row of gathered pixels, unless one tap has more: a tile stays in L2

// A weight of the kernel, and the pixel that it takes from its place in x.
struct Tap {
  int kernel, dy, dx;
  int following;  // taps from here on that lie side by side in x
};

// Taps that are multiplied at once: one product per group.
struct Product {
  int begin, end;
  std::vector<PackedLinear> groups;
};

// The output pixels that see the same weights: first + i * step.
struct Phase {
  int first[2];
  std::vector<Tap> taps;
  std::vector<Product> products;
  std::vector<float> each_channel;  // {taps, channels}, in place of products
};

}  // namespace

struct Convolution::Impl {
  int channels, outputs, groups;
  int x_step[2], y_step[2];
  bool relu_input, each_channel;
  std::optional<Activation> activation;
  std::vector<float> bias, zeros;  // zeros: a pixel beside x, no bias
  std::vector<Phase> phases;
  // In place of products:
  std::optional<Winograd> winograd;
  std::optional<TileConvolution> tiles;

  explicit Impl(const ConvolutionSpec& spec);
  void pack(const ConvolutionSpec& spec, Phase& phase) const;
  TileConvolution tilesOf(const ConvolutionSpec& spec, const Phase& phase, const TileKernel& kernel) const;
  /// The weights of taps [begin, end) for the outputs of a group: {outputs / groups, taps, channels / groups}.
  std::vector<float> weightRows(const ConvolutionSpec& spec, const Phase& phase, int group, int begin, int end) const;
  void put(const float* from, int count, float* to) const {
    if (relu_input)
      for (int c = 0; c < count; ++c) to[c] = std::max(from[c], 0.0f);
    else
      std::copy_n(from, count, to);
  }
  void gather(const MapsView<const float>& x, int image, const Phase& phase, const Product& product, int group,
              int begin, int end, int columns, float* to) const;
  /// x as `tiles` reads it, an image behind the other.
  const std::uint32_t* rounded(const MapsView<const float>& x, const TileConvolution::Layout& layout,
                               const Parallel& parallel) const;
  void runTile(const MapsView<const float>& x, const std::uint32_t* rounded_x, const std::vector<const float*>& addends,
               const MapsView<float>& y, int image, const Phase& phase, int begin, int end) const;
  void runBlocks(const MapsView<const float>& x, int image, int begin, int across, MatrixView<float> tile) const;
  int places(const Phase& phase, int axis, int side) const {
    return std::max(side - phase.first[axis] + y_step[axis] - 1, 0) / y_step[axis];
  }
  /// Rows of all tiles of a phase: output pixels, with Winograd four for each block of 2 x 2, with `tiles` those of the
  /// border between two rows, too.
  int rowsOf(const Phase& phase, const MapsView<float>& y) const {
    return tiles      ? (y.height - 1) * tiles->layoutFor(y.height, y.width).width + y.width
           : winograd ? 4 * ((y.height + 1) / 2) * ((y.width + 1) / 2)
                      : places(phase, 0, y.height) * places(phase, 1, y.width);
  }
};

Convolution::Impl::Impl(const ConvolutionSpec& spec)
    : channels(spec.channels),
      outputs(spec.outputs),
      groups(spec.groups),
      relu_input(spec.relu_input),
      each_channel(spec.groups > 1 && spec.groups == spec.channels && spec.channels == spec.outputs),
      activation(spec.activation),
      bias(spec.bias, spec.bias + spec.outputs),
      zeros(std::max(spec.channels, spec.outputs), 0.0f) {
  const auto all = [](const int(&pair)[2], int value) { return pair[0] == value && pair[1] == value; };
  const TileKernel* const kernel = convolutionTiles(spec.precision);
  const bool side_by_side = !spec.transposed && groups == 1 && all(spec.strides, 1);
  // The transforms take longer than the products that they save beside tiles of AMX, and with few channels in bf16.
  const bool transforms_pay =
      kernel == nullptr ? spec.precision == Precision::kFp32
                        : !kernel->multipliesBesideVectors() && std::min(channels, outputs) >= kLeastForWinograd;
  if (side_by_side && all(spec.kernel, 3) && all(spec.dilations, 1) && transforms_pay)
    winograd.emplace(spec.weight, channels, outputs, kernel);
  for (int axis = 0; axis < 2; ++axis) {
    x_step[axis] = spec.transposed ? 1 : spec.strides[axis];
    y_step[axis] = spec.transposed ? spec.strides[axis] : 1;
  }
  // The place in x of weight k, seen from an output pixel `first`; none where a transposed stride steps over it.
  const auto place = [&](int axis, int first, int k) -> std::optional<int> {
    if (!spec.transposed) return k * spec.dilations[axis] - spec.pads[axis];
    const int at = first + spec.pads[axis] - k * spec.dilations[axis];
    return at % y_step[axis] == 0 ? std::optional(at / y_step[axis]) : std::nullopt;
  };
  for (int py = 0; py < y_step[0]; ++py)
    for (int px = 0; px < y_step[1]; ++px) {
      Phase phase{{py, px}, {}, {}, {}};
      for (int ky = 0; ky < spec.kernel[0]; ++ky)
        for (int kx = 0; kx < spec.kernel[1]; ++kx)
          if (const auto dy = place(0, py, ky), dx = place(1, px, kx); dy && dx)
            phase.taps.push_back({ky * spec.kernel[1] + kx, *dy, *dx, 1});
      std::sort(phase.taps.begin(), phase.taps.end(),
                [](const Tap& a, const Tap& b) { return std::pair(a.dy, a.dx) < std::pair(b.dy, b.dx); });
      for (std::size_t t = phase.taps.size(); t-- > 1;) {
        const Tap &tap = phase.taps[t], &before = phase.taps[t - 1];
        if (groups == 1 && before.dy == tap.dy && before.dx + 1 == tap.dx)
          phase.taps[t - 1].following = tap.following + 1;
      }
      if (!winograd && side_by_side && kernel != nullptr && phase.taps.size() > 1)
        tiles.emplace(tilesOf(spec, phase, *kernel));
      else if (!winograd)
        pack(spec, phase);
      phases.push_back(std::move(phase));
    }
}

std::vector<float> Convolution::Impl::weightRows(const ConvolutionSpec& spec, const Phase& phase, int group, int begin,
                                                 int end) const {
  const int in = channels / groups, out = outputs / groups, area = spec.kernel[0] * spec.kernel[1];
  std::vector<float> rows;
  rows.reserve(static_cast<std::size_t>(out) * (end - begin) * in);
  for (int o = group * out; o < (group + 1) * out; ++o)
    for (int t = begin; t < end; ++t)
      for (int c = 0; c < in; ++c)
        rows.push_back(spec.weight[(static_cast<std::ptrdiff_t>(o) * in + c) * area + phase.taps[t].kernel]);
  return rows;
}

TileConvolution Convolution::Impl::tilesOf(const ConvolutionSpec& spec, const Phase& phase,
                                           const TileKernel& kernel) const {
  const int count = static_cast<int>(phase.taps.size());
  const std::vector<float> rows = weightRows(spec, phase, 0, 0, count);
  std::vector<TileConvolution::Tap> taps;
  for (const Tap& tap : phase.taps) taps.push_back({tap.dy, tap.dx});
  return {kernel, taps, channels, {rows.data(), outputs, count * channels}, bias.data()};
}

void Convolution::Impl::pack(const ConvolutionSpec& spec, Phase& phase) const {
  const int in = channels / groups, out = outputs / groups;
  const int count = static_cast<int>(phase.taps.size());
  if (each_channel) {
    for (int t = 0; t < count; ++t)
      for (int g = 0; g < groups; ++g) phase.each_channel.push_back(weightRows(spec, phase, g, t, t + 1)[0]);
    return;
  }
  for (int begin = 0, step = std::max(kMaxWidth / in, 1); begin < count; begin += step) {
    Product product{begin, std::min(begin + step, count), {}};
    const int width = (product.end - begin) * in;
    for (int g = 0; g < groups; ++g) {
      const std::vector<float> rows = weightRows(spec, phase, g, begin, product.end);
      product.groups.emplace_back(MatrixView<const float>(rows.data(), out, width),
                                  begin == 0 ? bias.data() + static_cast<std::ptrdiff_t>(g) * out : zeros.data(),
                                  spec.precision);
    }
    phase.products.push_back(std::move(product));
  }
}

void Convolution::Impl::gather(const MapsView<const float>& x, int image, const Phase& phase, const Product& product,
                               int group, int begin, int end, int columns, float* to) const {
  const int in = channels / groups;
  for (int i = begin; i < end; ++i) {
    const int top = i / columns * x_step[0], left = i % columns * x_step[1];
    for (int t = product.begin; t < product.end;) {
      const Tap& tap = phase.taps[t];
      const int row = top + tap.dy, column = left + tap.dx, all = std::min(tap.following, product.end - t);
      const bool inside = row >= 0 && row < x.height && column >= 0 && column < x.width;
      const int taps = inside && column + all <= x.width ? all : 1;
      if (inside)
        put(x.pixel(image, row, column) + static_cast<std::ptrdiff_t>(group) * in, taps * in, to);
      else
        std::fill_n(to, in, 0.0f);
      to += static_cast<std::ptrdiff_t>(taps) * in;
      t += taps;
    }
  }
}

const std::uint32_t* Convolution::Impl::rounded(const MapsView<const float>& x, const TileConvolution::Layout& layout,
                                                const Parallel& parallel) const {
  thread_local Scratch<std::uint32_t> scratch;
  const auto words = static_cast<std::size_t>(tiles->words()), size = layout.pixels * words;
  std::uint32_t* const all = scratch.atLeast(x.batch * size);
  const int inside = std::min(x.width, layout.width - layout.left);
  parallel.run(x.batch * layout.height, [&](int task) {
    thread_local Scratch<float> positive;
    const int image = task / layout.height, line = task % layout.height, row = line - layout.top;
    std::uint32_t* const to = all + image * size + static_cast<std::size_t>(line) * layout.width * words;
    std::uint32_t* const end = line + 1 < layout.height ? to + layout.width * words : all + (image + 1) * size;
    if (row < 0 || row >= x.height) return std::fill(to, end, 0u);
    const float* pixels = x.pixel(image, row, 0);
    if (relu_input) {
      float* const values = positive.atLeast(static_cast<std::size_t>(inside) * channels);
      put(pixels, inside * channels, values);
      pixels = values;
    }
    std::uint32_t* const first = to + layout.left * words;
    std::fill(to, first, 0u);
    tiles->round(pixels, inside, first);
    std::fill(first + inside * words, end, 0u);
  });
  return all;
}

void Convolution::Impl::runTile(const MapsView<const float>& x, const std::uint32_t* rounded_x,
                                const std::vector<const float*>& addends, const MapsView<float>& y, int image,
                                const Phase& phase, int begin, int end) const {
  thread_local Scratch<float> gathered, results;
  const TileConvolution::Layout layout = tiles ? tiles->layoutFor(y.height, y.width) : TileConvolution::Layout();
  const int columns = tiles ? layout.width : places(phase, 1, y.width), in = channels / groups;
  const auto width = [&](const Product& product) { return (product.end - product.begin) * in; };
  const int across = (columns + 1) / 2;
  // -1: a pixel of a block or of the border, beside y.
  const auto offsetOf = [&](int i) {
    const int row = winograd ? i / 4 / across * 2 + i % 4 / 2 : phase.first[0] + i / columns * y_step[0];
    const int column = winograd ? i / 4 % across * 2 + i % 2 : phase.first[1] + i % columns * y_step[1];
    return row < y.height && column < y.width ? y.pixel(image, row, column) - y.data : -1;
  };
  for (int g = 0; g < groups; g += each_channel ? groups : 1) {
    const int out = each_channel ? outputs : outputs / groups, first = each_channel ? 0 : g * out;
    const MatrixView<float> tile(results.atLeast(static_cast<std::size_t>(end - begin) * outputs), end - begin, out);
    const bool bias_first = each_channel || winograd || phase.taps.empty(), starts = bias_first || !addends.empty();
    for (int i = begin; i < end && starts; ++i) {
      float* const row = tile.row(i - begin);
      const std::ptrdiff_t offset = offsetOf(i);
      if (bias_first)
        std::copy_n(bias.data() + first, out, row);
      else
        std::fill_n(row, out, 0.0f);
      for (const float* addend : addends)
        for (int c = 0; c < out && offset >= 0; ++c) row[c] += addend[offset + first + c];
    }
    if (winograd) runBlocks(x, image, begin / 4, across, tile);
    if (tiles) tiles->run(rounded_x + image * layout.pixels * tiles->words(), layout, begin, tile, starts);
    for (const Product& product : phase.products) {
      // The pixels of x as they lie, where each is a row.
      const bool as_is = groups == 1 && width(product) == channels && phase.taps[product.begin].dy == 0 &&
                         phase.taps[product.begin].dx == 0 && x_step[0] == 1 && x_step[1] == 1 && columns == x.width &&
                         places(phase, 0, y.height) == x.height && !relu_input;
      MatrixView<const float> rows(x.pixel(image, 0, 0), x.height * x.width, channels);
      if (as_is) {
        rows = rows.rowRange(begin, end);
      } else {
        float* const to = gathered.atLeast(static_cast<std::size_t>(kRows) * width(product));
        gather(x, image, phase, product, g, begin, end, columns, to);
        rows = {to, end - begin, width(product)};
      }
      product.groups[g].run(rows, tile, starts || product.begin > 0);
    }
    for (int i = begin; i < end && each_channel; ++i)
      for (std::size_t t = 0; t < phase.taps.size(); ++t) {
        const int row = i / columns * x_step[0] + phase.taps[t].dy, column = i % columns * x_step[1] + phase.taps[t].dx;
        if (row < 0 || row >= x.height || column < 0 || column >= x.width) continue;
        const float *from = x.pixel(image, row, column), *weight = phase.each_channel.data() + t * channels;
        float* const to = tile.row(i - begin);
        for (int c = 0; c < channels; ++c) to[c] += weight[c] * (relu_input ? std::max(from[c], 0.0f) : from[c]);
      }
    if (activation) activate(*activation, tile);
    for (int i = begin; i < end; ++i)
      if (const std::ptrdiff_t offset = offsetOf(i); offset >= 0)
        std::copy_n(tile.row(i - begin), out, y.data + offset + first);
  }
}

void Convolution::Impl::runBlocks(const MapsView<const float>& x, int image, int begin, int across,
                                  MatrixView<float> tile) const {
  const float* pixels[16 * Winograd::kMaxBlocks];
  const float** to = pixels;
  for (int block = begin; block < begin + tile.rows / 4; ++block)
    for (int i = 0; i < 16; ++i) {
      const int row = block / across * 2 + i / 4 + phases[0].taps[0].dy;
      const int column = block % across * 2 + i % 4 + phases[0].taps[0].dx;
      const bool inside = row >= 0 && row < x.height && column >= 0 && column < x.width;
      *to++ = inside ? x.pixel(image, row, column) : zeros.data();
    }
  winograd->run(pixels, tile.rows / 4, relu_input, tile);
}

Convolution::Convolution(const ConvolutionSpec& spec) : impl_(std::make_shared<Impl>(spec)) {}

void Convolution::run(const MapsView<const float>& x, const std::vector<const float*>& addends,
                      const MapsView<float>& y, const Parallel& parallel) const {
  struct Task {
    int image;
    const Phase* phase;
    int begin, end;
  };
  std::vector<Task> tasks;
  for (int image = 0; image < y.batch; ++image)
    for (const Phase& phase : impl_->phases) {
      const int unit = impl_->tiles ? impl_->tiles->groupRows() : 1;
      const int count = impl_->rowsOf(phase, y);
      const int step = impl_->winograd ? 4 * Winograd::kMaxBlocks : kRows / unit * unit;
      for (int begin = 0; begin < count; begin += step)
        tasks.push_back({image, &phase, begin, std::min(begin + step, count)});
    }
  const std::uint32_t* const rounded =
      impl_->tiles ? impl_->rounded(x, impl_->tiles->layoutFor(y.height, y.width), parallel) : nullptr;
  parallel.run(static_cast<int>(tasks.size()), [&](int i) {
    const Task& task = tasks[i];
    impl_->runTile(x, rounded, addends, y, task.image, *task.phase, task.begin, task.end);
  });
}

}  // namespace mpm
#endif  // HWY_ONCE
