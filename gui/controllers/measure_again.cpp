// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/measure_again.h"

#include "gui/views/look.h"
#include "gui/views/questions.h"

namespace mpm::gui {

bool MeasureAgain::anyStored() const {
  const auto record = history_->sources()->current();
  return record && record->archive && record->last != 0 && record->name == live_->session().source();
}

void MeasureAgain::ask() {
  if (anyStored()) return offer();
  emit said(tr("Open a folder of pictures with times first: once they are stored, they can be measured again"),
            Badge::kNone);
}

void MeasureAgain::offer() {
  if (!anyStored()) return;
  delete question_;
  question_ = question(window_, tr("Measure again"), tr("Measure all pictures of this folder again?"),
                       {tr("Measure again"), tr("Not now")}, Answer::kYes, [this] { camera_->measureAgain(); });
  question_->setInformativeText(
      tr("With the model, regions and states of now, as a series of their own. What is stored stays."));
  openDialog(question_);
}

}  // namespace mpm::gui
