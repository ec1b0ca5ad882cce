// SPDX-License-Identifier: Apache-2.0
#include "gui/views/source_dialog.h"

#include <QApplication>
#include <QComboBox>
#include <QDialogButtonBox>
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
  kinds_ = named(new QListWidget, tr("Kind of source"));
  const std::pair<Glyph, QString> names[] = {
      {Glyph::kDemo, tr("Demo street")},        {Glyph::kCamera, tr("Camera")},
      {Glyph::kVideo, tr("Video file")},        {Glyph::kFolder, tr("Image folder")},
      {Glyph::kNetwork, tr("Network address")}, {Glyph::kPipeline, tr("GStreamer")}};
  for (const auto& [glyph, name] : names) new QListWidgetItem(icon(glyph), name, kinds_);
  kinds_->setFixedWidth(kinds_->sizeHintForColumn(0) + 40);
  pages_ = new QStackedWidget;

  const auto page = [this] {
    auto* widget = new QWidget;
    pages_->addWidget(widget);
    return new QFormLayout(widget);
  };
  const auto field = [](QFormLayout* form, const QString& name, const char* example = "") {
    auto* edit = named(new QLineEdit, name);
    edit->setPlaceholderText(QString::fromLatin1(example));
    form->addRow(name, edit);
    return edit;
  };
  const auto note = [](QFormLayout* form, const QString& text) { form->addRow(wrapped(mutedLabel(text))); };

  note(page(), tr("A rendered street that never was, from noon to midnight and on, with every class known. It needs no "
                  "camera and no download."));
  QFormLayout* camera = page();
  camera_ = named(new QComboBox, tr("Camera"));
  for (const CameraDevice& device : cameras())
    camera_->addItem(QStringLiteral("%1 (%2)").arg(device.name, device.path), device.path);
  if (camera_->count() == 0) note(camera, tr("No camera was found. Plug one in and open this dialog again."));
  camera->addRow(tr("Camera"), camera_);
  camera_->setEnabled(camera_->count() > 0);
  video_ = pathField(page(), tr("Video file"), QFileDialog::ExistingFile);
  folder_ = pathField(page(), tr("Folder"), QFileDialog::Directory);
  QFormLayout* network = page();
  address_ = field(network, tr("Address"), "rtsp://192.168.1.20/stream");
  user_ = field(network, tr("User"));
  password_ = field(network, tr("Password"));
  password_->setEchoMode(QLineEdit::Password);
  note(network,
       tr("rtsp, http or https. The password is kept in memory only: never in a log, a file or the database."));
  QFormLayout* gst = page();
  pipeline_ = field(gst, tr("Pipeline"), "videotestsrc ! videoconvert ! video/x-raw,format=BGR ! appsink");
  note(gst, tr("As for gst-launch-1.0, ending in an appsink that gets BGR frames."));

  test_ = new QPushButton(tr("Test"));
  test_->setToolTip(tr("Read one frame and show it here"));
  result_ = wrapped(named(new QLabel, tr("Result of the test")));
  thumbnail_ = named(new QLabel, tr("The frame that was read"));
  thumbnail_->setMinimumHeight(150);
  thumbnail_->setAlignment(Qt::AlignLeft | Qt::AlignTop);

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  open_ = buttons->addButton(tr("Open"), QDialogButtonBox::AcceptRole);
  makePrimary(open_);
  open_->setDefault(true);
  QBoxLayout* trial = fill(new QHBoxLayout, test_, result_);
  trial->setStretch(1, 1);
  QBoxLayout* right = fill(new QVBoxLayout, pages_, trial, thumbnail_);
  right->setStretch(2, 1);
  QBoxLayout* row = fill(new QHBoxLayout, kinds_, right);
  row->setSpacing(14);
  row->setStretch(1, 1);
  QBoxLayout* column = fill(new QVBoxLayout(this), row, buttons);
  column->setContentsMargins(14, 14, 14, 14);
  column->setStretch(0, 1);
  resize(620, 380);

  connect(kinds_, &QListWidget::currentRowChanged, this, [this](int index) {
    pages_->setCurrentIndex(index);
    result_->clear();
    thumbnail_->clear();
    refresh();
  });
  for (QLineEdit* edit : {video_, folder_, address_, pipeline_})
    connect(edit, &QLineEdit::textChanged, this, &SourceDialog::refresh);
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

QLineEdit* SourceDialog::pathField(QFormLayout* form, const QString& name, QFileDialog::FileMode mode) {
  auto* field = named(new QLineEdit, name);
  auto* browse = new QPushButton(tr("Browse…"));
  form->addRow(name, fill(new QHBoxLayout, field, browse));
  connect(browse, &QPushButton::clicked, this, [this, field, mode] {
    auto* dialog = new QFileDialog(this);
    dialog->setFileMode(mode);
    connect(dialog, &QFileDialog::fileSelected, field, &QLineEdit::setText);
    openDialog(dialog);
  });
  return field;
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
