// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <new>
#include <string>

#include "base/size_text.h"
#include "mpm/error.hpp"
#include "program/paths.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "trainer.h"

namespace {

using namespace mpm;

constexpr const char* kAbout =
    R"(Trains a Segmenter (a ViT-T with a mask transformer) on the built-in scene, as the default models were made, and
writes it as plain ONNX. The scene's images and exact labels are rendered while it trains. For your own pictures:
mpm teach.)";

constexpr const char* kNotes =
    R"(Files, in the folder of --out: NAME.onnx and NAME.json, the model. They are written every --save-every steps, at
the end, and when training is stopped. Ctrl-C (or SIGTERM) finishes the current step, writes the model and ends; a
second one kills. --init NAME.onnx trains such a model on, with a new warm-up.

Examples:
  mpm-train --out street --name street_vit_t16
  mpm-train --out large --init street/street_vit_t16.onnx --size 448x640 --lr 2e-4 --steps 4000
  mpm-train --out mean --init street.onnx:0.1,varied.onnx:0.9 --steps 0

Progress goes to stderr; the path of the ONNX file to stdout. Exit status: 0 done, 1 failed,
2 wrong usage, 130 stopped with the model written.)";

void addOptions(CLI::App& app, train::TrainingOptions& options) {
  train::StreetOptions& streets = options.streets;
  const auto size = [&](const char* flag, const char* help, auto& value) {
    return app
        .add_option_function<std::string>(
            flag, [&value](const std::string& text) { program::orUsageError([&] { value = parseSize(text); }); }, help)
        ->type_name("HxW");
  };
  app.option_defaults()->group("Run")->always_capture_default();
  app.add_option("-o,--out", options.folder, "Folder of the model")->required()->type_name("FOLDER");
  app.add_option("--name", options.name, "Name of the model and stem of its files");
  size("--export-size", "Input of the ONNX file (default: --size)", options.export_size);
  app.add_flag("--half,!--no-half", options.half, "Store the weights of the ONNX file as float16 (default: yes)");
  app.add_option("--threads", options.threads, "Of LibTorch, and as many that render (0: one per core)");
  app.add_option("--save-every", options.save_every, "Steps after which the model is written again");
  app.add_option("--log-every", options.log_every, "Steps between lines where stderr is no terminal");

  app.option_defaults()->group("Network");
  app.add_option(
      "--init", options.init,
      "Start from a model that mpm-train wrote instead of from random weights. A.onnx:0.6,B.onnx:0.4 is the\n"
      "mean of several, of which one was fine-tuned from the other; --steps 0 writes it");
  size("--size", "Network input in pixels, multiples of 16", streets.size)->default_str(toString(streets.size));

  app.option_defaults()->group("Scene");
  app.add_option("--per-street", streets.per_street, "Images of a street before the next one is built");
  app.add_option("--per-view", streets.per_view,
                 "Windows cut out of each rendering; more save time where --scale-min is 1.5 or more");
  app.add_option("--varied", streets.varied,
                 "Share of the streets with variety=1 (docs/scene.md); the others are usual streets");
  app.add_option("--scale-min", streets.scale_min, "Smallest scale of the image under the window; at least 1 is used");
  app.add_option("--scale-max", streets.scale_max, "Largest scale");

  app.option_defaults()->group("Optimisation");
  app.add_option("--seed", streets.seed, "Of the weights and the data");
  app.add_option("--steps", options.steps, "Steps of the optimiser");
  app.add_option("--batch", streets.batch, "Images per step, each of another street");
  app.add_option("--optimizer", options.optimizer, "adamw, or muon: Muon for the matrices of the blocks, AdamW else");
  app.add_option("--lr", options.lr, "Peak learning rate");
  app.add_option("--warmup", options.warmup, "Steps of linear warm-up; half a cosine follows");
  app.add_option("--final-lr", options.final_share, "Share of the peak at the end");
  app.add_option("--average", options.average,
                 "Decay of the moving average of the weights, which is what is written (0: none)");
  app.add_option("--label-stride", options.label_stride,
                 "The loss sees one pixel of each square of 1, 2 or 4 pixels a side, another\none at each step");
  app.add_option("--precision", options.precision, "Of matrix products: fp32, bf16, or auto: bf16 where it is faster");
}

}  // namespace

int main(int argc, char** argv) {
  train::TrainingOptions options;
  options.stop = &program::interrupted();
  options.terminal = program::stderrIsTerminal();

  CLI::App app(kAbout, "mpm-train");
  program::prepare(app);
  app.footer(kNotes);
  addOptions(app, options);

  return program::runProgram(app, argc, argv, [&] {
    program::orUsageError([&] { options.validate(); });
    const std::string model = options.folder + "/" + options.name + ".onnx";
    int done = 0;
    try {
      done = train::train(options);
    } catch (const std::bad_alloc&) {
      throw Error("out of memory: a smaller --batch or --size needs less");
    }
    program::printLine(model);
    if (done == options.steps) {
      program::printNote("next: mpm run IMAGE --model " + program::shellWord(model));
      return program::kOk;
    }
    program::printNote("stopped after step " + std::to_string(done) + "; --init " + program::shellWord(model) +
                       " goes on from there");
    return program::kInterrupted;
  });
}
