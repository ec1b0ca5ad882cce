// SPDX-License-Identifier: Apache-2.0
#include "gui/models/picture_analysis.h"

namespace mpm::gui {

PictureAnalysis::PictureAnalysis(QObject* parent)
    : QObject(parent), thread_(this, [this](const QString& why) { emit failed(why); }) {}

void PictureAnalysis::setModel(const std::string& path, const EstimatorOptions& options) {
  model_ = {path, options, model_.number + 1};
}

void PictureAnalysis::begin(const QString& name, const cv::Mat& image) {
  if (model_.path.empty()) return;
  thread_.giveUp();
  thread_.run([this, name, image, model = model_] {
    if (std::exchange(loaded_, model.number) != model.number) estimator_.reset();
    if (!estimator_) estimator_.emplace(model.path, model.options);
    monitor::InferenceResult result;
    result.frame.image = image;
    result.estimate = estimator_->estimate(image);
    result.model = std::make_shared<ModelInfo>(estimator_->model());
    thread_.answer([this, name, frame = makeLiveFrame(std::move(result))] { emit finished(name, frame); });
  });
}

void PictureAnalysis::rest() {
  thread_.giveUp();
  thread_.run([this] { estimator_.reset(); });
}

}  // namespace mpm::gui
