// SPDX-License-Identifier: Apache-2.0
// What the versions of a taught model say about a picture.
#include "gui/models/version_changes.h"

#include "gui/models/readout.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

constexpr std::size_t kListed = 3;  // changes, in the line of text

QString nameOf(const TaughtModel& version) { return QFileInfo(version.path).completeBaseName(); }

// The labels of a version as indices of `classes`, to which those are added that only it knows.
cv::Mat labelsOf(const LiveFrame& frame, VersionChanges::Classes& classes) {
  const ModelInfo& model = *frame.result.model;
  const QStringList names = texts(vision::classNames(model));
  const auto colors = vision::classColors(model.facts, model.classes);
  for (qsizetype c = 0; c < names.size(); ++c) {
    if (classes.names.contains(names[c])) continue;
    classes.names << names[c];
    classes.colors.push_back(qRgb(colors[c][2], colors[c][1], colors[c][0]));
  }
  return labelsIn(classes.names, frame, 0);
}

}  // namespace

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

VersionChanges::VersionChanges(QObject* parent) : QObject(parent) {
  for (Side* side : {&before_, &after_}) {
    connect(&side->analysis, &PictureAnalysis::finished, this, [this, side](const QString& picture, const auto& frame) {
      if (picture != picture_) return;
      side->frame = frame;
      show();
    });
    connect(&side->analysis, &PictureAnalysis::failed, this, [this, side](const QString& why) {
      side->why = why;
      show();
    });
  }
}

void VersionChanges::setOptions(const EstimatorOptions& options) {
  rest();
  options_ = options;
  options_.read.convert.reduce = kFullModel;
  options_.refine = Refine::kNone;
}

void VersionChanges::look(Side& side, const TaughtModel& version) {
  if (side.version.path != version.path || side.version.time != version.time) {
    side.version = version;
    side.asked = false;
    side.analysis.setModel(version.path.toStdString(), options_);
  }
  if (std::exchange(side.asked, true)) return;
  side.frame.reset();
  side.why.clear();
  side.analysis.begin(picture_, image_);
}

void VersionChanges::compare(const QString& picture, const cv::Mat& image, const Classes& classes,
                             const TaughtModel& before, const std::optional<TaughtModel>& after, const cv::Mat& now) {
  if (std::exchange(picture_, picture) != picture) before_.asked = after_.asked = false;
  image_ = image;
  classes_ = classes;
  now_ = after ? cv::Mat() : now;
  look(before_, before);
  if (after) look(after_, *after);
  show();
}

void VersionChanges::show() {
  const bool to_now = !now_.empty();
  const QString from = nameOf(before_.version), to = to_now ? tr("now") : nameOf(after_.version);
  if (!before_.frame || !(to_now || after_.frame)) {
    emit shown({});
    for (const Side* side : {&before_, &after_})
      if (!side->why.isEmpty() && !(to_now && side == &after_))
        return emit said(
            tr("%1 is gone, so nothing can be compared with it: %2").arg(nameOf(side->version), side->why));
    return emit said(tr("Comparing %1 and %2…").arg(from, to));
  }
  Classes classes = classes_;
  const cv::Mat before = labelsOf(*before_.frame, classes), after = to_now ? now_ : labelsOf(*after_.frame, classes);
  const LabelChanges all = labelChanges(image_, before, after, classes.colors);
  emit shown(all.picture);
  if (all.changes.empty()) return emit said(tr("%1 → %2: nothing changed in this picture").arg(from, to));
  QStringList listed;
  for (std::size_t i = 0; i < std::min(kListed, all.changes.size()); ++i) {
    const LabelChanges::Change& one = all.changes[i];
    listed << tr("%1 px %2 → %3").arg(QLocale().toString(one.pixels), classes.names[one.from], classes.names[one.to]);
  }
  if (all.changes.size() > kListed) listed << tr("%1 more").arg(all.changes.size() - kListed);
  emit said(tr("%1 → %2: %3 % of the picture changed: %4")
                .arg(from, to, number(100 * all.share, 1), listed.join(QStringLiteral(", "))));
}

void VersionChanges::rest() {
  for (Side* side : {&before_, &after_}) {
    side->analysis.rest();
    side->version = {};
  }
}

}  // namespace mpm::gui
