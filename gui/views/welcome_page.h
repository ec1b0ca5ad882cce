// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/recents.h"

namespace mpm::gui {

/// The first page: the ways to begin.
class WelcomePage : public QWidget {
  Q_OBJECT
 public:
  explicit WelcomePage(QAction* demo, QWidget* parent = nullptr);
  void setRecents(const QVector<Recent>& recents);

 signals:
  void kindRequested(mpm::vision::SourceKind kind);
  void recentRequested(const mpm::gui::Recent& recent);

 private:
  QVBoxLayout* recents_;
  QWidget* recents_box_;
};

}  // namespace mpm::gui
