// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/folder_view.h"

#include "gui/models/readout.h"
#include "gui/models/recents.h"
#include "mpm/error.hpp"
#include "vision/sources/source.h"

namespace mpm::gui {

FolderView::FolderView(FolderBar* bar, LiveMonitor* live, QAction* pause, QObject* parent)
    : QObject(parent), bar_(bar), live_(live), pause_(pause), thread_(this) {
  connect(bar_, &FolderBar::picked, this, &FolderView::show);
  connect(pause_, &QAction::toggled, this, [this](bool on) {
    if (!on) wanted_.clear();
  });
}

void FolderView::setSource(const QString& source) {
  const int version = ++version_;
  setFiles({});
  const vision::SourceSpec spec = sourceSpec(source);
  if (spec.kind != vision::SourceKind::kFolder && spec.kind != vision::SourceKind::kGlob) return;
  thread_.run([this, version, spec] {
    QStringList files;
    try {
      files = texts(vision::sourceFiles(spec));
    } catch (const Error&) {  // who opens the source reports it
    }
    thread_.answer([this, version, files] {
      if (version == version_) setFiles(files);
    });
  });
}

void FolderView::setFiles(const QStringList& files) {
  files_ = files;
  wanted_.clear();
  bar_->setFiles(files);
}

void FolderView::follow(const LiveFrame& frame) {
  const QString file = QString::fromStdString(frame.result.frame.file);
  if (!wanted_.isEmpty() && wanted_ != file) return;
  wanted_.clear();
  // They come in this order, so the search is short.
  qsizetype index = files().indexOf(file, std::max(0, bar_->current()));
  if (index < 0) index = files().indexOf(file);
  if (index >= 0) bar_->setCurrent(static_cast<int>(index));
}

void FolderView::step(int by) {
  const int last = static_cast<int>(files().size()) - 1, index = std::clamp(bar_->current() + by, 0, std::max(0, last));
  if (last < 0 || index == bar_->current()) return;
  bar_->setCurrent(index);
  show(index);
}

void FolderView::show(int index) {
  if (live_->session().framesCome()) pause_->setChecked(true);
  wanted_ = files()[index];
  emit chosen();
  // Of several that wait only the last is read.
  thread_.run([this, version = ++version_, file = wanted_] {
    if (version != version_) return;
    const auto answer = [this, version](auto show) {
      thread_.answer([this, version, show = std::move(show)] {
        if (version == version_) show();
      });
    };
    try {
      const auto frame = vision::openSource(file.toStdString())->next();
      answer([this, file, image = frame->image] { live_->showPicture(file, image); });
    } catch (const Error& error) {
      answer([this, message = QString::fromStdString(error.what())] {
        wanted_.clear();
        emit said(message, Badge::kBad);
      });
    }
  });
}

}  // namespace mpm::gui
