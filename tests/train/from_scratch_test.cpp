// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/atomic_file.h"
#include "mpm/convert.hpp"
#include "support/temporary_folder.h"
#include "train/agreement.h"
#include "train/checkpoint.h"
#include "train/learner.h"
#include "train/program.h"

namespace mpm::train {
namespace {

constexpr Size2 kStreetSize = {128, 192};
constexpr int kStreetSteps = 160;

std::vector<double> losses(const std::string& log) {
  std::vector<double> losses;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto entry = nlohmann::json::parse(line);
    if (entry.contains("loss")) losses.push_back(entry.at("loss"));
  }
  return losses;
}

double mean(const std::vector<double>& values, std::size_t first, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values.at(first + i);
  return sum / static_cast<double>(count);
}

// Held-out streets, as images {B, H, W} CV_8UC3.
cv::Mat heldOutImages(int count) {
  const auto source = openScenes({}, {}, 1, 255);
  const int dims[] = {count, kStreetSize.height, kStreetSize.width};
  cv::Mat images(3, dims, CV_8UC3);
  for (int i = 0; i < count; ++i)
    source->heldOut(i, kStreetSize)
        .image.copyTo(cv::Mat(kStreetSize.height, kStreetSize.width, CV_8UC3, images.ptr(i)));
  return images;
}

// The road of the default model in small: random weights, the rendered scene, some minutes, ONNX, mpm convert.
TEST(FromScratch, TheSceneIsLearnedAndTheModelIsWritten) {
  const test::TemporaryFolder folder;
  const test::ProgramResult run = test::mpmTrain({"--out",
                                                  folder / "run",
                                                  "--name",
                                                  "street",
                                                  "--size",
                                                  "128x192",
                                                  "--batch",
                                                  "8",
                                                  "--steps",
                                                  std::to_string(kStreetSteps),
                                                  "--warmup",
                                                  "20",
                                                  "--average",
                                                  "0",
                                                  "--no-half",
                                                  "--precision",
                                                  "fp32",
                                                  "--threads",
                                                  "1",
                                                  "--workers",
                                                  "1",
                                                  "--save-every",
                                                  std::to_string(kStreetSteps),
                                                  "--eval-every",
                                                  std::to_string(kStreetSteps),
                                                  "--eval-streets",
                                                  "2",
                                                  "--eval-hours",
                                                  "4"});
  ASSERT_EQ(run.exit_code, 0) << run.err;

  const std::vector<double> curve = losses(readFile(folder / "run/log.jsonl"));
  ASSERT_EQ(curve.size(), kStreetSteps);
  const double first = mean(curve, 0, 10), last = mean(curve, kStreetSteps - 20, 20);
  RecordProperty("loss", std::to_string(first) + " -> " + std::to_string(last));
  EXPECT_LT(last, 0.85 * first);

  convertFile(folder / "run/street.onnx", folder / "converted.onnx", {.reduce = kFullModel});
  const Checkpoint checkpoint = readCheckpoint(folder / "run/checkpoint.safetensors");
  LearnerOptions options;
  options.network = checkpoint.recipe.networkConfig(9);
  options.average = 0;
  options.threads = 1;
  const cv::Mat images = heldOutImages(16);
  const cv::Mat expected = Learner(options, checkpoint.state).predict(images);
  EXPECT_GE(test::agreement(folder / "converted.onnx", kStreetSize, images, expected), 0.999);
}

}  // namespace
}  // namespace mpm::train
