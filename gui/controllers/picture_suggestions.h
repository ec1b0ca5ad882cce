// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/source_pictures.h"
#include "gui/models/on_show.h"
#include "gui/models/trainer.h"
#include "gui/views/label_pictures_panel.h"

namespace mpm::gui {

/// Suggests pictures to label next: those of the source, and the one on show, that differ most from what is labelled.
class PictureSuggestions : public QObject {
  Q_OBJECT
 public:
  PictureSuggestions(const SourcePictures& pictures, const OnShow* on_show, LabelStore* store, LiveTrainer* trainer,
                     LabelPicturesPanel* panel, QObject* parent);

  /// Leaves out pictures whose name is one of `known`. `job`: asked for once the files are there.
  void look(const QStringList& known, const std::function<TrainerJob()>& job);
  /// What is being compared is not wanted any more.
  void end();

 signals:
  void said(const QString& text, mpm::gui::Badge badge);

 private:
  const SourcePictures pictures_;
  const OnShow* const on_show_;
  LabelStore* const store_;
  LiveTrainer* const trainer_;
  LabelPicturesPanel* const panel_;
  bool comparing_ = false;
  QTemporaryDir scratch_;  // of pictures that are in no file, or in one that shows what must not be seen
};

}  // namespace mpm::gui
