// SPDX-License-Identifier: Apache-2.0
// kernel_every_number [FUNCTION...]: functions of one number on all 2^32 floats, with each instruction set of this CPU.
// A function takes minutes. Without arguments it takes all of them.
#include <bit>
#include <cstdio>
#include <functional>
#include <iterator>

#include "kernels/cpu/rounding.h"
#include "kernels/elementwise.h"
#include "kernels/instruction_set.h"
#include "rounded.h"
#include "trial.h"

namespace mpm::worlds {
namespace {

constexpr int kPieces = 256;       // of all numbers; the results of a piece are kept in memory
constexpr int kRows = 1 << 12;     // of a piece, for threads to share
constexpr int kColumns = 1 << 12;  // neighbours, so of about the same size
static_assert(static_cast<std::uint64_t>(kPieces) * kRows * kColumns == std::uint64_t{1} << 32);

void row(int piece, int of_piece, float* numbers) {
  const auto first = (static_cast<std::uint32_t>(piece) * kRows + static_cast<std::uint32_t>(of_piece)) * kColumns;
  for (std::uint32_t i = 0; i < kColumns; ++i) numbers[i] = std::bit_cast<float>(first + i);
}

/// A function of one number: what it is, and whether a kernel does a row of them right.
struct Function {
  const char* name;
  double (*exact)(double);  ///< null: `right` needs none
  bool (*right)(const float* numbers, const double* exact);
};

/// |error| <= 3e-7 |x|, or the smallest step of a float; NaN stays NaN. What becomes of an infinity is not promised.
bool within(const float* numbers, const double* exact, const float* found) {
  for (int i = 0; i < kColumns; ++i) {
    const double x = static_cast<double>(numbers[i]), error = std::abs(static_cast<double>(found[i]) - exact[i]);
    if (std::isinf(x)) continue;
    if (std::isnan(x) ? !std::isnan(found[i]) : !(error <= 3e-7 * std::abs(x) + 0x1p-149)) return false;
  }
  return true;
}

template <Activation kActivation>
Function activation(const char* name) {
  return {name, [](double x) { return test::activated(kActivation, x); },
          [](const float* numbers, const double* exact) {
            std::vector<float> found(numbers, numbers + kColumns);
            activate(kActivation, {found.data(), 1, kColumns});
            return within(numbers, exact, found.data());
          }};
}

std::vector<Function> everyFunction() {
  return {activation<Activation::kGeluErf>("gelu_erf"),
          activation<Activation::kGeluTanh>("gelu_tanh"),
          activation<Activation::kGeluQuick>("gelu_quick"),
          activation<Activation::kRelu>("relu"),
          activation<Activation::kSilu>("silu"),
          activation<Activation::kElu>("elu"),
          activation<Activation::kMish>("mish"),
          activation<Activation::kHardSwish>("hard_swish"),
          {"gelu_erf_slope",
           [](double x) {
             return 0.5 * std::erfc(-x / std::sqrt(2.0)) +
                    (std::abs(x) > 40 ? 0 : x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi));
           },
           [](const float* numbers, const double* exact) {
             std::vector<float> found(numbers, numbers + kColumns), slope(kColumns);
             geluWithSlope({found.data(), 1, kColumns}, {slope.data(), 1, kColumns});
             for (int i = 0; i < kColumns; ++i) {
               const float x = numbers[i], y = slope[static_cast<std::size_t>(i)];
               if (std::isinf(x)) continue;
               if (std::isnan(x) ? !std::isnan(y) : !(std::abs(static_cast<double>(y) - exact[i]) <= 5e-7))
                 return false;
             }
             return true;
           }},
          {"bf16", nullptr,
           [](const float* numbers, const double* /*exact*/) {
             std::vector<std::uint16_t> to(kColumns);
             toBf16(numbers, to.data(), kColumns);
             for (int i = 0; i < kColumns; ++i)
               if (!isBf16Of(to[static_cast<std::size_t>(i)], numbers[i])) return false;
             return true;
           }},
          // A row has one scale. A number that is up to 2^15 times as large stands at the end of each.
          {"int8", nullptr,
           [](const float* numbers, const double* /*exact*/) {
             std::vector<float> from(numbers, numbers + kColumns);
             std::vector<std::int8_t> to(from.size() + 1);
             const float large = std::ldexp(numbers[kColumns - 1], std::bit_cast<std::int32_t>(numbers[0]) >> 12 & 7);
             from.push_back(std::isfinite(large) ? large : numbers[kColumns - 1]);
             const float scale = toInt8(from.data(), to.data(), static_cast<int>(from.size()), kMaxInt8);
             return isInt8Of(scale, to.data(), from, kMaxInt8);
           }},
          {"fp16", nullptr, [](const float* numbers, const double* /*exact*/) {
             std::vector<float> from(numbers, numbers + kColumns);
             std::vector<std::uint16_t> to(from.size() + 1);
             const float large = std::ldexp(numbers[kColumns - 1], std::bit_cast<std::int32_t>(numbers[0]) >> 12 & 31);
             from.push_back(std::isfinite(large) ? large : numbers[kColumns - 1]);
             const int exponent = std::bit_cast<std::int32_t>(numbers[0]) >> 17 & 15;
             const float scale = toFp16(from.data(), to.data(), static_cast<int>(from.size()), exponent);
             return isFp16Of(scale, to.data(), from, exponent);
           }}};
}

/// How many rows of numbers a kernel does wrong, over all instruction sets.
long wrongRows(const Function& function) {
  const test::Threads threads(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  std::vector<double> exact(function.exact != nullptr ? static_cast<std::size_t>(kRows) * kColumns : 0);
  std::atomic<long> wrong{0};
  for (int piece = 0; piece < kPieces; ++piece) {
    threads.run(kRows, [&](int r) {
      if (function.exact == nullptr) return;
      std::vector<float> numbers(kColumns);
      row(piece, r, numbers.data());
      double* const to = exact.data() + static_cast<std::size_t>(r) * kColumns;
      for (std::size_t i = 0; i < numbers.size(); ++i) to[i] = function.exact(static_cast<double>(numbers[i]));
    });
    for (const std::string& set : availableInstructionSets()) {
      setInstructionSet(set);
      threads.run(kRows, [&](int r) {
        std::vector<float> numbers(kColumns);
        row(piece, r, numbers.data());
        const double* const right =
            function.exact != nullptr ? exact.data() + static_cast<std::size_t>(r) * kColumns : nullptr;
        if (function.right(numbers.data(), right)) return;
        if (wrong++ < 20) {
          std::printf("%s, %s: wrong among the %d numbers from %.9g on\n", function.name, set.c_str(), kColumns,
                      static_cast<double>(numbers[0]));
        }
      });
    }
    if (::isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr, "\r%s %3d %%%s", function.name, 100 * (piece + 1) / kPieces,
                   piece + 1 == kPieces ? "\n" : "");
    }
  }
  return wrong;
}

}  // namespace
}  // namespace mpm::worlds

int main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  int functions = 0, disagree = 0;
  for (const mpm::worlds::Function& function : mpm::worlds::everyFunction()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), function.name) == wanted.end()) continue;
    ++functions;
    const long wrong = mpm::worlds::wrongRows(function);
    std::printf("%s: %s\n", function.name, wrong == 0 ? "right on all 2^32 numbers" : "WRONG");
    std::fflush(stdout);
    disagree += wrong > 0 ? 1 : 0;
  }
  std::printf("%d functions, %d disagree\n", functions, disagree);
  return functions == 0 || disagree > 0 ? 1 : 0;
}
