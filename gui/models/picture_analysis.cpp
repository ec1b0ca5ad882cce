// SPDX-License-Identifier: Apache-2.0
#include "gui/models/picture_analysis.h"

namespace mpm::gui {

PictureAnalysis::PictureAnalysis(QObject* parent) : QObject(parent), thread_(this) {}

void PictureAnalysis::setModel(const std::string& path, const EstimatorOptions& options) {
  model_ = {path, options};
  ++model_number_;
}

void PictureAnalysis::begin(const QString& name, const cv::Mat& image) {
  if (model_.path.empty()) return;
  thread_.run([this, name, image, model = model_, number = model_number_.load(), turn = ++last_] {
    if (turn != last_) return;
    const auto queue = [this, turn](auto emission) {
      thread_.answer([this, turn, emission = std::move(emission)] {
        if (turn == last_) emission();
      });
    };
    try {
      if (std::exchange(loaded_, number) != number) estimator_.reset();
      if (!estimator_) estimator_.emplace(model.path, model.options);
      monitor::InferenceResult result;
      result.frame.image = image;
      result.estimate = estimator_->estimate(image);
      result.model = std::make_shared<ModelInfo>(estimator_->model());
      queue([this, name, frame = makeLiveFrame(std::move(result))] { emit finished(name, frame); });
    } catch (const std::exception& error) {
      queue([this, message = QString::fromStdString(error.what())] { emit failed(message); });
    }
  });
}

void PictureAnalysis::rest() {
  ++last_;
  thread_.run([this] { estimator_.reset(); });
}

}  // namespace mpm::gui
