// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/worker.h"

namespace mpm::gui {

enum class Answer { kYes, kNo };

/// A question with these words for yes and no, and the answer to Enter; to be opened. `then`: on yes.
QMessageBox* question(QWidget* parent, const QString& title, const QString& text,
                      const std::pair<QString, QString>& answers, Answer usual, const std::function<void()>& then);

/// Says in a dialog how far a job is, and cancels it where that is asked for. Both are deleted once the job has ended.
/// `others`: such dialogs that are open already; each is seen.
void showProgress(Job* job, const QString& title, const QString& text, int others, QWidget* window);

}  // namespace mpm::gui
