// SPDX-License-Identifier: Apache-2.0
#include "gui/models/folder_pictures.h"

#include "gui/models/recents.h"
#include "mpm/error.hpp"
#include "vision/sources/source.h"

namespace mpm::gui {

FolderPictures::FolderPictures(QObject* parent) : QObject(parent) { thread_.setMaxThreadCount(1); }

template <typename Emit>
void FolderPictures::queue(int version, Emit emission) {
  QMetaObject::invokeMethod(this, [this, version, emission = std::move(emission)] {
    if (version == version_) emission();
  });
}

void FolderPictures::setSource(const QString& source) {
  files_.clear();
  const int version = ++version_;
  const vision::SourceSpec spec = sourceSpec(source);
  if (spec.kind != vision::SourceKind::kFolder && spec.kind != vision::SourceKind::kGlob) return emit listed();
  thread_.start([this, version, spec] {
    QStringList files;
    try {
      for (const std::string& file : vision::sourceFiles(spec)) files << QString::fromStdString(file);
    } catch (const Error&) {  // who opens the source reports it
    }
    queue(version, [this, files] {
      files_ = files;
      emit listed();
    });
  });
}

void FolderPictures::load(int index) {
  thread_.start([this, version = ++version_, file = files_[index]] {
    if (version != version_) return;
    try {
      const auto frame = vision::openSource(file.toStdString())->next();
      queue(version, [this, file, image = frame->image] { emit loaded(file, image); });
    } catch (const Error& error) {
      queue(version, [this, message = QString::fromStdString(error.what())] { emit failed(message); });
    }
  });
}

}  // namespace mpm::gui
