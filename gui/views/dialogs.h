// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/worker.h"

namespace mpm::gui {

/// A file dialog that begins in `folder` (empty: where the program was started) and shows the marked picture; of a
/// folder, one of its pictures.
QFileDialog* pictureDialog(QWidget* parent, const QString& title, const QString& folder, const QString& filter = {});
/// Asks for a file that is there.
void askForFile(QWidget* parent, const QString& title, const QString& folder, const QString& filter,
                const std::function<void(const QString& file)>& chosen);
/// Asks for a file to be written. `suffix`: of a name that has none.
void askWhereToWrite(QWidget* parent, const QString& title, const QString& proposed, const QString& filter,
                     const QString& suffix, const std::function<void(const QString& file)>& chosen,
                     QFileDialog::Options options = {});

enum class Answer { kYes, kNo };
/// A question with these words for yes and no, and the answer to Enter; to be opened. `then`: on yes.
QMessageBox* question(QWidget* parent, const QString& title, const QString& text,
                      const std::pair<QString, QString>& answers, Answer usual, const std::function<void()>& then);

/// Says in a dialog how far a job is, and cancels it where that is asked for. Both are deleted once the job has ended.
/// `others`: such dialogs that are open already; each is seen.
void showProgress(Job* job, const QString& title, const QString& text, int others, QWidget* window);

}  // namespace mpm::gui
