// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QWidget>

#include "gui/models/recents.h"

class QVBoxLayout;

namespace mpm::gui {

/// What a person sees first: the ways to begin.
class WelcomePage : public QWidget {
  Q_OBJECT
 public:
  explicit WelcomePage(QWidget* parent = nullptr);
  void setRecents(const QVector<Recent>& recents);
  /// Begins the demo: the one button a newcomer needs.
  QWidget* demoButton() const { return demo_; }

 signals:
  void demoRequested();
  void kindRequested(mpm::vision::SourceKind kind);
  void recentRequested(const mpm::gui::Recent& recent);

 private:
  QWidget* demo_;
  QVBoxLayout* recents_;
  QWidget* recents_box_;
};

}  // namespace mpm::gui
