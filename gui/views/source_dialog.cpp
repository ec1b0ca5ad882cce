// SPDX-License-Identifier: Apache-2.0
#include "gui/views/source_dialog.h"

#include <QApplication>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPointer>
#include <QPushButton>
#include <QStackedWidget>
#include <algorithm>
#include <atomic>
#include <iterator>
#include <opencv2/imgproc.hpp>
#include <thread>

#include "gui/views/look.h"
#include "mpm/error.hpp"
#include "vision/source.h"

namespace mpm::gui {

using vision::SourceKind;

namespace {

// Of the pages.
constexpr SourceKind kKinds[] = {SourceKind::kDemo,   SourceKind::kCamera, SourceKind::kVideo,
                                 SourceKind::kFolder, SourceKind::kUrl,    SourceKind::kPipeline};

int pageOf(SourceKind kind) {
  if (kind == SourceKind::kImage || kind == SourceKind::kMissing) kind = SourceKind::kVideo;
  if (kind == SourceKind::kGlob) kind = SourceKind::kFolder;
  return static_cast<int>(std::find(std::begin(kKinds), std::end(kKinds), kind) - std::begin(kKinds));
}

}  // namespace

struct SourceDialog::Trial {
  std::atomic<bool> stop = false;
};

SourceDialog::SourceDialog(SourceKind kind, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Open a source"));
  kinds_ = named(new QListWidget(this), tr("Kind of source"));
  const std::pair<Glyph, QString> names[] = {
      {Glyph::kDemo, tr("Demo street")},        {Glyph::kCamera, tr("Camera")},
      {Glyph::kVideo, tr("Video file")},        {Glyph::kFolder, tr("Image folder")},
      {Glyph::kNetwork, tr("Network address")}, {Glyph::kPipeline, tr("GStreamer")}};
  for (const auto& [glyph, name] : names) new QListWidgetItem(icon(glyph), name, kinds_);
  kinds_->setFixedWidth(kinds_->sizeHintForColumn(0) + 40);
  pages_ = new QStackedWidget(this);

  auto* demo = new QLabel(tr("A rendered street that never was, from noon to midnight and on, with every class known. "
                             "It needs no camera and no download."),
                          this);
  demo->setWordWrap(true);
  demo->setAlignment(Qt::AlignTop);
  pages_->addWidget(demo);

  auto* camera_page = new QWidget(this);
  auto* camera_form = new QFormLayout(camera_page);
  camera_ = named(new QComboBox(camera_page), tr("Camera"));
  for (const CameraDevice& device : cameras())
    camera_->addItem(QStringLiteral("%1 (%2)").arg(device.name, device.path), device.path);
  const bool any = camera_->count() > 0;
  camera_form->addRow(tr("Camera"), camera_);
  camera_->setVisible(any);
  if (!any) {
    auto* none = mutedLabel(tr("No camera was found. Plug one in and open this dialog again."), camera_page);
    none->setWordWrap(true);
    camera_form->addRow(none);
  }
  pages_->addWidget(camera_page);
  pages_->addWidget(pathPage(tr("Video file"), video_, false));
  pages_->addWidget(pathPage(tr("Folder"), folder_, true));

  auto* network = new QWidget(this);
  auto* network_form = new QFormLayout(network);
  address_ = named(new QLineEdit(network), tr("Address"));
  address_->setPlaceholderText(QStringLiteral("rtsp://192.168.1.20/stream"));
  user_ = named(new QLineEdit(network), tr("User"));
  password_ = named(new QLineEdit(network), tr("Password"));
  password_->setEchoMode(QLineEdit::Password);
  network_form->addRow(tr("Address"), address_);
  network_form->addRow(tr("User"), user_);
  network_form->addRow(tr("Password"), password_);
  auto* note = mutedLabel(
      tr("rtsp, http or https. The password is kept in memory only: never in a log, a file or the database."), network);
  note->setWordWrap(true);
  network_form->addRow(note);
  pages_->addWidget(network);

  auto* gst = new QWidget(this);
  auto* gst_form = new QFormLayout(gst);
  pipeline_ = named(new QLineEdit(gst), tr("Pipeline"));
  pipeline_->setPlaceholderText(QStringLiteral("videotestsrc ! videoconvert ! video/x-raw,format=BGR ! appsink"));
  gst_form->addRow(tr("Pipeline"), pipeline_);
  auto* gst_note = mutedLabel(tr("As for gst-launch-1.0, ending in an appsink that gets BGR frames."), gst);
  gst_note->setWordWrap(true);
  gst_form->addRow(gst_note);
  pages_->addWidget(gst);

  test_ = new QPushButton(tr("Test"), this);
  test_->setToolTip(tr("Read one frame and show it here"));
  result_ = named(new QLabel(this), tr("Result of the test"));
  result_->setWordWrap(true);
  thumbnail_ = named(new QLabel(this), tr("The frame that was read"));
  thumbnail_->setMinimumHeight(150);
  thumbnail_->setAlignment(Qt::AlignLeft | Qt::AlignTop);

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  open_ = buttons->addButton(tr("Open"), QDialogButtonBox::AcceptRole);
  makePrimary(open_);
  open_->setDefault(true);
  auto* trial = new QHBoxLayout;
  trial->addWidget(test_);
  trial->addWidget(result_, 1);
  auto* right = new QVBoxLayout;
  right->addWidget(pages_);
  right->addLayout(trial);
  right->addWidget(thumbnail_, 1);
  auto* row = new QHBoxLayout;
  row->addWidget(kinds_);
  row->addSpacing(8);
  row->addLayout(right, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(14, 14, 14, 14);
  column->addLayout(row, 1);
  column->addWidget(buttons);
  resize(620, 380);

  connect(kinds_, &QListWidget::currentRowChanged, this, [this](int index) {
    pages_->setCurrentIndex(index);
    result_->clear();
    thumbnail_->clear();
    refresh();
  });
  for (QLineEdit* field : {video_, folder_, address_, pipeline_})
    connect(field, &QLineEdit::textChanged, this, &SourceDialog::refresh);
  connect(test_, &QPushButton::clicked, this, &SourceDialog::test);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(buttons, &QDialogButtonBox::accepted, this, [this] {
    emit chosen(source());
    accept();
  });
  kinds_->setCurrentRow(pageOf(kind));
  refresh();
}

SourceDialog::~SourceDialog() {
  if (trial_) trial_->stop = true;
}

QWidget* SourceDialog::pathPage(const QString& text, QLineEdit*& field, bool folder) {
  auto* page = new QWidget(this);
  auto* form = new QFormLayout(page);
  field = named(new QLineEdit(page), text);
  auto* browse = new QPushButton(tr("Browse…"), page);
  auto* row = new QHBoxLayout;
  row->addWidget(field, 1);
  row->addWidget(browse);
  form->addRow(text, row);
  connect(browse, &QPushButton::clicked, this, [this, field, folder] {
    auto* dialog = new QFileDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(folder ? QFileDialog::Directory : QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, field, &QLineEdit::setText);
    dialog->open();
  });
  return page;
}

void SourceDialog::setSource(const QString& source) {
  const int page = pageOf(sourceSpec(source).kind);
  kinds_->setCurrentRow(page);
  switch (kKinds[page]) {
    case SourceKind::kVideo:
      video_->setText(source);
      break;
    case SourceKind::kFolder:
      folder_->setText(source);
      break;
    case SourceKind::kUrl: {
      QString address = source;
      address_->setText(address.replace(QLatin1String("://***@"), QLatin1String("://")));
      (address == source ? address_ : user_)->setFocus();
      break;
    }
    case SourceKind::kPipeline:
      pipeline_->setText(source.mid(4));
      break;
    case SourceKind::kCamera:
      camera_->setCurrentIndex(camera_->findData(source));
      break;
    default:
      break;
  }
}

QString SourceDialog::source() const {
  switch (kKinds[kinds_->currentRow()]) {
    case SourceKind::kDemo:
      return QStringLiteral("demo:");
    case SourceKind::kCamera:
      return camera_->currentData().toString();
    case SourceKind::kVideo:
      return video_->text().trimmed();
    case SourceKind::kFolder:
      return folder_->text().trimmed();
    case SourceKind::kUrl:
      return withCredentials(address_->text().trimmed(), user_->text(), password_->text());
    case SourceKind::kPipeline:
      return pipeline_->text().trimmed().isEmpty() ? QString() : QStringLiteral("gst:") + pipeline_->text().trimmed();
    default:
      return {};
  }
}

void SourceDialog::refresh() {
  const bool ready = !source().isEmpty();
  test_->setEnabled(ready);
  open_->setEnabled(ready);
}

void SourceDialog::test() {
  if (trial_) trial_->stop = true;
  trial_ = std::make_shared<Trial>();
  setBadge(result_, "");
  result_->setText(tr("Waiting for a frame…"));
  thumbnail_->clear();
  test_->setEnabled(false);
  const std::string text = source().toStdString();
  // Detached: a driver may hang for ever, and neither the dialog nor the program waits for it.
  std::thread([text, trial = trial_, dialog = QPointer<SourceDialog>(this)] {
    QImage thumbnail;
    QString message;
    try {
      vision::SourceOptions options;
      options.timeout_s = 5;
      options.stop = &trial->stop;
      const auto opened = vision::openSource(text, options);
      if (const auto frame = opened->next()) {
        cv::Mat small;
        const double scale = std::min(1.0, 240.0 / std::max(frame->image.cols, 1));
        cv::resize(frame->image, small, {}, scale, scale, cv::INTER_AREA);
        thumbnail =
            QImage(small.data, small.cols, small.rows, static_cast<qsizetype>(small.step), QImage::Format_BGR888)
                .copy();
        message = SourceDialog::tr("It works: %1 × %2 pixels").arg(frame->image.rows).arg(frame->image.cols);
      } else {
        message = SourceDialog::tr("It gave no frame");
      }
    } catch (const std::exception& error) {
      message = QString::fromStdString(vision::redactCredentials(error.what()));
    }
    if (trial->stop) return;
    QMetaObject::invokeMethod(qApp, [trial, dialog, thumbnail, message] {
      if (!dialog || dialog->trial_ != trial) return;
      setBadge(dialog->result_, thumbnail.isNull() ? "bad" : "good");
      dialog->result_->setText(message);
      if (!thumbnail.isNull()) dialog->thumbnail_->setPixmap(QPixmap::fromImage(thumbnail));
      dialog->refresh();
      emit dialog->tested(!thumbnail.isNull());
    });
  }).detach();
}

QString SourceDialog::resultText() const { return result_->text(); }
bool SourceDialog::hasThumbnail() const { return !thumbnail_->pixmap(Qt::ReturnByValue).isNull(); }

}  // namespace mpm::gui
