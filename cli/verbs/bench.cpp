// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "cli/bench/board.h"
#include "cli/bench/comparison.h"
#include "cli/bench/table.h"
#include "cli/verb_options.h"
#include "cli/verbs/verbs.h"

namespace mpm::cli {
namespace {

int bench(BenchArguments arguments) {
  arguments.model = chosenModel(arguments.model);
  const int threads = useThreads(arguments.options.threads);
  if (arguments.board) return board(arguments, threads);
  const auto [model, variants] = compared(arguments);
  if (interrupted()) return endInterrupted(": no result");
  arguments.json ? printLine(resultJson(variants, arguments, model, threads))
                 : printTable(variants, arguments, threads);
  expectAlive(variants);
  return kOk;
}

}  // namespace

Verb addBench(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("bench", "Compare the time of reductions and precisions");
  const auto arguments = std::make_shared<BenchArguments>();
  addVariants(*verb, arguments->model, arguments->options, arguments->variants);
  addOption(*verb, "--image", arguments->image, "SOURCE",
            "Image, folder, video or the built-in scene (\"demo:street?seed=7\"); a batch takes its first B "
            "images and repeats them if there are fewer. Default: smooth colours with noise");
  addNight(*verb, arguments->night);
  verb->add_flag("--json", arguments->json, "One JSON object");
  verb->add_flag(
      "--board", arguments->board,
      "A Markdown table of this computer to send, in every fast precision, full and merged: the default model on ten "
      "frames of the built-in street, also with reuse; Seg-T and Seg-S with random weights at 512x512, one image "
      "and two at a time, three rounds. With clock, temperature and power where Linux tells them. Needs no file");
  verb->option_defaults()->group("Measurement");
  verb->add_flag("--head", arguments->head,
                 "Also the time of each operator of the head. On a GPU the layers then wait for their work, so that "
                 "the whole takes longer");
  addNumber(*verb, "--batch", arguments->batch, "B", 1, 1024, "Images per pass. Default: 1");
  addNumber(*verb, "--rounds", arguments->rounds, "N", 1, 1e5,
            "Measured passes of each variant. Default: 20, and fewer with --board");
  addNumber(*verb, "--warm-up", arguments->warm_up, "N", 0, 1e5,
            "Passes before them, with --reuse at least one. Default: 3");
  verb->footer(
      R"(The variants take turns: A B C A B C ... ms is wall time from the normalised tensor to the label map. ratio is
relative to the first row. GFLOP counts the live rows, 2 per multiply-add. peak is the share of the GEMM speed of the
CPU, measured in the same run. bench/compare.py of the sources runs other runtimes beside this one.
With --json there is every round, the ratio also round by round (median and quartiles), and what was compared: model,
digest, image, sizes, versions, CPU. With --reuse every round takes the next frame of --image, which all variants
compute from the picture to its labels, and which are compared. Without --reduce: none, and that of the model.
'mpm eval SOURCE --against full' says how far each reduction agrees with the full model.

Examples:
  mpm bench --model vit.onnx --image street.png
  mpm bench --model vit.onnx --reduce none --reduce mpm:blocks=2,5 --precision fp32 --precision bf16 --json
  mpm bench --model vit.onnx --reduce none --reduce mpm:blocks=2,5 --reduce gradual:blocks=0-7:count=48
  mpm bench --image "demo:street?step=1" --reduce none --reuse off --reuse auto
  mpm bench --board > board.md
)");
  return {verb, [arguments] { return bench(*arguments); }};
}

}  // namespace mpm::cli
