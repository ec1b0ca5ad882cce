// SPDX-License-Identifier: Apache-2.0
#include "gui/models/labelled_picture.h"

#include "gui/models/picture_analysis.h"

namespace mpm::gui {
namespace {

constexpr std::size_t kMaxEditors = 8;  // each keeps a label map and its history

}  // namespace

LabelEditor* LabelledPicture::editor() {
  const auto found = editors_.find(name_);
  return found == editors_.end() ? nullptr : &found->second;
}

int LabelledPicture::ask(const QString& name) {
  wanted_ = name;
  return ++questions_;
}

bool LabelledPicture::show(const QString& name, const cv::Mat& image, const cv::Mat& labels, int ignore) {
  wanted_.clear();
  name_ = name;
  frame_ = makeLiveFrame(image);
  analysed_ = false;
  trained_.release();
  if (editors_.contains(name)) return false;
  if (editors_.size() >= kMaxEditors) editors_.erase(editors_.begin());
  editors_.try_emplace(name, labels, ignore);
  return true;
}

void LabelledPicture::clear() {
  name_.clear();
  frame_.reset();
  analysed_ = false;
  trained_.release();
}

void LabelledPicture::keepEditorsOf(const QStringList& names) {
  std::erase_if(editors_, [&](const auto& one) { return !names.contains(one.first); });
}

bool LabelledPicture::takeAnalysis(const QString& name, const LiveFramePtr& frame) {
  if (name != name_) return false;
  frame_ = frame;
  analysed_ = true;
  return true;
}

bool LabelledPicture::takeTrained(const QString& name, const cv::Mat& labels) {
  if (name != name_) return false;
  trained_ = labels;
  return true;
}

// The model has classes of its own: those of the same name are shown, the others are not.
LiveFramePtr LabelledPicture::predicted(const QStringList& names, int ignore) const {
  if (!frame_) return nullptr;
  auto frame = std::make_shared<LiveFrame>(*frame_);
  frame->map = frame->result.estimate.labels = !trained_.empty() ? trained_
                                               : analysed_       ? labelsIn(names, *frame_, ignore)
                                                                 : cv::Mat();
  return frame;
}

}  // namespace mpm::gui
