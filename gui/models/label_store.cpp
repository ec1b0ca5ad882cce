// SPDX-License-Identifier: Apache-2.0
#include "gui/models/label_store.h"

#include <QFileInfo>
#include <utility>

#include "mpm/error.hpp"
#include "vision/pictures/pictures.h"
#include "vision/sources/source.h"

namespace mpm::gui {
namespace {

QStringList texts(const std::vector<std::string>& names) {
  QStringList list;
  for (const std::string& name : names) list << QString::fromStdString(name);
  return list;
}

}  // namespace

LabelStore::LabelStore(const QString& folder, QObject* parent) : QObject(parent), folder_(folder) {
  thread_.setMaxThreadCount(1);
}

// A folder that cannot be read is tried again with each change.
template <typename Change>
void LabelStore::run(Change change) {
  thread_.start([this, change = std::move(change)] {
    const auto queue = [this](auto emission) { QMetaObject::invokeMethod(this, std::move(emission)); };
    try {
      if (!own_) own_.emplace(folder_.toStdString(), vision::LabelFolder::Access::kWrite);
      change(*own_, queue);
      queue([this, now = state()] { emit changed(now); });
    } catch (const std::exception& error) {
      queue([this, message = QString::fromStdString(error.what())] { emit failed(message); });
    }
  });
}

LabelState LabelStore::state() {
  const int classes = own_->classes().count();
  const std::vector<std::string> labelled = own_->labelled();
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
  run([](vision::LabelFolder&, const auto&) {});
}

void LabelStore::load(const QString& name) {
  run([this, name](vision::LabelFolder& folder, const auto& queue) {
    const cv::Mat image = folder.picture(name.toStdString()), labels = folder.labels(name.toStdString());
    queue([this, name, image, labels] { emit loaded(name, image, labels); });
  });
}

void LabelStore::readLabels(const QString& name) {
  run([this, name](vision::LabelFolder& folder, const auto& queue) {
    queue([this, name, image = folder.picture(name.toStdString()), labels = folder.labels(name.toStdString())] {
      emit labelsRead(name, image, labels);
    });
  });
}

void LabelStore::save(const QString& name, const cv::Mat& labels) {
  {
    const std::lock_guard lock(mutex_);
    waiting_[name] = labels.clone();
  }
  run([this, name](vision::LabelFolder& folder, const auto& queue) {
    cv::Mat last;
    {
      const std::lock_guard lock(mutex_);
      last = waiting_.take(name);
    }
    if (last.empty()) return;
    folder.saveLabels(name.toStdString(), last);
    summaries_.erase(name.toStdString());
    queue([this, name] { emit saved(name); });
  });
}

void LabelStore::add(const QString& name, const cv::Mat& image) {
  run([this, name, image](vision::LabelFolder& folder, const auto& queue) {
    const QString free = QString::fromStdString(folder.addPicture(name.toStdString(), image));
    queue([this, free] { emit added(free); });
  });
}

void LabelStore::addFiles(const QStringList& files) {
  run([this, files](vision::LabelFolder& folder, const auto& queue) {
    for (const QString& file : files) {
      const cv::Mat image = vision::openSource(file.toStdString())->next()->image;
      const QString free =
          QString::fromStdString(folder.addPicture(QFileInfo(file).completeBaseName().toStdString(), image));
      queue([this, free] { emit added(free); });
    }
  });
}

void LabelStore::import(const QString& from) {
  run([this, from](vision::LabelFolder& folder, const auto&) {
    folder.import(from.toStdString());
    summaries_.clear();
  });
}

void LabelStore::remove(const QString& name) {
  run([this, name](vision::LabelFolder& folder, const auto&) {
    folder.removePicture(name.toStdString());
    summaries_.erase(name.toStdString());
  });
}

void LabelStore::exportCoco(const QString& file) {
  run([this, file](vision::LabelFolder& folder, const auto& queue) {
    folder.exportCoco(file.toStdString());
    queue([this, file] { emit exported(file); });
  });
}

void LabelStore::exportLabelMe(const QString& path) {
  run([this, path](vision::LabelFolder& folder, const auto& queue) {
    folder.exportLabelMe(path.toStdString());
    queue([this, path] { emit exported(path); });
  });
}

void LabelStore::setClasses(const std::vector<ClassInfo>& classes) {
  run([this, classes](vision::LabelFolder& folder, const auto&) {
    folder.setClasses(classes);
    summaries_.clear();
  });
}

void LabelStore::mergeClass(int from, std::optional<int> into) {
  run([this, from, into](vision::LabelFolder& folder, const auto&) {
    folder.mergeClass(from, into);
    summaries_.clear();
  });
}

void LabelStore::writeCandidate(const QString& file, const cv::Mat& image) {
  run([this, file, image](vision::LabelFolder&, const auto& queue) {
    vision::writePicture(file.toStdString(), image);
    queue([this, file] { emit written(file); });
  });
}

}  // namespace mpm::gui
