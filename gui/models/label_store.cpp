// SPDX-License-Identifier: Apache-2.0
#include "gui/models/label_store.h"

#include "gui/models/readout.h"
#include "mpm/error.hpp"
#include "vision/sources/source.h"

namespace mpm::gui {

LabelStore::LabelStore(const QString& folder, QObject* parent)
    : QObject(parent), folder_(folder), thread_(this, [this](const QString& why) { emit failed(why); }) {}

// A folder that cannot be read is tried again with each change.
void LabelStore::change(std::function<void(vision::LabelFolder&)> what, std::function<void()> then) {
  thread_.run([this, what = std::move(what), then = std::move(then)] {
    if (!own_) own_.emplace(folder_.toStdString(), vision::LabelFolder::Access::kWrite);
    what(*own_);
    if (then) thread_.answer(then);
    thread_.answer([this, now = state()] { emit changed(now); });
  });
}

LabelState LabelStore::state() {
  const int classes = own_->classes().count();
  const std::vector<std::string> labelled = own_->labelled();
  std::erase_if(summaries_, [&](const auto& one) { return !std::ranges::binary_search(labelled, one.first); });
  std::vector<vision::LabelSummary> summaries;
  std::vector<LabelCount> counts;
  for (const std::string& name : labelled) {
    try {
      vision::LabelSummary& summary = summaries_[name];
      if (static_cast<int>(summary.pixels.size()) != classes)
        summary = vision::summaryOf(own_->picture(name), own_->labels(name), classes);
      summaries.push_back(summary);
      for (int label = 0; label < classes; ++label)
        if (const int pixels = summary.pixels[static_cast<std::size_t>(label)]; pixels > 0)
          counts.push_back({QString::fromStdString(name), label, pixels, pixels / summary.area});
    } catch (const Error&) {  // load() says what is wrong with it
    }
  }
  return {own_->classes(),
          texts(own_->pictures()),
          texts(labelled),
          taughtModels(own_->modelsPath()),
          vision::progressOf(summaries, classes),
          counts,
          QFileInfo(QString::fromStdString(own_->labelsPath())).lastModified()};
}

void LabelStore::open() {
  change([](const vision::LabelFolder&) {});
}

void LabelStore::read(const QString& name, std::function<void(const cv::Mat& image, const cv::Mat& labels)> then) {
  change([this, name, then = std::move(then)](const vision::LabelFolder& folder) {
    thread_.answer([then, image = folder.picture(name.toStdString()), labels = folder.labels(name.toStdString())] {
      then(image, labels);
    });
  });
}

void LabelStore::save(const QString& name, const cv::Mat& labels) {
  {
    const std::lock_guard lock(mutex_);
    waiting_[name] = labels.clone();
  }
  change([this, name](vision::LabelFolder& folder) {
    cv::Mat last;
    {
      const std::lock_guard lock(mutex_);
      last = waiting_.take(name);
    }
    if (last.empty()) return;
    folder.saveLabels(name.toStdString(), last);
    summaries_.erase(name.toStdString());
    thread_.answer([this] { emit saved(); });
  });
}

void LabelStore::add(const QString& name, const cv::Mat& image) {
  change([this, name, image](vision::LabelFolder& folder) {
    const QString free = QString::fromStdString(folder.addPicture(name.toStdString(), image));
    thread_.answer([this, free] { emit added(free); });
  });
}

void LabelStore::addFiles(const QStringList& files) {
  change([this, files](vision::LabelFolder& folder) {
    for (const QString& file : files) {
      const cv::Mat image = vision::openSource(file.toStdString())->next()->image;
      const QString free =
          QString::fromStdString(folder.addPicture(QFileInfo(file).completeBaseName().toStdString(), image));
      thread_.answer([this, free] { emit added(free); });
    }
  });
}

}  // namespace mpm::gui
