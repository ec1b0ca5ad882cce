// SPDX-License-Identifier: Apache-2.0
#include "evaluation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "evaluation/confusion_matrix.h"

namespace mpm::train {
namespace {

using Json = nlohmann::ordered_json;

struct Counter {
  vision::ConfusionMatrix matrix;
  int images = 0;

  void add(const cv::Mat& truth, const cv::Mat& prediction) {
    matrix.add(truth, prediction);
    ++images;
  }
  Scores scores() const { return {images, matrix.iou(), matrix.meanIou(), matrix.pixelAccuracy()}; }
};

std::string percent(double share) {
  if (std::isnan(share)) return "     -";
  char text[16];
  std::snprintf(text, sizeof text, "%6.2f", 100 * share);
  return text;
}

Json toJson(const Scores& scores, const std::vector<ClassInfo>& classes) {
  Json iou;
  for (std::size_t i = 0; i < classes.size(); ++i) iou[classes[i].name] = scores.iou[i];  // NaN becomes null
  return {
      {"images", scores.images}, {"miou", scores.mean_iou}, {"pixel_accuracy", scores.pixel_accuracy}, {"iou", iou}};
}

}  // namespace

Evaluation evaluate(const SampleSource& source, Size2 size, int batch, int ignore, const Predict& predict) {
  const int classes = static_cast<int>(source.classes().size());
  Counter all{{classes, ignore}}, day{{classes, ignore}}, night{{classes, ignore}};
  for (int first = 0; first < source.heldOutCount(); first += batch) {
    const int count = std::min(batch, source.heldOutCount() - first);
    const int shape[] = {count, size.height, size.width};
    cv::Mat images(3, shape, CV_8UC3);
    std::vector<Sample> samples;
    for (int i = 0; i < count; ++i) {
      samples.push_back(source.heldOut(first + i, size));
      samples.back().image.copyTo(cv::Mat(size.height, size.width, CV_8UC3, images.ptr(i)));
    }
    cv::Mat labels = predict(images);
    for (int i = 0; i < count; ++i) {
      const cv::Mat predicted(size.height, size.width, CV_8U, labels.ptr(i));
      const Sample& sample = samples[static_cast<std::size_t>(i)];
      all.add(sample.labels, predicted);
      (sample.night ? night : day).add(sample.labels, predicted);
    }
  }
  Evaluation evaluation{all.scores(), std::nullopt, std::nullopt};
  if (source.knowsNight() && day.images > 0) evaluation.day = day.scores();
  if (source.knowsNight() && night.images > 0) evaluation.night = night.scores();
  return evaluation;
}

std::string table(const Evaluation& evaluation, const std::vector<ClassInfo>& classes) {
  std::vector<std::pair<std::string, const Scores*>> columns = {{"   all", &evaluation.all}};
  if (evaluation.day) columns.emplace_back("   day", &*evaluation.day);
  if (evaluation.night) columns.emplace_back(" night", &*evaluation.night);
  std::size_t width = 8;
  for (const ClassInfo& entry : classes) width = std::max(width, entry.name.size());
  std::string text;
  const auto row = [&](std::string name, const auto& cell) {
    name.resize(width, ' ');
    text += name;
    for (const auto& [title, scores] : columns) text += "  " + cell(title, *scores);
    text += '\n';
  };
  row("IoU, %", [](const std::string& title, const Scores&) { return title; });
  for (std::size_t i = 0; i < classes.size(); ++i)
    row(classes[i].name, [i](const std::string&, const Scores& scores) { return percent(scores.iou[i]); });
  row("mIoU", [](const std::string&, const Scores& scores) { return percent(scores.mean_iou); });
  row("pixels", [](const std::string&, const Scores& scores) { return percent(scores.pixel_accuracy); });
  return text;
}

Json toJson(const Evaluation& evaluation, const std::vector<ClassInfo>& classes) {
  Json json = {{"all", toJson(evaluation.all, classes)}};
  if (evaluation.day) json["day"] = toJson(*evaluation.day, classes);
  if (evaluation.night) json["night"] = toJson(*evaluation.night, classes);
  return json;
}

}  // namespace mpm::train
