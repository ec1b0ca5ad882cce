// SPDX-License-Identifier: Apache-2.0
#include "gui/views/source_dialog.h"

#include <filesystem>
#include <opencv2/imgproc.hpp>

#include "gui/views/fields.h"
#include "gui/views/file_dialogs.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "mpm/error.hpp"

namespace mpm::gui {

using vision::SourceKind;

namespace {

constexpr int kTestMs = 5000;  // for the source to open, and for its first frame

// The kind of source of each page.
constexpr SourceKind kKinds[] = {SourceKind::kDemo,   SourceKind::kCamera, SourceKind::kVideo,
                                 SourceKind::kFolder, SourceKind::kUrl,    SourceKind::kPipeline};

int pageOf(SourceKind kind) {
  if (kind == SourceKind::kImage || kind == SourceKind::kMissing) kind = SourceKind::kVideo;
  if (kind == SourceKind::kGlob) kind = SourceKind::kFolder;
  return static_cast<int>(std::find(std::begin(kKinds), std::end(kKinds), kind) - std::begin(kKinds));
}

}  // namespace

SourceDialog::SourceDialog(SourceKind kind, QWidget* parent)
    : QDialog(parent),
      kinds_(named(new QListWidget, tr("Kind of source"))),
      user_(named(new QLineEdit, tr("User"))),
      password_(named(new QLineEdit, tr("Password"))),
      pages_(new QStackedWidget),
      camera_(named(new QComboBox, tr("Camera"))),
      test_(pushButton(tr("Test"), tr("Read one frame and show it here"), this, &SourceDialog::test)),
      result_(wrapped(namedValue(new QLabel, tr("Result of the test")))),
      thumbnail_(namedValue(new QLabel, tr("The frame that was read"))),
      open_(new QPushButton(tr("Open"))) {
  setWindowTitle(tr("Open a source"));
  const std::pair<const char*, QString> names[] = {{"demo", tr("Demo street")},        {"camera", tr("Camera")},
                                                   {"video", tr("Video file")},        {"folder", tr("Image folder")},
                                                   {"network", tr("Network address")}, {"pipeline", tr("GStreamer")}};
  for (const auto& [glyph, name] : names) new QListWidgetItem(icon(glyph), name, kinds_);
  kinds_->setFixedWidth(kinds_->sizeHintForColumn(0) + 40);

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
  for (const CameraDevice& device : cameras())
    camera_->addItem(QStringLiteral("%1 (%2)").arg(device.name, device.path), device.path);
  if (camera_->count() == 0) note(camera, tr("No camera was found. Plug one in and open this dialog again."));
  camera->addRow(tr("Camera"), camera_);
  camera_->setEnabled(camera_->count() > 0);
  edits_[SourceKind::kVideo] = pathField(page(), tr("Video file"), QFileDialog::ExistingFile);
  edits_[SourceKind::kFolder] = pathField(page(), tr("Folder"), QFileDialog::Directory);
  QFormLayout* network = page();
  edits_[SourceKind::kUrl] = field(network, tr("Address"), "rtsp://192.168.1.20/stream");
  network->addRow(tr("User"), user_);
  network->addRow(tr("Password"), password_);
  password_->setEchoMode(QLineEdit::Password);
  note(network,
       tr("rtsp, http or https. The password is kept in memory only: never in a log, a file or the database."));
  QFormLayout* gst = page();
  edits_[SourceKind::kPipeline] =
      field(gst, tr("Pipeline"), "videotestsrc ! videoconvert ! video/x-raw,format=BGR ! appsink");
  note(gst, tr("As for gst-launch-1.0, ending in an appsink that gets BGR frames."));

  thumbnail_->setMinimumHeight(150);
  thumbnail_->setAlignment(Qt::AlignLeft | Qt::AlignTop);

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  buttons->addButton(open_, QDialogButtonBox::AcceptRole);
  makePrimary(open_);
  QBoxLayout* right =
      fill(new QVBoxLayout, pages_, fill(new QHBoxLayout, test_, stretched(result_)), stretched(thumbnail_));
  QBoxLayout* row = fill(new QHBoxLayout, kinds_, stretched(right));
  row->setSpacing(14);
  fill(new QVBoxLayout(this), stretched(row), buttons)->setContentsMargins(14, 14, 14, 14);
  resize(620, 380);
  test_->setAutoDefault(false);
  for (auto* browse : pages_->findChildren<QPushButton*>()) browse->setAutoDefault(false);
  open_->setDefault(true);  // Enter presses it, from any field; a button that is in no dialog yet cannot be its default

  connect(kinds_, &QListWidget::currentRowChanged, this, [this](int index) {
    pages_->setCurrentIndex(index);
    refresh();
  });
  for (const auto* edit : pages_->findChildren<QLineEdit*>())
    connect(edit, &QLineEdit::textChanged, this, &SourceDialog::refresh);
  connect(camera_, &QComboBox::currentIndexChanged, this, &SourceDialog::refresh);
  connect(&look_, &QTimer::timeout, this, &SourceDialog::lookAtTrial);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(buttons, &QDialogButtonBox::accepted, this, [this] {
    emit chosen(source());
    accept();
  });
  kinds_->setCurrentRow(pageOf(kind));
}

QLineEdit* SourceDialog::pathField(QFormLayout* form, const QString& name, QFileDialog::FileMode mode) {
  auto* field = named(new QLineEdit, name);
  auto* browse = pushButton(tr("Browse…"), {}, this, [this, field, mode] {
    QString known;
    for (const QLineEdit* one : {field, edits_[SourceKind::kFolder], edits_[SourceKind::kVideo]})
      if (known.isEmpty()) known = sourceFolder(one->text());
    auto* dialog = pictureDialog(this, field->accessibleName(), known);
    dialog->setFileMode(mode);
    connect(dialog, &QFileDialog::fileSelected, field, &QLineEdit::setText);
    openDialog(dialog);
  });
  form->addRow(name, fill(new QHBoxLayout, field, browse));
  return field;
}

void SourceDialog::setSource(const QString& source) {
  const int page = fillIn(source);
  kinds_->setCurrentRow(page);
  if (kKinds[page] == SourceKind::kUrl)
    (source.contains(QLatin1String("://***@")) ? user_ : edits_[SourceKind::kUrl])->setFocus();
}

void SourceDialog::setKnown(const QStringList& sources) {
  for (auto source = sources.rbegin(); source != sources.rend(); ++source) fillIn(*source);
}

// The page of its kind.
int SourceDialog::fillIn(const QString& source) {
  const int page = pageOf(sourceSpec(source).kind);
  const SourceKind kind = kKinds[page];
  if (kind == SourceKind::kCamera) camera_->setCurrentIndex(std::max(0, camera_->findData(source)));
  if (const auto edit = edits_.find(kind); edit != edits_.end()) {
    edit->second->setText(kind == SourceKind::kPipeline
                              ? source.mid(4)
                              : QString(source).replace(QLatin1String("://***@"), QLatin1String("://")));
  }
  return page;
}

QString SourceDialog::source() const {
  const SourceKind kind = kKinds[kinds_->currentRow()];
  if (kind == SourceKind::kDemo) return QStringLiteral("demo:");
  if (kind == SourceKind::kCamera) return camera_->currentData().toString();
  const QString text = edits_.at(kind)->text().trimmed();
  if (kind == SourceKind::kUrl) return withCredentials(text, user_->text(), password_->text());
  return kind == SourceKind::kPipeline && !text.isEmpty() ? QStringLiteral("gst:") + text : text;
}

// The test of one source says nothing of another.
void SourceDialog::refresh() {
  look_.stop();
  trial_.reset();
  setValue(result_, {});
  thumbnail_->clear();
  for (QPushButton* button : {test_, open_}) button->setEnabled(!source().isEmpty());
}

void SourceDialog::test() {
  if (look_.isActive()) return;
  setValue(result_, tr("Waiting for a frame…"), Badge::kNone);
  thumbnail_->clear();
  const vision::SourceSpec spec = sourceSpec(source());
  std::error_code unknown;
  if (spec.kind == SourceKind::kMissing &&
      std::filesystem::status(spec.target, unknown).type() == std::filesystem::file_type::not_found)
    return showTested({}, tr("There is no file or folder %1").arg(QString::fromStdString(spec.target)));
  try {
    trial_.emplace(
        spec.nameInMessages(),
        [spec](const vision::SourceOptions& options) { return vision::openUnguarded(spec, options); },
        vision::SourceOptions{.timeout_s = kTestMs / 1e3});
  } catch (const Error& error) {
    return showTested({}, QString::fromStdString(error.what()));
  }
  waiting_.start();
  look_.start(50);
}

void SourceDialog::lookAtTrial() {
  using Kind = vision::SourceReader::Event::Kind;
  const vision::SourceReader::Event event = trial_->next(std::chrono::milliseconds(0));
  if (event.kind == Kind::kOpened) waiting_.start();
  if (event.kind == Kind::kFrame) {
    const cv::Mat& image = event.frame.image;
    cv::Mat small;
    const double scale = std::min(1.0, 240.0 / std::max(image.cols, 1));
    cv::resize(image, small, {}, scale, scale, cv::INTER_AREA);
    const QImage thumbnail(small.data, small.cols, small.rows, static_cast<qsizetype>(small.step),
                           QImage::Format_BGR888);
    showTested(QPixmap::fromImage(thumbnail),
               tr("It works: %1 × %2 px (width × height)").arg(image.cols).arg(image.rows));
  } else if (event.kind == Kind::kEnded) {
    showTested({}, tr("It gave no frame"));
  } else if (event.kind == Kind::kFailed) {
    showTested({}, QString::fromStdString(event.text));
  } else if (waiting_.elapsed() > kTestMs) {
    showTested({}, tr("No frame came within %1 s").arg(kTestMs / 1000));
  }
}

void SourceDialog::showTested(const QPixmap& thumbnail, const QString& message) {
  refresh();
  setValue(result_, message, thumbnail.isNull() ? Badge::kBad : Badge::kGood);
  thumbnail_->setPixmap(thumbnail);
  emit tested(!thumbnail.isNull());
}

}  // namespace mpm::gui
