// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/recents.h"

namespace mpm::gui {

/// The first page: the ways to begin.
class WelcomePage : public QWidget {
  Q_OBJECT
 public:
  explicit WelcomePage(QWidget* parent = nullptr);
  void setRecents(const QVector<Recent>& recents);

 signals:
  void demoRequested();
  void kindRequested(mpm::vision::SourceKind kind);
  void recentRequested(const mpm::gui::Recent& recent);

 private:
  QPushButton* demo_;
  QVBoxLayout* recents_;
  QWidget* recents_box_;
};

}  // namespace mpm::gui
