// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/board.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "base/number_text.h"
#include "base/quantiles.h"
#include "cli/bench/comparison.h"
#include "cli/bench/table.h"
#include "cli/random_segmenter.h"
#include "evaluation/machine.h"
#include "mpm/build_info.hpp"
#include "program/paths.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"

namespace mpm::cli {

using namespace program;

namespace {

constexpr int kStreetRounds = 10, kNetworkRounds = 3;  // at most: the table takes ten minutes at most

}  // namespace

int board(BenchArguments arguments, int threads) {
  VariantOptions& wanted = arguments.variants;
  if (!arguments.image.empty() || !wanted.reductions.empty() || !wanted.reuses.empty() || arguments.json ||
      arguments.head || arguments.options.device != "cpu" || arguments.batch != 1) {
    throw UsageError(
        "--board chooses picture, reductions, reuse and batch itself: leave out --image, --reduce, "
        "--reuse, --batch, --json, --head and --device");
  }
  const BuildInfo build = buildInfo();
  if (wanted.precisions.empty()) {
    wanted.precisions = {Precision::kFp32};
    if (build.bf16) wanted.precisions.push_back(Precision::kBf16);
    if (build.fp16) wanted.precisions.push_back(Precision::kFp16);
    if (build.int8) wanted.precisions.push_back(Precision::kInt8);
  }
  wanted.reductions = {kFullModel, parseReduction("mpm:blocks=2,5"), parseReduction("gradual")};

  struct Part {
    std::string name;
    BenchArguments arguments;
    std::vector<Variant> variants{};
  };
  std::vector<Part> parts;
  parts.push_back({std::filesystem::path(arguments.model).stem(), arguments});
  parts[0].arguments.image = "demo:street?step=1";
  parts[0].arguments.rounds = std::min(arguments.rounds, kStreetRounds);
  parts[0].arguments.variants.reuses = {Reuse(), parseReuse("auto")};
  const ScratchFolder folder;
  for (const auto& [name, dim] : {std::pair("Seg-T", 192), std::pair("Seg-S", 384)}) {
    for (const int batch : {1, 2}) {
      parts.push_back({name, arguments});
      Part& part = parts.back();
      part.arguments.model = folder / (std::string(name) + ".onnx");
      part.arguments.batch = batch;
      part.arguments.rounds = std::min(arguments.rounds, kNetworkRounds);
      if (batch == 1) writeRandomSegmenter(part.arguments.model, dim);
    }
  }
  const evaluation::BoardState before = evaluation::boardState();
  const auto start = std::chrono::steady_clock::now();
  for (Part& part : parts) {
    part.variants = compared(part.arguments).variants;
    if (interrupted()) return endInterrupted(": no result");
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const std::string state = evaluation::boardText(before, evaluation::boardState(), taken.count());

  const Json cpu = evaluation::cpuName();
  printLine((cpu.is_null() ? "" : cpu.get<std::string>() + ", ") + state + (state.empty() ? "" : ", ") +
            counted(threads, "thread") + ", " + build.instruction_set + ", mpm " + build.version + ", OpenCV " +
            build.opencv + ". " + parts[0].name + ": " + counted(parts[0].arguments.rounds, "frame") + " of " +
            parts[0].arguments.image + ". Seg-T, Seg-S: random weights, " +
            counted(parts.back().arguments.rounds, "round") + ".");
  printLine("");
  printLine(
      "| model | batch | precision | reduction | reuse | ms | p10 - p90 | ratio | rows, % | labels as fp32 full, % |");
  printLine("|---|---|---|---|---|---|---|---|---|---|");
  const auto mean = [](const evaluation::PerImage& sample, double unit, int digits) {
    return sample.values.empty() ? std::string("-") : fixed(unit * sample.mean(), digits);
  };
  for (const Part& part : parts) {
    for (const Variant& variant : part.variants) {
      printLine("| " + part.name + " | " + std::to_string(part.arguments.batch) + " | " + variant.precision + " | " +
                toString(variant.reduction) + " | " + toString(variant.reuse) + " | " + fixed(variant.median(), 1) +
                " | " + fixed(quantile(variant.ms, 0.1), 1) + " - " + fixed(quantile(variant.ms, 0.9), 1) + " | " +
                fixed(Row(variant, part.variants).ratio, 3) + " | " + mean(variant.rows, 100, 0) + " | " +
                mean(variant.agreement, 1, 2) + " |");
    }
  }
  for (const Part& part : parts) expectAlive(part.variants);
  return kOk;
}

}  // namespace mpm::cli
