// SPDX-License-Identifier: Apache-2.0
#include "trainer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <thread>

#include "base/number_text.h"
#include "base/size_text.h"
#include "base/training.h"
#include "learner.h"
#include "mpm/error.hpp"
#include "program/paths.h"
#include "program/terminal/output.h"
#include "scene/street.h"
#include "segmenter_file.h"
#include "vision/model_files.h"

namespace mpm::train {
namespace {

constexpr double kClassBalance = 0.5;  // of balancedWeights()

// The models of --init and their shares of the mean.
using StartingParts = std::vector<std::pair<std::string, float>>;

void require(bool holds, const std::string& message) {
  if (!holds) throw Error(message);
}

void requireSize(Size2 size) {
  constexpr int kPatch = NetworkConfig::kPatch;
  require(
      size.height >= kPatch && size.width >= kPatch && size.height % kPatch == 0 && size.width % kPatch == 0,
      "the input is " + toString(size) + kHeightFirst + "; both sides must be multiples of " + std::to_string(kPatch));
}

// Throws mpm::Error unless the shares sum to 1.
StartingParts startingParts(const std::string& init) {
  StartingParts parts;
  double sum = 0;
  std::size_t begin = 0;  // of the part
  for (std::size_t end = 0; end < init.size(); ++end) {
    end = std::min(init.find(',', end), init.size());
    const std::size_t colon = init.rfind(':', end);
    const bool has_colon = colon != std::string::npos && colon >= begin;
    const auto share = readNumber<float>(has_colon ? init.substr(colon + 1, end - colon - 1) : "");
    if (!share) continue;  // the comma is one of the name
    sum += *share;
    parts.emplace_back(init.substr(begin, colon - begin), *share);
    begin = end + 1;
  }
  if (begin <= init.size()) return {{init, 1}};  // the name of one file
  require(std::abs(sum - 1) < 1e-3, "the shares of --init '" + init + "' must sum to 1");
  return parts;
}

// The mean of the models of --init, for the input size of the training.
SegmenterFile startingModel(const TrainingOptions& options) {
  SegmenterFile start;
  for (const auto& [path, share] :
       options.init.empty() ? StartingParts{{vision::defaultModel(), 1}} : startingParts(options.init)) {
    SegmenterFile part = readSegmenter(path);
    require(part.config.classes == scene::kClasses, "cannot start from '" + path + "': it has " +
                                                        std::to_string(part.config.classes) +
                                                        " classes; the street has " + std::to_string(scene::kClasses));
    const Size2 trained = part.config.grid();
    part.config.input = options.streets.size;
    resizePositions(part.weights, trained, part.config.grid());
    const bool first = start.weights.empty();
    if (first) start = part;
    for (auto& [name, tensor] : start.weights) {
      const auto other = part.weights.find(name);
      require(other != part.weights.end() && other->second.shape == tensor.shape,
              "cannot take the mean of the models of --init: '" + path + "' has other tensors");
      std::transform(
          other->second.values.begin(), other->second.values.end(), tensor.values.begin(), tensor.values.begin(),
          [share = share, first](float value, float so_far) { return (first ? 0 : so_far) + share * value; });
    }
  }
  if (options.init.empty()) start.weights = initialWeights(start.config, options.streets.seed);
  return start;
}

std::vector<float> classWeights(const StreetOptions& streets) {
  constexpr int kImages = 128;
  std::vector<double> counts(256);
  StreetBatches batches(streets);
  for (int images = 0; images < kImages; images += streets.batch) {
    const cv::Mat labels = batches.next().labels;
    for (std::size_t i = 0; i < labels.total(); ++i) ++counts[labels.data[i]];
  }
  counts.resize(scene::kClasses);
  return balancedWeights(counts, kClassBalance);
}

}  // namespace

void TrainingOptions::validate() const {
  require(!name.empty() && name.find('/') == std::string::npos,
          "--name is '" + name + "'; it must be a file name, without folder and extension");
  require(steps >= 1 || (steps == 0 && !init.empty()),
          "--steps must be at least 1, or 0 to write the weights of --init");
  if (!init.empty()) startingParts(init);
  requireSize(streets.size);
  const auto [shorter, longer] = std::minmax(streets.size.height, streets.size.width);
  require(shorter >= scene::kSmallestSide && longer <= scene::kLargestSide,
          "--size is " + toString(streets.size) + kHeightFirst + "; streets have 64x64 to 4096x4096 pixels");
  if (export_size) requireSize(*export_size);
  require(streets.batch >= 1 && streets.per_street >= 1 && streets.per_view >= 1 && save_every >= 1 && log_every >= 1,
          "--batch, --per-street, --per-view, --save-every and --log-every must be at least 1");
  require(streets.scale_min > 0.1 && streets.scale_min <= streets.scale_max && streets.scale_max < 10,
          "--scale-min and --scale-max must be between 0.1 and 10, the smaller one first");
  require(streets.varied >= 0 && streets.varied <= 1, "--varied must be between 0 and 1");
  require(lr > 0, "--lr must be positive");
  require(warmup >= 0 && final_share >= 0 && final_share <= 1,
          "--warmup and --final-lr must not be negative, --final-lr not above 1");
  require(average >= 0 && average < 1, "--average must be at least 0 and below 1");
  require(label_stride == 1 || label_stride == 2 || label_stride == 4, "--label-stride must be 1, 2 or 4");
  require(optimizer == "adamw" || optimizer == "muon", "--optimizer is '" + optimizer + "'; it can be adamw or muon");
  require(precision == "auto" || precision == "fp32" || precision == "bf16",
          "--precision is '" + precision + "'; it can be fp32, bf16 or auto");
  constexpr int kMaxThreads = 1024;
  require(threads >= 0 && threads <= kMaxThreads, "--threads must be between 0 and " + std::to_string(kMaxThreads));
}

int train(const TrainingOptions& given) {
  TrainingOptions options = given;
  options.validate();
  const std::string model = options.folder + "/" + options.name;
  for (const char* ending : {".onnx", ".json"}) {
    require(!std::filesystem::exists(model + ending),
            "'" + model + ending + "' already exists: take another --out or --name, or remove it");
  }
  if (options.threads == 0) options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (options.precision == "auto") options.precision = bf16IsFast() ? "bf16" : "fp32";
  options.streets.workers = std::min(options.threads, options.streets.batch);
  const SegmenterFile start = startingModel(options);
  program::makeFolder(options.folder);

  ModelFacts facts;
  facts.name = options.name;
  facts.assumed = false;  // the training scales pixels by the default mean and deviation
  for (const scene::ClassStyle& style : scene::kClassStyles) facts.classes.push_back({style.name, style.rgb});
  const auto write = [&](const TensorMap& weights) {
    writeSegmenter(model, start, weights, options.export_size.value_or(options.streets.size), options.half, facts);
  };
  if (options.steps == 0) return write(start.weights), 0;

  Learner learner({.network = start.config,
                   .muon = options.optimizer == "muon",
                   .bf16 = options.precision == "bf16",
                   .average = options.average,
                   .label_stride = options.label_stride,
                   .class_weights = classWeights(options.streets),
                   .threads = options.threads},
                  start.weights);
  StreetBatches batches(options.streets);
  const LearningRate rate{options.lr, options.warmup, options.steps, options.final_share};
  program::Progress progress(options.terminal, options.steps, "step");
  progress.note(libTorchSummary() + ", training in " + options.precision);
  double loss = 0;  // moving average over about 50 steps
  int step = 0;
  while (step < options.steps && !(options.stop && *options.stop)) {
    const Batch batch = batches.next();
    const double lr = rate.at(step), now = learner.step(batch.images, batch.labels, step, lr);
    ++step;
    loss += std::max(0.02, 1. / step) * (now - loss);
    char detail[64];
    std::snprintf(detail, sizeof detail, "  loss %.4f  lr %.2e", loss, lr);
    progress.step(detail);
    if (!options.terminal && (step == options.steps || step % options.log_every == 0))
      progress.note(progress.text() + detail);
    if (step % options.save_every == 0 && step < options.steps) write(learner.weights());
  }
  write(learner.weights());
  return step;
}

}  // namespace mpm::train
