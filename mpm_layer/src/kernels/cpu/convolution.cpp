// SPDX-License-Identifier: Apache-2.0
#include "kernels/convolution.h"

#include <algorithm>

#include "kernels/cpu/tiles.h"
#include "kernels/cpu/winograd.h"
#include "kernels/scratch.h"

namespace mpm {
namespace {

constexpr int kLeastForWinograd = 96;  // channels and outputs, in bf16 and int8
constexpr int kRows = 128;             // pixels of a tile
constexpr int kMaxWidth = 640;         // of a row of gathered pixels, unless one tap has more: a tile stays in L2

bool all(const int (&pair)[2], int value) { return pair[0] == value && pair[1] == value; }

// Of a map as it lies: neighbouring output pixels see neighbouring pixels.
bool sideBySide(const ConvolutionSpec& spec) { return !spec.transposed && spec.groups == 1 && all(spec.strides, 1); }

bool fitsWinograd(const ConvolutionSpec& spec) {
  return sideBySide(spec) && all(spec.kernel, 3) && all(spec.dilations, 1);
}

// What a convolution multiplies in. int8 pays for wide ones, unless each pixel would be rounded for every tap.
Precision productsOf(const ConvolutionSpec& spec) {
  const bool pays = spec.groups == 1 && std::min(spec.channels, spec.outputs) >= kLeastForWinograd &&
                    convolutionTiles(Precision::kInt8) != nullptr &&
                    (fitsWinograd(spec) || !sideBySide(spec) || all(spec.kernel, 1));
  return pays ? multipliedIn(spec.precision) : besideBlocks(spec.precision);
}

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
  Precision precision;  // of the products
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
  int blocks(int side) const { return (side + winograd->side() - 1) / winograd->side(); }
  /// Rows of all tiles of a phase: output pixels, with Winograd those of whole blocks, with `tiles` those of the border
  /// between two rows, too.
  int rowsOf(const Phase& phase, const MapsView<float>& y) const;
  /// Rows of a tile, of `count` in all.
  int rowsOfTile(int count, int threads) const;
};

Convolution::Impl::Impl(const ConvolutionSpec& spec)
    : channels(spec.channels),
      outputs(spec.outputs),
      groups(spec.groups),
      relu_input(spec.relu_input),
      each_channel(spec.groups > 1 && spec.groups == spec.channels && spec.channels == spec.outputs),
      precision(productsOf(spec)),
      activation(spec.activation),
      bias(spec.bias, spec.bias + spec.outputs),
      zeros(std::max(spec.channels, spec.outputs), 0.0f) {
  const TileKernel* const kernel = convolutionTiles(precision);
  // The transforms take longer than the products that they save beside tiles of AMX, and with few channels in bf16.
  const bool transforms_pay =
      kernel == nullptr ? precision == Precision::kFp32
                        : !kernel->multipliesBesideVectors() && std::min(channels, outputs) >= kLeastForWinograd;
  if (fitsWinograd(spec) && transforms_pay) winograd.emplace(spec.weight, channels, outputs, kernel);
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
  for (int py = 0; py < y_step[0]; ++py) {
    for (int px = 0; px < y_step[1]; ++px) {
      Phase phase{{py, px}, {}, {}, {}};
      for (int ky = 0; ky < spec.kernel[0]; ++ky) {
        for (int kx = 0; kx < spec.kernel[1]; ++kx) {
          if (const auto dy = place(0, py, ky), dx = place(1, px, kx); dy && dx)
            phase.taps.push_back({ky * spec.kernel[1] + kx, *dy, *dx, 1});
        }
      }
      std::sort(phase.taps.begin(), phase.taps.end(),
                [](const Tap& a, const Tap& b) { return std::pair(a.dy, a.dx) < std::pair(b.dy, b.dx); });
      for (std::size_t t = phase.taps.size(); t-- > 1;) {
        const Tap &tap = phase.taps[t], &before = phase.taps[t - 1];
        if (groups == 1 && before.dy == tap.dy && before.dx + 1 == tap.dx)
          phase.taps[t - 1].following = tap.following + 1;
      }
      if (!winograd && sideBySide(spec) && precision == Precision::kBf16 && kernel != nullptr && phase.taps.size() > 1)
        tiles.emplace(tilesOf(spec, phase, *kernel));
      else if (!winograd)
        pack(spec, phase);
      phases.push_back(std::move(phase));
    }
  }
}

int Convolution::Impl::rowsOf(const Phase& phase, const MapsView<float>& y) const {
  if (tiles) return (y.height - 1) * tiles->layoutFor(y.height, y.width).width + y.width;
  if (winograd) return winograd->side() * winograd->side() * blocks(y.height) * blocks(y.width);
  return places(phase, 0, y.height) * places(phase, 1, y.width);
}

int Convolution::Impl::rowsOfTile(int count, int threads) const {
  if (tiles) return kRows / tiles->groupRows() * tiles->groupRows();
  if (!winograd) return kRows;
  // As many tiles for each thread: of a small map there are few.
  const int of_block = winograd->side() * winograd->side(), all = count / of_block;
  const int rounds = (all + winograd->maxBlocks() * threads - 1) / (winograd->maxBlocks() * threads);
  return of_block * ((all + rounds * threads - 1) / (rounds * threads));
}

std::vector<float> Convolution::Impl::weightRows(const ConvolutionSpec& spec, const Phase& phase, int group, int begin,
                                                 int end) const {
  const int in = channels / groups, out = outputs / groups, area = spec.kernel[0] * spec.kernel[1];
  std::vector<float> rows;
  rows.reserve(static_cast<std::size_t>(out) * (end - begin) * in);
  for (int o = group * out; o < (group + 1) * out; ++o) {
    for (int t = begin; t < end; ++t) {
      for (int c = 0; c < in; ++c)
        rows.push_back(spec.weight[(static_cast<std::ptrdiff_t>(o) * in + c) * area + phase.taps[t].kernel]);
    }
  }
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
                                  precision);
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
  const int side = winograd ? winograd->side() : 1, across = winograd ? blocks(columns) : 0;
  // -1: a pixel of a block or of the border, beside y.
  const auto offsetOf = [&](int i) {
    const int block = i / (side * side), in_block = i % (side * side);
    const int row = winograd ? block / across * side + in_block / side : phase.first[0] + i / columns * y_step[0];
    const int column = winograd ? block % across * side + in_block % side : phase.first[1] + i % columns * y_step[1];
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
    if (winograd) runBlocks(x, image, begin / (side * side), across, tile);
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
    for (int i = begin; i < end && each_channel; ++i) {
      for (std::size_t t = 0; t < phase.taps.size(); ++t) {
        const int row = i / columns * x_step[0] + phase.taps[t].dy, column = i % columns * x_step[1] + phase.taps[t].dx;
        if (row < 0 || row >= x.height || column < 0 || column >= x.width) continue;
        const float *from = x.pixel(image, row, column), *weight = phase.each_channel.data() + t * channels;
        float* const to = tile.row(i - begin);
        for (int c = 0; c < channels; ++c) to[c] += weight[c] * (relu_input ? std::max(from[c], 0.0f) : from[c]);
      }
    }
    if (activation) activate(*activation, tile);
    for (int i = begin; i < end; ++i) {
      if (const std::ptrdiff_t offset = offsetOf(i); offset >= 0)
        std::copy_n(tile.row(i - begin), out, y.data + offset + first);
    }
  }
}

void Convolution::Impl::runBlocks(const MapsView<const float>& x, int image, int begin, int across,
                                  MatrixView<float> tile) const {
  const float* pixels[Winograd::kMaxBlocks * 6 * 6];
  const float** to = pixels;
  const int side = winograd->side(), seen = winograd->seen(), count = tile.rows / (side * side);
  for (int block = begin; block < begin + count; ++block) {
    for (int i = 0; i < seen * seen; ++i) {
      const int row = block / across * side + i / seen + phases[0].taps[0].dy;
      const int column = block % across * side + i % seen + phases[0].taps[0].dx;
      const bool inside = row >= 0 && row < x.height && column >= 0 && column < x.width;
      *to++ = inside ? x.pixel(image, row, column) : zeros.data();
    }
  }
  winograd->run(pixels, count, relu_input, tile);
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
  for (int image = 0; image < y.batch; ++image) {
    for (const Phase& phase : impl_->phases) {
      const int count = impl_->rowsOf(phase, y), step = impl_->rowsOfTile(count, parallel.threads());
      for (int begin = 0; begin < count; begin += step)
        tasks.push_back({image, &phase, begin, std::min(begin + step, count)});
    }
  }
  const std::uint32_t* const rounded =
      impl_->tiles ? impl_->rounded(x, impl_->tiles->layoutFor(y.height, y.width), parallel) : nullptr;
  parallel.run(static_cast<int>(tasks.size()), [&](int i) {
    const Task& task = tasks[i];
    impl_->runTile(x, rounded, addends, y, task.image, *task.phase, task.begin, task.end);
  });
}

}  // namespace mpm
