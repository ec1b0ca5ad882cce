// SPDX-License-Identifier: Apache-2.0
#include "gui/models/edited_picture.h"

#include "gui/models/picture_analysis.h"

namespace mpm::gui {
namespace {

constexpr std::size_t kMaxEditors = 8;  // each keeps a label map and its history

}  // namespace

LabelEditor* EditedPicture::editor() {
  const auto found = editors_.find(name_);
  return found == editors_.end() ? nullptr : &found->second;
}

int EditedPicture::ask(const QString& name) {
  wanted_ = name;
  return ++questions_;
}

bool EditedPicture::show(const QString& name, const cv::Mat& image, const cv::Mat& labels, int ignore) {
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

void EditedPicture::clear() {
  name_.clear();
  frame_.reset();
  analysed_ = false;
  trained_.release();
}

void EditedPicture::keepEditorsOf(const QStringList& names) {
  std::erase_if(editors_, [&](const auto& one) { return !names.contains(one.first); });
}

bool EditedPicture::takeAnalysis(const QString& name, const LiveFramePtr& frame) {
  if (name != name_) return false;
  frame_ = frame;
  analysed_ = true;
  return true;
}

bool EditedPicture::takeTrained(const QString& name, const cv::Mat& labels) {
  if (name != name_) return false;
  trained_ = labels;
  return true;
}

// The model has classes of its own: those of the same name are shown, the others are not.
LiveFramePtr EditedPicture::predicted(const QStringList& names, int ignore) const {
  if (!frame_) return nullptr;
  auto frame = std::make_shared<LiveFrame>(*frame_);
  frame->map = frame->result.estimate.labels = !trained_.empty() ? trained_
                                               : analysed_       ? labelsIn(names, *frame_, ignore)
                                                                 : cv::Mat();
  return frame;
}

}  // namespace mpm::gui
