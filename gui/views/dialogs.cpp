// SPDX-License-Identifier: Apache-2.0
#include "gui/views/dialogs.h"

#include "gui/models/picture_store.h"

namespace mpm::gui {
namespace {

constexpr QSize kPreview(180, 180);  // px

QPixmap previewOf(const QString& path) {
  QString picture = path;
  if (QFileInfo(path).isDir()) {
    QDirIterator files(path, {"*.png", "*.jpg", "*.jpeg", "*.bmp", "*.tif", "*.tiff"}, QDir::Files);
    picture = files.next();
  }
  return QPixmap::fromImage(smallPicture(picture, kPreview));
}

}  // namespace

SettingsDialog::SettingsDialog(const QString& title, QWidget* parent) : QDialog(parent), content_(new QWidget) {
  setWindowTitle(title);
  form_ = unframed(new QFormLayout(content_));
}

void SettingsDialog::finish(std::function<QString()> refusal, QWidget* beside, const QString& accept) {
  auto* box = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  QPushButton* const ok = box->button(QDialogButtonBox::Ok);
  makePrimary(ok);
  if (!accept.isEmpty()) ok->setText(accept);
  connect(box, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(box, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* why = wrapped(new QLabel);
  setBadge(why, Badge::kWarning);
  QScrollArea* const fields = scrolled(content_);
  // The fields keep their size while the line comes and goes.
  QSizePolicy kept = why->sizePolicy();
  kept.setRetainSizeWhenHidden(true);
  why->setSizePolicy(kept);
  why->setMinimumHeight((beside ? 1 : 2) * why->fontMetrics().lineSpacing() + 4);
  const Filling top = beside ? stretched(fill(new QHBoxLayout, stretched(beside), fields)) : Filling(fields);
  fill(new QVBoxLayout(this), top, why, box)->setContentsMargins(16, 14, 16, 14);
  check_ = [ok, why, refusal = std::move(refusal)] {
    why->setText(refusal ? refusal() : QString());
    why->setVisible(!why->text().isEmpty());
    ok->setEnabled(why->text().isEmpty());
  };
  for (auto* field : findChildren<QDoubleSpinBox*>()) connect(field, &QDoubleSpinBox::valueChanged, this, check_);
  for (auto* field : findChildren<QLineEdit*>()) connect(field, &QLineEdit::textChanged, this, check_);
  for (auto* field : findChildren<QPlainTextEdit*>()) connect(field, &QPlainTextEdit::textChanged, this, check_);
  for (auto* field : findChildren<QComboBox*>()) connect(field, &QComboBox::currentIndexChanged, this, check_);
  for (auto* field : findChildren<QAbstractButton*>()) connect(field, &QAbstractButton::toggled, this, check_);
  check_();
  fitToWindow(this);
}

ExportDialog::ExportDialog(const QString& source, double from, double to, QWidget* parent)
    : SettingsDialog(tr("Export"), parent), from_(from), to_(to) {
  auto* of = wrapped(named(new QLabel(source), tr("Source: %1").arg(source)));
  of->setTextInteractionFlags(Qt::TextSelectableByMouse);
  format_ = named(new QComboBox, tr("Format"));
  format_->addItems({tr("CSV, one row per sample"), tr("JSON Lines"), tr("The chart as a PNG picture")});
  shown_ = new QRadioButton(tr("The stretch of time on show"));
  all_ = new QRadioButton(tr("Everything that is stored of it"));
  all_->setChecked(true);
  form_->addRow(tr("Source"), of);
  form_->addRow(tr("Format"), format_);
  form_->addRow(tr("Samples"), all_);
  form_->addRow(QString(), shown_);
  connect(format_, &QComboBox::currentIndexChanged, this, [this] {
    for (QRadioButton* button : {all_, shown_}) button->setEnabled(format() != Format::kChartPng);
  });
  finish({}, nullptr, tr("Save…"));
}

std::pair<UnixMs, UnixMs> ExportDialog::span() const {
  if (all_->isChecked()) return {0, INT64_MAX};
  return {static_cast<UnixMs>(from_ * 1000), static_cast<UnixMs>(std::ceil(to_ * 1000))};
}

// The desktop's own dialog has no place for a preview.
QFileDialog* pictureDialog(QWidget* parent, const QString& title, const QString& folder, const QString& filter) {
  auto* dialog = new QFileDialog(parent, title, folder, filter);
  dialog->setOption(QFileDialog::DontUseNativeDialog);
  auto* preview = named(new QLabel, QCoreApplication::translate("pictureDialog", "Preview"));
  preview->setObjectName(QStringLiteral("preview"));
  preview->setFixedSize(kPreview);
  preview->setAlignment(Qt::AlignCenter);
  auto* grid = static_cast<QGridLayout*>(dialog->layout());
  grid->addWidget(preview, 1, grid->columnCount());
  QObject::connect(dialog, &QFileDialog::currentChanged, preview,
                   [preview](const QString& path) { preview->setPixmap(previewOf(path)); });
  for (auto* list : dialog->findChildren<QTreeView*>())
    list->header()->setSectionResizeMode(QHeaderView::ResizeToContents);  // else sizes and dates are cut
  fitToWindow(dialog, QSize(820, 480));
  return dialog;
}

void askForFile(QWidget* parent, const QString& title, const QString& folder, const QString& filter,
                const std::function<void(const QString&)>& chosen) {
  auto* dialog = new QFileDialog(parent, title, folder, filter);
  QObject::connect(dialog, &QFileDialog::fileSelected, parent, chosen);
  dialog->setFileMode(QFileDialog::ExistingFile);
  openDialog(dialog);
}

void askWhereToWrite(QWidget* parent, const QString& title, const QString& proposed, const QString& filter,
                     const QString& suffix, const std::function<void(const QString&)>& chosen,
                     QFileDialog::Options options) {
  auto* dialog = new QFileDialog(parent, title, proposed, filter);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix(suffix);
  dialog->setOptions(options);
  QObject::connect(dialog, &QFileDialog::fileSelected, parent, chosen);
  openDialog(dialog);
}

QMessageBox* question(QWidget* parent, const QString& title, const QString& text,
                      const std::pair<QString, QString>& answers, Answer usual, const std::function<void()>& then) {
  auto* box = new QMessageBox(QMessageBox::NoIcon, title, text, QMessageBox::NoButton, parent);
  QPushButton* yes = box->addButton(answers.first, QMessageBox::AcceptRole);
  QPushButton* no = box->addButton(answers.second, QMessageBox::RejectRole);
  box->setDefaultButton(usual == Answer::kYes ? yes : no);
  QObject::connect(yes, &QPushButton::clicked, parent, then);
  return box;
}

void showProgress(Job* job, const QString& title, const QString& text, int others, QWidget* window) {
  constexpr int kAside = 32;
  auto* dialog = new QProgressDialog(text, QProgressDialog::tr("Cancel"), 0, 100, window);
  dialog->setWindowTitle(title);
  dialog->adjustSize();
  dialog->move(window->geometry().center() - dialog->rect().center() + QPoint(kAside, kAside) * others);
  dialog->setMinimumDuration(1000);  // most are done before anybody could read it
  dialog->setAutoClose(false);
  dialog->setAutoReset(false);
  QObject::connect(job, &Job::ended, dialog, [job, dialog] {
    dialog->disconnect(job);  // closing it cancels
    dialog->deleteLater();
    job->deleteLater();
  });
  QObject::connect(job, &Job::progressed, dialog, [dialog](int done, int of) { dialog->setValue(100 * done / of); });
  QObject::connect(dialog, &QProgressDialog::canceled, job, &Job::cancel);
}

}  // namespace mpm::gui
