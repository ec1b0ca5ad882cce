// SPDX-License-Identifier: Apache-2.0
// The kernels for AMX on an emulation of its instructions, and on the CPU where it has them.
#include "kernels/cpu/amx_tiles.h"

#include <cstring>

#include "kernels/attend.h"
#include "kernels/each_instruction_set.h"
#include "kernels/emulated_amx.h"
#include "kernels/reference.h"

#if defined(__x86_64__)
namespace mpm {
namespace {

using test::EmulatedAmx;

const TileKernel& emulated(Precision precision) { return AmxTiles<EmulatedAmx>::kernel(precision); }

AmxConfiguration sizes(std::initializer_list<std::pair<int, int>> tiles) {
  AmxConfiguration configuration;
  int next = 0;
  for (const auto& [rows, bytes] : tiles) {
    configuration.rows[next] = static_cast<std::uint8_t>(rows);
    configuration.row_bytes[next++] = static_cast<std::uint16_t>(bytes);
  }
  return configuration;
}

std::uint32_t bf16Pair(float first, float second) {
  const float both[] = {first, second};
  std::uint16_t halves[2] = {};
  toBf16(both, halves, 2);
  return halves[0] | static_cast<std::uint32_t>(halves[1]) << 16;
}

// With each instruction set, which decides how sums become results.
class Amx : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(Amx);

TEST(EmulatedAmxTest, LoadsTheRowsAndBytesOfItsSizeAndClearsTheRest) {
  std::uint32_t from[16 * 16], to[16 * 16];
  for (int i = 0; i < 256; ++i) from[i] = static_cast<std::uint32_t>(i + 1);
  EmulatedAmx::configure(sizes({{3, 8}}));
  EmulatedAmx::load<0>(from, 64);
  std::fill(std::begin(to), std::end(to), 7u);
  EmulatedAmx::store<0>(to, 12);
  EXPECT_EQ((std::vector<std::uint32_t>(to, to + 9)), (std::vector<std::uint32_t>{1, 2, 7, 17, 18, 7, 33, 34, 7}));
  EmulatedAmx::zero<0>();
  EmulatedAmx::store<0>(to, 8);
  EXPECT_EQ((std::vector<std::uint32_t>(to, to + 7)), (std::vector<std::uint32_t>{0, 0, 0, 0, 0, 0, 33}));
  EmulatedAmx::release();
}

TEST(EmulatedAmxTest, MultipliesPairsOfBf16WithoutDenormalNumbers) {
  EmulatedAmx::configure(sizes({{1, 8}, {1, 4}, {1, 8}}));
  const std::uint32_t x = bf16Pair(3, -0.5f), w[] = {bf16Pair(2, 8), bf16Pair(1e-39f, 1e30f)};
  float sums[] = {0.25f, 1e-40f};
  EmulatedAmx::load<0>(sums, 8);
  EmulatedAmx::load<1>(&x, 4);
  EmulatedAmx::load<2>(w, 8);
  EmulatedAmx::multiplyBf16<0, 1, 2>();
  EmulatedAmx::store<0>(sums, 8);
  EXPECT_EQ(sums[0], 2.25f);
  EXPECT_EQ(sums[1], -0.5f * std::bit_cast<float>((w[1] >> 16) << 16));
  EmulatedAmx::release();
}

TEST(EmulatedAmxTest, MultipliesBytesWithoutSignByBytesWithSignAndWraps) {
  EmulatedAmx::configure(sizes({{1, 4}, {1, 4}, {1, 4}}));
  const std::uint32_t x = 0xff0180ffu, w = 0x80017fffu;  // 255, 1, 128, 255 times -128, 1, 127, -1
  std::int32_t sum = std::numeric_limits<std::int32_t>::min() + 5;
  EmulatedAmx::load<0>(&sum, 4);
  EmulatedAmx::load<1>(&x, 4);
  EmulatedAmx::load<2>(&w, 4);
  EmulatedAmx::multiplyInt8<0, 1, 2>();
  EmulatedAmx::store<0>(&sum, 4);
  const std::int64_t expected =
      std::int64_t{std::numeric_limits<std::int32_t>::min()} + 5 - 255 * 128 + 1 + 128 * 127 - 255;
  EXPECT_EQ(static_cast<std::uint32_t>(sum), static_cast<std::uint32_t>(expected));
  EmulatedAmx::release();
}

TEST(EmulatedAmxTest, RefusesWhatTheCpuRefuses) {
  EmulatedAmx::release();
  EXPECT_THROW(EmulatedAmx::zero<0>(), std::logic_error);
  EXPECT_THROW(EmulatedAmx::configure(sizes({{17, 64}})), std::logic_error);
  EmulatedAmx::configure(sizes({{16, 64}, {16, 32}, {16, 64}}));
  EXPECT_THROW((EmulatedAmx::multiplyInt8<0, 1, 2>()), std::logic_error) << "8 words of x, 16 of w";
  EXPECT_THROW(EmulatedAmx::zero<3>(), std::logic_error);
  EmulatedAmx::release();
}

// y in rows with gaps, in memory between two borders.
struct Output {
  static constexpr int kBorder = 64, kGap = 3;
  std::vector<float> memory;
  MatrixView<float> y;
  Output(int rows, int cols)
      : memory(static_cast<std::size_t>(2 * kBorder + rows * (cols + kGap)), 12345.0f),
        y(memory.data() + kBorder, rows, cols, cols + kGap) {}
  bool isIntactBeside() const {
    std::vector<float> others = memory;
    for (int i = 0; i < y.rows; ++i) std::fill_n(others.data() + kBorder + i * y.stride, y.cols, 12345.0f);
    return others == std::vector<float>(memory.size(), 12345.0f);
  }
};

struct Layer {
  Matrix weight, x;
  std::vector<float> bias;

  Layer(int rows, int in, int out)
      : weight(Matrix::normal(out, in, 1, 1, in % 4)),
        x(Matrix::normal(rows, in, 2, 1, in % 3)),
        bias(test::normal(out, 3)) {}

  // Numbers that bf16 holds, so that only the sums round.
  void makeCoarse() {
    for (Matrix* matrix : {&weight, &x})
      for (float& value : matrix->values) value = std::round(value * 16) / 16;
  }
  Output run(const TileKernel& kernel, bool accumulate) const {
    Output out(x.rows, weight.rows);
    for (int i = 0; accumulate && i < x.rows; ++i) std::fill_n(out.y.row(i), weight.rows, static_cast<float>(i % 5));
    TileLinear(kernel, weight.view(), bias.data()).run(x.view(), out.y, accumulate);
    return out;
  }
};

// Around the sizes of tiles, groups, blocks of rows, and the depth that is multiplied at once.
constexpr std::initializer_list<int> kRows = {1, 15, 16, 17, 31, 32, 33, 64, 65, 127, 128, 129, 161};
constexpr std::initializer_list<std::pair<int, int>> kLayers = {{1, 1},    {2, 16},   {3, 17},   {31, 31},  {32, 32},
                                                                {33, 33},  {63, 48},  {64, 64},  {65, 65},  {96, 15},
                                                                {192, 50}, {511, 32}, {512, 33}, {513, 40}, {1030, 20}};

// Of every layer and number of rows that does not take long.
template <class Try>
void forSizes(Try attempt) {
  for (const auto& [in, out] : kLayers)
    for (const int rows : kRows) {
      if (in * rows > 20000) continue;
      SCOPED_TRACE(::testing::Message() << rows << " x " << in << " -> " << out);
      attempt(rows, in, out);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

// A map {height, width, channels} of numbers that bf16 holds, in the layout that the convolution reads.
struct Map {
  int height, width, channels;
  std::vector<float> values;

  Map(int rows, int columns, int of_pixel)
      : height(rows), width(columns), channels(of_pixel), values(test::normal(rows * columns * of_pixel, 4)) {
    for (float& value : values) value = std::round(value * 16) / 16;
  }
  double at(int row, int column, int channel) const {
    if (row < 0 || row >= height || column < 0 || column >= width) return 0;
    return static_cast<double>(values[static_cast<std::size_t>((row * width + column) * channels + channel)]);
  }
  std::vector<std::uint32_t> rounded(const TileConvolution& convolution, const TileConvolution::Layout& layout) const {
    const auto words = static_cast<std::size_t>(convolution.words());
    std::vector<std::uint32_t> all(layout.pixels * words, 0u);
    for (int row = 0; row < std::min(height, layout.height - layout.top); ++row)
      convolution.round(values.data() + row * width * channels, std::min(width, layout.width - layout.left),
                        all.data() + ((row + layout.top) * layout.width + layout.left) * words);
    return all;
  }
};

TEST_P(Amx, ConvolutionIsTheSumOfItsTaps) {
  const std::vector<TileConvolution::Tap> around{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 0},
                                                 {0, 1},   {1, -1}, {1, 0},  {1, 1}};
  const std::vector<TileConvolution::Tap> apart{{-2, 0}, {0, 3}, {4, -1}}, behind{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  for (const auto& taps : {around, apart, behind})
    for (const int channels : {1, 31, 32, 33, 64})
      for (const int outputs : {1, 16, 33, 64}) {
        SCOPED_TRACE(::testing::Message() << taps.size() << " taps, " << channels << " -> " << outputs);
        const Map x(6, 9, channels);
        Layer layer(1, static_cast<int>(taps.size()) * channels, outputs);
        layer.makeCoarse();
        const TileConvolution convolution(emulated(Precision::kBf16), taps, channels, layer.weight.view(),
                                          layer.bias.data());
        const TileConvolution::Layout layout = convolution.layoutFor(5, 8);
        const auto rounded = x.rounded(convolution, layout);
        const int begin = 3, rows = 4 * layout.width + 8 - begin;
        Output found(rows, outputs);
        for (int i = 0; i < rows; ++i) std::fill_n(found.y.row(i), outputs, static_cast<float>(i % 5));
        convolution.run(rounded.data(), layout, begin, found.y, outputs == 33);
        ASSERT_TRUE(found.isIntactBeside());
        for (int i = 0; i < rows; ++i) {
          const int row = (begin + i) / layout.width, column = (begin + i) % layout.width;
          if (column >= 8) continue;  // of the border
          for (int j = 0; j < outputs; ++j) {
            double sum = static_cast<double>(layer.bias[static_cast<std::size_t>(j)]) + (outputs == 33 ? i % 5 : 0);
            for (int k = 0; k < layer.weight.cols; ++k) {
              const TileConvolution::Tap& tap = taps[static_cast<std::size_t>(k / channels)];
              sum += x.at(row + tap.dy, column + tap.dx, k % channels) * static_cast<double>(layer.weight.at(j, k));
            }
            ASSERT_NEAR(static_cast<double>(found.y.row(i)[j]), sum, 1e-5 * (1 + std::abs(sum))) << i << ", " << j;
          }
        }
      }
}

// A net that reuses rows of earlier frames packs some of them again, into panels that keep the others.
TEST_P(Amx, KeptKeysAreReplacedWhereTheyStand) {
  const int rows = 97, capacity = 130, heads = 2, head_dim = 24, dim = heads * head_dim;
  const std::vector<int> changed = {3, 31, 32, 40, 41, 96};
  const int few = static_cast<int>(changed.size());
  for (const Precision precision : {Precision::kBf16, Precision::kInt8}) {
    const TileKernel& kernel = emulated(precision);
    Matrix q = Matrix::normal(rows, dim, 1), k = Matrix::normal(rows, dim, 2), v = Matrix::normal(rows, dim, 3);
    Scratch<float> kept_memory, memory;
    const std::size_t kept_size = AttentionInput::keptSize(capacity, heads, head_dim, &kernel);
    KeptKeys kept{kept_memory.atLeast(kept_size), capacity, rows, nullptr};
    std::fill_n(kept_memory.atLeast(kept_size), kept_size, 0.0f);
    const auto attend = [&](const Matrix& queries, const Matrix& keys, const Matrix& values) {
      const int count = queries.rows;
      float* const own = memory.atLeast(AttentionInput::size(count, heads, head_dim, kept, &kernel));
      const AttentionInput input(own, count, heads, head_dim, false, kept, &kernel);
      input.packBias(nullptr);
      input.pack(0, queries.view(), keys.view(), values.view(), 0.2f);
      for (int task = 0; task < input.valueTasks(); ++task) input.finishValues(task);
      Matrix out(count, dim);
      for (int task = 0; task < input.tasks(); ++task) input.run(input.rowsOf(task), out.view());
      return out;
    };
    attend(q, k, v);
    Matrix some_q(few, dim), some_k(few, dim), some_v(few, dim);
    for (int i = 0; i < few; ++i)
      for (int j = 0; j < dim; ++j) {
        some_q.at(i, j) = q.at(changed[i], j);
        some_k.at(i, j) = k.at(changed[i], j) = -k.at(changed[i], j);
        some_v.at(i, j) = v.at(changed[i], j) = 0.5f * v.at(changed[i], j);
      }
    kept.places = changed.data();
    const Matrix found = attend(some_q, some_k, some_v);
    Matrix expected(rows, dim);
    test::attend(q.view(), k.view(), v.view(), heads, 0.2f, nullptr, expected.view(), Serial(), &kernel);
    for (int i = 0; i < few; ++i)
      ASSERT_EQ(std::memcmp(found.view().row(i), expected.view().row(changed[i]), dim * sizeof(float)), 0)
          << toString(precision) << ", row " << changed[i];
  }
}

// Where the CPU has AMX: its instructions do what the emulation does.
TEST(AmxInstructionsTest, DoWhatTheEmulationDoes) {
  if (availableInstructionSets().front() != "amx") GTEST_SKIP() << "no AMX on this CPU";
  setInstructionSet("amx");
  for (const Precision precision : {Precision::kBf16, Precision::kInt8})
    forSizes([precision](int rows, int in, int out) {
      const Layer layer(rows, in, out);
      const Output found = layer.run(*tileKernel(precision), false), expected = layer.run(emulated(precision), false);
      for (std::size_t i = 0; i < found.memory.size(); ++i)
        ASSERT_NEAR(found.memory[i], expected.memory[i], precision == Precision::kInt8 ? 0 : 1e-4f);
    });
}

}  // namespace
}  // namespace mpm
#endif
