// SPDX-License-Identifier: Apache-2.0
#include "evaluation.h"

#include <algorithm>

#include "base/number_text.h"
#include "program/terminal/output.h"

namespace mpm::train {

evaluation::Evaluation evaluate(const SampleSource& source, Size2 size, int batch, int ignore, const Predict& predict) {
  const int classes = static_cast<int>(source.classes().size());
  const evaluation::Scores nothing(classes, ignore);
  evaluation::Evaluation evaluation{nothing, nothing, nothing};
  for (int first = 0; first < source.heldOutCount(); first += batch) {
    const int count = std::min(batch, source.heldOutCount() - first);
    const int shape[] = {count, size.height, size.width};
    cv::Mat images(3, shape, CV_8UC3);
    std::vector<TrainingSample> samples;
    for (int i = 0; i < count; ++i) {
      samples.push_back(source.heldOut(first + i, size));
      samples.back().image.copyTo(cv::Mat(size.height, size.width, CV_8UC3, images.ptr(i)));
    }
    cv::Mat labels = predict(images);
    for (int i = 0; i < count; ++i) {
      const TrainingSample& sample = samples[static_cast<std::size_t>(i)];
      evaluation::ConfusionMatrix matrix(classes, ignore);
      matrix.add(sample.labels, cv::Mat(size.height, size.width, CV_8U, labels.ptr(i)));
      const evaluation::Scores one(std::move(matrix), {}, {});
      evaluation.all.add(one);
      if (source.knowsNight()) (sample.night ? evaluation.night : evaluation.day).add(one);
    }
  }
  return evaluation;
}

std::vector<std::string> table(const evaluation::Evaluation& evaluation, const std::vector<ClassInfo>& classes) {
  std::size_t width = 8;
  for (const ClassInfo& entry : classes) width = std::max(width, entry.name.size());
  std::vector<std::string> lines;
  const auto row = [&](const std::string& name, const auto& cell) {
    std::vector<std::string> cells = {name};
    for (const auto& [title, scores] : evaluation.columns()) cells.push_back(cell(title, *scores));
    lines.push_back(program::tableRow(cells, {-static_cast<int>(width), 8}));
  };
  const auto percents = [&](const std::string& name, const auto& share) {
    row(name,
        [&](const std::string&, const evaluation::Scores& scores) { return fixed(100 * share(scores.matrix()), 2); });
  };
  row("IoU, %", [](const std::string& title, const evaluation::Scores&) { return title; });
  for (std::size_t i = 0; i < classes.size(); ++i)
    percents(classes[i].name, [i](const evaluation::ConfusionMatrix& matrix) { return matrix.iou()[i]; });
  percents("mIoU", [](const evaluation::ConfusionMatrix& matrix) { return matrix.meanIou(); });
  percents("pixels", [](const evaluation::ConfusionMatrix& matrix) { return matrix.pixelAccuracy(); });
  return lines;
}

Json toJson(const evaluation::Evaluation& evaluation, const std::vector<ClassInfo>& classes) {
  Json json;
  for (const auto& [name, scores] : evaluation.columns()) {
    const evaluation::ConfusionMatrix& matrix = scores->matrix();
    Json iou;
    for (std::size_t i = 0; i < classes.size(); ++i) iou[classes[i].name] = matrix.iou()[i];  // NaN becomes null
    json[name] = {{"images", scores->images()},
                  {"miou", matrix.meanIou()},
                  {"pixel_accuracy", matrix.pixelAccuracy()},
                  {"iou", iou}};
  }
  return json;
}

}  // namespace mpm::train
