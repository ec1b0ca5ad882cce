// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/picture_suggestions.h"

#include "base/quantiles.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

constexpr int kSuggestions = 3;
constexpr int kCandidates = 40;  // each takes the encoder about as long as a frame of the live view

// A stored picture, or a copy in `folder` where it shows what must not be seen by now. Empty: it cannot be read.
QString coveredFile(const QString& picture, const monitor::PrivacyOptions& hidden, const QString& folder) try {
  const monitor::StoredFrame stored = monitor::readStored(picture.chopped(4).toStdString());
  if (!stored.showsOf(hidden).on()) return picture;
  const QString copy = QStringLiteral("%1/%2").arg(folder, QFileInfo(picture).fileName());
  vision::writePicture(copy.toStdString(), stored.picture(".png", hidden), Readers::kGroup);
  return copy;
} catch (const Error&) {
  return {};
}

}  // namespace

PictureSuggestions::PictureSuggestions(const SourcePictures& pictures, const OnShow* on_show, LabelStore* store,
                                       LiveTrainer* trainer, LabelPicturesPanel* panel, QObject* parent)
    : QObject(parent), pictures_(pictures), on_show_(on_show), store_(store), trainer_(trainer), panel_(panel) {
  connect(trainer, &LiveTrainer::suggested, this, [this](const QStringList& files) {
    comparing_ = false;
    panel_->setSuggestions(files, files.isEmpty()
                                      ? tr("All pictures are like one that is labelled")
                                      : tr("These differ most from what is labelled. Press one to label it"));
  });
  connect(trainer, &LiveTrainer::failed, this, &PictureSuggestions::end);
}

void PictureSuggestions::end() {
  if (std::exchange(comparing_, false)) panel_->setSuggestions({}, {});
}

void PictureSuggestions::look(const QStringList& known, const std::function<TrainerJob()>& job) {
  const auto privacy = pictures_.privacy();
  QStringList files = privacy ? pictures_.stored() : QStringList();
  // The files of an archive show what is hidden; the one that is on show does not.
  const bool whole = privacy && !privacy->on();
  if (whole) files += pictures_.ofFolder();
  QStringList candidates;
  for (int i = 0; i < files.size(); ++i) {
    if (isInSpread(i, static_cast<int>(files.size()), kCandidates) &&
        !known.contains(QFileInfo(files[i]).completeBaseName()))
      candidates << files[i];
  }
  const LiveFramePtr frame = on_show_->frame();
  const bool is_file = frame && whole && !frame->result.frame.file.empty();
  const LiveFramePtr live = is_file ? nullptr : frame;
  if (candidates.isEmpty() && !live) {
    return emit said(tr("There is nothing new to choose from: open a folder or a camera, or store pictures of it"),
                     Badge::kWarning);
  }
  comparing_ = true;
  const int count = static_cast<int>(candidates.size()) + (live ? 1 : 0);
  panel_->setSuggestions({}, tr("Comparing %n picture(s)…", nullptr, count));
  const auto compared = std::make_shared<QStringList>();
  const QString folder = scratch_.path();
  store_->look(
      [=](const vision::LabelFolder&) {
        for (const QString& file : candidates) {
          const QString shown = whole ? file : coveredFile(file, *privacy, folder);
          if (!shown.isEmpty()) *compared << shown;
        }
        if (!live) return;
        const QString file = QStringLiteral("%1/%2.png").arg(folder, takenName(*live));
        vision::writePicture(file.toStdString(), live->image(), live->result.readers());
        *compared << file;
      },
      [this, compared, job] {
        if (comparing_) trainer_->suggest(job(), *compared, kSuggestions);
      });
}

}  // namespace mpm::gui
