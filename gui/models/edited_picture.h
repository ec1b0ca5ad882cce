// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/label_maps.h"
#include "gui/models/live_frame.h"

namespace mpm::gui {

/// The picture that is labelled, what a model makes of it, and the labels of pictures that were on show before, so that
/// each stroke of theirs can still be undone. A picture is read on another thread: only the last one that was asked for
/// is shown.
class EditedPicture {
 public:
  const QString& name() const { return name_; }  ///< empty: none is on show
  cv::Mat image() const { return frame_ ? frame_->image() : cv::Mat(); }
  /// Null: none is on show, or labels are being rewritten.
  LabelEditor* editor();

  /// Asks for a picture: the number of the question.
  int ask(const QString& name);
  bool isAsked(int question) const { return question == questions_; }
  /// Asked for and not on show yet; empty: none is.
  const QString& wanted() const { return wanted_; }

  /// Shows a picture. True: its editor is new, with these labels; else they are those of its strokes.
  bool show(const QString& name, const cv::Mat& image, const cv::Mat& labels, int ignore);
  /// No picture is on show.
  void clear();
  /// No editor is left that could write old labels over new ones.
  void forgetEditors() { editors_.clear(); }
  /// Pictures that are gone need no editor.
  void keepEditorsOf(const QStringList& names);

  /// What a model makes of the picture: its clusters and its labels. Of another picture: nothing happens, false.
  bool takeAnalysis(const QString& name, const LiveFramePtr& frame);
  /// The labels that the trainer predicts; CV_8U. The same.
  bool takeTrained(const QString& name, const cv::Mat& labels);
  /// The picture with the labels that the trainer predicts, or with those of the model that the classes `names` know;
  /// null: none is on show. `ignore`: the label of all others.
  LiveFramePtr predicted(const QStringList& names, int ignore) const;

 private:
  QString name_, wanted_;
  int questions_ = 0;
  std::map<QString, LabelEditor> editors_;
  LiveFramePtr frame_;     // the picture alone, then with what a model makes of it
  bool analysed_ = false;  // it is that
  cv::Mat trained_;        // empty: not yet
};

}  // namespace mpm::gui
