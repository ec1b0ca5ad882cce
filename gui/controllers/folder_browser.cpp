// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/folder_browser.h"

#include "gui/models/recents.h"
#include "vision/times/archive.h"

namespace mpm::gui {

FolderBrowser::FolderBrowser(FolderBar* bar, LiveMonitor* live, QAction* pause, QObject* parent)
    : QObject(parent), bar_(bar), live_(live), pause_(pause), thread_(this, [this](const QString& why) {
        emit chosen({});
        emit said(why, Badge::kBad);
      }) {
  connect(bar_, &FolderBar::picked, this, &FolderBrowser::show);
}

void FolderBrowser::setSource(const QString& source, const std::optional<vision::TimeOptions>& times) {
  thread_.giveUp();
  bar_->setPictures({});
  const vision::SourceSpec spec = sourceSpec(source);
  if (!spec.isFolder()) return;
  thread_.run([this, spec, times] {
    std::vector<FolderPicture> pictures;
    try {
      std::optional<vision::PictureTimes> known;
      if (times) known.emplace(*times);
      const std::vector<std::string> files = times ? vision::pictureFiles(spec) : vision::sourceFiles(spec);
      if (known) known->learn(files);
      for (const std::string& file : files) {
        if (!thread_.goesOn()) return;
        const auto time = known ? known->of(file) : vision::PictureTime();
        if (time) pictures.push_back({QString::fromStdString(file), time->time});
      }
    } catch (const Error&) {  // who opens the source reports it
    }
    std::ranges::stable_sort(pictures, {}, &FolderPicture::time);  // as an archive is read
    const charts::OptionalClock clock = times ? charts::OptionalClock(times->clock()) : std::nullopt;
    thread_.answer([this, pictures, clock] { bar_->setPictures(pictures, clock); });
  });
}

QStringList FolderBrowser::files() const {
  QStringList files;
  for (const FolderPicture& picture : bar_->pictures()) files << picture.file;
  return files;
}

void FolderBrowser::follow(const LiveFrame& frame) {
  const QString file = QString::fromStdString(frame.result.frame.file);
  const auto& all = bar_->pictures();
  // They come in this order, so the search is short.
  auto found = std::ranges::find(all.begin() + std::min<std::ptrdiff_t>(bar_->current(), std::ssize(all)), all.end(),
                                 file, &FolderPicture::file);
  if (found == all.end()) found = std::ranges::find(all, file, &FolderPicture::file);
  if (found != all.end()) bar_->setCurrent(static_cast<int>(found - all.begin()), frame.result.frame.time);
}

void FolderBrowser::step(int by) {
  const int last = static_cast<int>(bar_->pictures().size()) - 1;
  const int index = std::clamp(bar_->current() + by, 0, std::max(0, last));
  if (last >= 0 && index != bar_->current()) show(index);
}

void FolderBrowser::show(int index) {
  if (live_->session().framesCome()) pause_->setChecked(true);
  const FolderPicture& picture = bar_->pictures()[static_cast<std::size_t>(index)];
  emit chosen(picture.file);  // which may end a stored picture: the bar goes back to the one behind it
  bar_->setCurrent(index);
  thread_.giveUp();  // if several wait, only the last is read
  thread_.run([this, file = picture.file, time = picture.time] {
    const auto frame = vision::openSource(file.toStdString())->next();
    thread_.answer([this, file, time, image = frame->image] { live_->showPicture(file, image, time); });
  });
}

}  // namespace mpm::gui
