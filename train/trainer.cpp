// SPDX-License-Identifier: Apache-2.0
#include "trainer.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/class_balance.h"
#include "checkpoint.h"
#include "evaluation.h"
#include "learner.h"
#include "mpm/error.hpp"
#include "onnx_file.h"
#include "prefetcher.h"
#include "program/paths.h"
#include "program/terminal/output.h"

namespace mpm::train {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A batch is a mix of many streets without many streets being held at once.
constexpr int kMaxChunksInABatch = 16;

int cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

std::unique_ptr<SampleSource> openSamples(const Recipe& recipe) {
  if (recipe.data.empty()) return openScenes(recipe.scene, recipe.augmentation, recipe.seed, recipe.ignore);
  return openFolder({recipe.data, recipe.validation, recipe.classes}, recipe.augmentation, recipe.seed, recipe.ignore);
}

class Run {
 public:
  Run(Recipe recipe, const RunOptions& options) : options_(options) {
    checkpoint_.recipe = std::move(recipe);
    if (options_.device == "auto") options_.device = cudaIsAvailable() ? "cuda" : "cpu";
    if (options_.threads == 0) options_.threads = cores();
    if (options_.workers == 0) options_.workers = std::min(16, cores());
    const std::string path = checkpointPath();
    if (options_.resume)
      checkpoint_ = readCheckpoint(path);
    else if (fs::exists(path))
      throw Error("'" + options_.folder +
                  "' already holds a run: --resume goes on with it, another --out starts a new one");
    Recipe& used = checkpoint_.recipe;
    used.validate();
    if (used.precision == "auto") used.precision = bf16IsFast(options_.device) ? "bf16" : "fp32";
    source_ = openSamples(used);
    network_ = used.networkConfig(static_cast<int>(source_->classes().size()));
    program::makeFolder(options_.folder);
  }

  RunResult operator()() {
    const Recipe& recipe = checkpoint_.recipe;
    program::Progress progress(options_.terminal, recipe.steps, "step", checkpoint_.step);
    if (!options_.resume && recipe.class_balance > 0) checkpoint_.class_weights = balancedWeights();
    Learner learner(learnerOptions(), options_.resume ? initialWeights(network_, recipe.seed) : startingWeights());
    if (options_.resume) learner.setState(checkpoint_.state);
    checkpoint_.state.clear();
    progress.note(libTorchSummary() + ", training in " + recipe.precision + " on " + options_.device);
    RunLog log(options_.folder + "/log.jsonl", checkpoint_.step);

    const std::string model = options_.folder + "/" + options_.name;
    if (checkpoint_.step < recipe.steps) steps(learner, progress, log);
    progress.note("writing " + model + ".onnx");
    ModelFacts facts;
    facts.name = options_.name;
    facts.classes = source_->classes();
    facts.ignore = recipe.ignore;
    writeModel(model, network_, learner.weights(), options_.export_size.value_or(recipe.size), options_.half, facts);
    return {checkpoint_.step == recipe.steps, checkpoint_.step, model + ".onnx"};
  }

 private:
  std::string checkpointPath() const { return options_.folder + "/checkpoint.safetensors"; }
  bool stopped() const { return options_.stop && *options_.stop; }

  std::unique_ptr<Prefetcher> batches(int first_step) const {
    const Recipe& recipe = checkpoint_.recipe;
    return std::make_unique<Prefetcher>(
        *source_, recipe.size, recipe.batch, std::min(recipe.batch, kMaxChunksInABatch), options_.workers,
        static_cast<std::uint64_t>(first_step) * static_cast<std::uint64_t>(recipe.batch));
  }

  LearnerOptions learnerOptions() const {
    const Recipe& recipe = checkpoint_.recipe;
    LearnerOptions options;
    options.network = network_;
    options.optimizer = recipe.optimizer == "muon" ? OptimizerKind::kMuon : OptimizerKind::kAdamW;
    options.weight_decay = recipe.weight_decay;
    options.clip = recipe.clip;
    options.label_smoothing = recipe.label_smoothing;
    options.drop_path = recipe.drop_path;
    options.average = recipe.average;
    options.ignore = recipe.ignore;
    options.label_stride = recipe.label_stride;
    options.class_weights = checkpoint_.class_weights;
    options.precision = recipe.precision == "bf16" ? MatmulPrecision::kBf16 : MatmulPrecision::kFp32;
    options.device = options_.device;
    options.threads = options_.threads;
    return options;
  }

  TensorMap startingWeights() const {
    const Recipe& recipe = checkpoint_.recipe;
    const TensorMap random = initialWeights(network_, recipe.seed);
    if (recipe.init.empty()) return random;
    TensorMap mean;
    for (const auto& [path, share] : recipe.startingParts()) {
      const StartingWeights start = readStartingWeights(path, network_, random);
      for (auto& [name, tensor] : fittedWeights(start.weights, start.config, network_, random)) {
        HostTensor& sum =
            mean.try_emplace(name, HostTensor{tensor.shape, std::vector<float>(tensor.values.size())}).first->second;
        std::transform(tensor.values.begin(), tensor.values.end(), sum.values.begin(), sum.values.begin(),
                       [share = share](float value, float so_far) { return so_far + share * value; });
      }
    }
    return mean;
  }

  // Over the first images.
  std::vector<float> balancedWeights() const {
    constexpr int kImages = 128;
    const std::size_t classes = source_->classes().size();
    std::vector<double> counts(256);
    const auto prefetcher = batches(0);
    for (int images = 0; images < kImages; images += checkpoint_.recipe.batch) {
      const Batch batch = prefetcher->next();
      for (std::size_t i = 0; i < batch.labels.total(); ++i) ++counts[batch.labels.data[i]];
    }
    counts[static_cast<std::size_t>(checkpoint_.recipe.ignore)] = 0;
    counts.resize(classes);
    return mpm::balancedWeights(counts, checkpoint_.recipe.class_balance);
  }

  void steps(Learner& learner, program::Progress& progress, RunLog& log) {
    const Recipe& recipe = checkpoint_.recipe;
    const LearningRate rate = recipe.learningRate();
    const auto prefetcher = batches(checkpoint_.step);
    const double before = checkpoint_.seconds;
    const auto start = Clock::now();
    int saved = checkpoint_.step, losses = 0;
    double loss = 0;  // moving average over about 50 steps
    const auto save = [&] {
      log.flush();
      checkpoint_.seconds = before + std::chrono::duration<double>(Clock::now() - start).count();
      checkpoint_.state = learner.state();
      writeCheckpoint(checkpointPath(), checkpoint_);
      checkpoint_.state.clear();
      saved = checkpoint_.step;
    };
    while (checkpoint_.step < recipe.steps && !stopped()) {
      const Batch batch = prefetcher->next();
      const double lr = rate.at(checkpoint_.step);
      const StepReport report = learner.step(batch.images, batch.labels, checkpoint_.step, recipe.seed, lr);
      ++checkpoint_.step;
      log.add({{"step", checkpoint_.step}, {"loss", report.loss}, {"gradient_norm", report.gradient_norm}, {"lr", lr}});
      const bool last = checkpoint_.step == recipe.steps;
      loss += std::max(0.02, 1. / ++losses) * (report.loss - loss);
      char detail[64];
      std::snprintf(detail, sizeof detail, "  loss %.4f  lr %.2e", loss, lr);
      progress.step(detail);
      if (!options_.terminal && (last || checkpoint_.step % options_.log_every == 0))
        progress.note(progress.text() + detail);
      if (last || checkpoint_.step % options_.eval_every == 0) evaluateNow(learner, progress, log);
      if (last || checkpoint_.step % options_.save_every == 0) save();
    }
    if (saved != checkpoint_.step) save();
  }

  void evaluateNow(Learner& learner, program::Progress& progress, RunLog& log) const {
    const Recipe& recipe = checkpoint_.recipe;
    const evaluation::Evaluation evaluation = evaluate(*source_, recipe.size, recipe.batch, recipe.ignore,
                                                       [&](const cv::Mat& images) { return learner.predict(images); });
    log.add({{"step", checkpoint_.step}, {"evaluation", toJson(evaluation, source_->classes())}});
    progress.note("step " + std::to_string(checkpoint_.step) + ", " + std::to_string(evaluation.all.images()) +
                  " held-out images");
    for (const std::string& line : table(evaluation, source_->classes())) progress.note(line);
  }

  RunOptions options_;
  Checkpoint checkpoint_;
  std::unique_ptr<SampleSource> source_;
  NetworkConfig network_;
};

}  // namespace

RunResult train(Recipe recipe, const RunOptions& options) { return Run(std::move(recipe), options)(); }

}  // namespace mpm::train
