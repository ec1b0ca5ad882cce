// SPDX-License-Identifier: Apache-2.0
#include "gui/models/patch_selection.h"

namespace mpm::gui {

void PatchSelection::point(std::optional<int> token, std::optional<QPointF> cursor) {
  if (pointed_ == token && cursor_ == cursor) return;
  pointed_ = token;
  cursor_ = cursor;
  emit changed();
}

void PatchSelection::togglePin(std::optional<int> token) {
  pinned_ = token == pinned_ ? std::nullopt : token;
  emit changed();
}

void PatchSelection::setStep(int step) {
  if (step == step_) return;
  step_ = step;
  emit changed();
}

void PatchSelection::move(int dx, int dy, int columns, int rows) {
  if (columns < 1 || rows < 1) return;
  const int start = token().value_or((rows / 2) * columns + columns / 2);
  const bool first = !token();
  const int x = std::clamp(start % columns + (first ? 0 : dx), 0, columns - 1);
  const int y = std::clamp(start / columns + (first ? 0 : dy), 0, rows - 1);
  const int next = y * columns + x;
  if (pinned_) pinned_ = next;
  pointed_ = next;
  cursor_ = QPointF((x + 0.5) / columns, (y + 0.5) / rows);
  emit changed();
}

void PatchSelection::limit(int tokens) {
  const auto gone = [tokens](std::optional<int> token) { return token && *token >= tokens; };
  if (!gone(pointed_) && !gone(pinned_)) return;
  if (gone(pointed_)) pointed_.reset();
  if (gone(pinned_)) pinned_.reset();
  emit changed();
}

}  // namespace mpm::gui
