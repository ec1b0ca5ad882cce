// SPDX-License-Identifier: Apache-2.0
#include "gui/models/picture_analysis.h"

#include <array>
#include <utility>

#include "gui/models/label_maps.h"
#include "gui/models/readout.h"
#include "vision/labels/classes.h"

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

cv::Mat labelsIn(const QStringList& classes, const LiveFrame& frame, int otherwise) {
  std::array<uchar, 256> index;
  index.fill(static_cast<uchar>(otherwise));
  const QStringList theirs = texts(vision::classNames(*frame.result.model));
  for (qsizetype c = 0; c < theirs.size(); ++c)
    if (classes.contains(theirs[c])) index[c] = static_cast<uchar>(classes.indexOf(theirs[c]));
  return renumbered(frame.labels(), index);
}

}  // namespace mpm::gui
