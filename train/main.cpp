// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>
#include <opencv2/core.hpp>
#include <string>
#include <type_traits>

#include "base/size_text.h"
#include "mpm/error.hpp"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "trainer.h"

namespace {

using namespace mpm;

constexpr const char* kAbout =
    "Trains Segmenter (a ViT with a mask transformer) and writes it as ONNX.\n\n"
    "Without --data it learns the built-in scene, whose images and exact labels are rendered while it\n"
    "trains; with --data it learns a folder of images and label maps. The ONNX file is made of standard\n"
    "operators; mpm convert, mpm run and any ONNX runtime read it. Beside it stands NAME.json with the\n"
    "classes and the normalisation.";

constexpr const char* kNotes =
    "Files, in the folder of --out:\n"
    "  checkpoint.safetensors  weights, optimiser, recipe and step; --resume goes on from it\n"
    "  log.jsonl               a line per step and per evaluation\n"
    "  NAME.onnx, NAME.json    the model, written at the end and when training is stopped\n\n"
    "Ctrl-C (or SIGTERM) finishes the current step, saves and ends; a second one kills. A run that was\n"
    "killed loses the steps since the last checkpoint and, resumed, repeats them exactly: on one machine\n"
    "with one number of threads, a seed gives one loss curve on the CPU.\n\n"
    "Examples:\n"
    "  mpm-train --out street --name street_vit_t16\n"
    "  mpm-train --out street --resume\n"
    "  mpm-train --out large --init street/checkpoint.safetensors --size 448x640 --lr 2e-4 --steps 4000\n"
    "  mpm-train --out camera --data camera/train --classes classes.json \\\n"
    "            --init street/checkpoint.safetensors --lr 3e-4 --steps 3000\n\n"
    "--data takes images/ with labels/, or ADE20K as it comes: images/ and annotations/ with training/ and\n"
    "validation/ in each, where label 0 is ignored and 1 is the first class.\n"
    "classes.json: [{\"name\": \"road\", \"color\": \"#804080\"}, ...], or the .json beside any model.\n"
    "Progress goes to stderr; the path of the ONNX file to stdout. Exit status: 0 done, 1 failed,\n"
    "2 wrong usage, 130 stopped with the run saved.";

constexpr int kMaxThreads = 1024;

// An option of the command line for each field of a recipe.
std::vector<CLI::Option*> addRecipe(CLI::App& app, train::Recipe& recipe) {
  std::vector<CLI::Option*> options;
  train::visit(recipe, [&](const char* group, const char* name, auto& value, const char* help) {
    const std::string flag = std::string("--") + name;
    CLI::Option* option;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Size2>) {
      option =
          app.add_option_function<std::string>(
                 flag, [&value](const std::string& text) { program::orUsageError([&] { value = parseSize(text); }); },
                 help)
              ->type_name("HxW")
              ->default_str(toString(value));
    } else {
      option = app.add_option(flag, value, help);
    }
    options.push_back(option->group(group));
  });
  options.push_back(app.add_option_function<std::string>(
                           "--classes",
                           [&](const std::string& path) {
                             program::orUsageError([&] { recipe.classes = train::readClasses(path); });
                           },
                           "Names and colours of the classes of --data, in the order of their labels")
                        ->type_name("FILE.json")
                        ->group("Data"));
  return options;
}

void addRun(CLI::App& app, train::RunOptions& run) {
  app.option_defaults()->group("Run")->always_capture_default();
  app.add_option("-o,--out", run.folder, "Folder of the run")->required()->type_name("FOLDER");
  app.add_flag("--resume", run.resume, "Continue the run in the folder; its recipe is in the checkpoint");
  app.add_option("--name", run.name, "Name of the model and stem of its files");
  app.add_option_function<std::string>(
         "--export-size",
         [&](const std::string& text) { program::orUsageError([&] { run.export_size = parseSize(text); }); },
         "Input of the ONNX file (default: --size)")
      ->type_name("HxW");
  app.add_flag("--half,!--no-half", run.half, "Store the weights of the ONNX file as float16 (default: yes)");
  app.add_option("--device", run.device, "cpu, cuda or auto");
  app.add_option("--threads", run.threads, "Of LibTorch (0: one per core)");
  app.add_option("--workers", run.workers, "Threads that make images (0: one per core, 16 at most)");
  app.add_option("--save-every", run.save_every, "Steps between checkpoints");
  app.add_option("--eval-every", run.eval_every, "Steps between evaluations");
  app.add_option("--log-every", run.log_every, "Steps between lines where stderr is no terminal");
}

int runTraining(const train::Recipe& recipe, const train::RunOptions& run) {
  const train::RunResult result = train::train(recipe, run);
  std::printf("%s\n", result.model.c_str());
  if (result.finished) {
    program::printNote("next: mpm run IMAGE --model " + result.model);
    return program::kOk;
  }
  program::printNote("stopped after step " + std::to_string(result.step) + "; go on with: mpm-train --out " +
                     run.folder + " --resume");
  return program::kInterrupted;
}

}  // namespace

int main(int argc, char** argv) {
  train::Recipe recipe;
  train::RunOptions run;
  run.stop = &program::interrupted();
  run.terminal = program::stderrIsTerminal();

  CLI::App app(kAbout, "mpm-train");
  program::prepare(app);
  app.footer(kNotes);
  addRun(app, run);
  const std::vector<CLI::Option*> recipe_options = addRecipe(app, recipe);

  return program::runProgram(app, argc, argv, [&] {
    for (const CLI::Option* option : recipe_options)
      if (run.resume && option->count() > 0)
        throw program::UsageError(option->get_name() +
                                  " is part of the recipe, which --resume takes from the checkpoint");
    if (!run.resume) program::orUsageError([&] { recipe.validate(); });
    if (run.save_every < 1 || run.eval_every < 1 || run.log_every < 1)
      throw program::UsageError("--save-every, --eval-every and --log-every must be at least 1");
    if (std::min(run.threads, run.workers) < 0 || std::max(run.threads, run.workers) > kMaxThreads)
      throw program::UsageError("--threads and --workers must be between 0 and " + std::to_string(kMaxThreads));
    if (run.name.empty() || run.name.find('/') != std::string::npos)
      throw program::UsageError("--name is '" + run.name + "'; it must be a file name, without folder and extension");
    try {
      return runTraining(recipe, run);
    } catch (const std::bad_alloc&) {
      throw Error("out of memory: a smaller --batch or --size needs less");
    }
  });
}
