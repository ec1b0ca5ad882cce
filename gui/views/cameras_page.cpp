// SPDX-License-Identifier: Apache-2.0
#include "gui/views/cameras_page.h"

#include "gui/views/labels.h"

namespace mpm::gui {
namespace {

constexpr int kPeriodMs = 3000;

}  // namespace

CamerasPage::CamerasPage(QWidget* parent) : QListWidget(parent), thread_(this, {}, QThread::LowPriority) {
  named(this, tr("Cameras"));
  setViewMode(QListView::IconMode);
  setMovement(QListView::Static);
  setResizeMode(QListView::Adjust);
  setEditTriggers(QListView::NoEditTriggers);
  setIconSize(StoredCamera::kPicture);
  setSpacing(6);
  for (const auto by : {&QListView::clicked, &QListView::activated}) {
    connect(this, by, this, [this](const QModelIndex& index) {
      if (allShown()) emit chosen(index.row());
    });
  }
  timer_.setSingleShot(true);
  timer_.callOnTimeout(this, &CamerasPage::read);
}

void CamerasPage::open(const QString& file) {
  const monitor::WatchFile said = monitor::readWatchFile(file.toStdString());
  cameras_.clear();
  clear();
  for (const monitor::WrittenCamera& one : said.cameras) {
    cameras_.push_back(std::make_shared<StoredCamera>(one.config));
    addItem(new QListWidgetItem);
    describe(count() - 1, {}, {});
  }
  shown_ = kNone;
  if (count() > 1) return showAll();
  emit shownChanged();
  emit chosen(0);
}

std::vector<monitor::CameraConfig> CamerasPage::cameras() const {
  std::vector<monitor::CameraConfig> all;
  for (const auto& camera : cameras_) all.push_back(camera->config);
  return all;
}

void CamerasPage::setShown(int row) {
  if (row == kAll) setCurrentRow(std::max(shown_, 0));
  shown_ = row;
  row == kAll ? read() : timer_.stop();
  emit shownChanged();
}

// The timer starts once all are read, so that nothing waits in front of a slow disk.
void CamerasPage::read() {
  timer_.stop();
  thread_.giveUp();
  for (int row = 0; row < count(); ++row) {
    thread_.run([this, row, camera = cameras_[static_cast<std::size_t>(row)]] {
      QStringList lines;
      try {
        lines = camera->read();
      } catch (const std::exception& error) {
        lines = QStringList{tr("▲ cannot be read"), QString::fromUtf8(error.what())};
      }
      thread_.answer([this, row, camera, lines, picture = camera->picture] {
        if (row >= count() || cameras_[static_cast<std::size_t>(row)] != camera) return;  // of another file
        describe(row, lines, picture);
        if (row + 1 == count()) timer_.start(kPeriodMs);
      });
    });
  }
}

void CamerasPage::describe(int row, const QStringList& lines, const QImage& picture) {
  const QStringList text = QStringList{titleOf(row)} + lines;
  const QString source = QString::fromStdString(vision::redactCredentials(config(row).source));
  const int line = QFontMetrics(QGuiApplication::font()).lineSpacing();
  QPixmap shown(StoredCamera::kPicture);
  shown.fill(QGuiApplication::palette().color(QPalette::Window));  // where there is no picture, texts still align
  if (!picture.isNull()) shown = QPixmap::fromImage(picture);
  QIcon icon;
  for (const auto mode : {QIcon::Normal, QIcon::Selected}) icon.addPixmap(shown, mode);
  item(row)->setText(text.join(QLatin1Char('\n')));
  item(row)->setTextAlignment(Qt::AlignHCenter | Qt::AlignTop);  // names stand in one line, however much is below them
  item(row)->setIcon(icon);
  item(row)->setSizeHint(StoredCamera::kPicture + QSize(3 * line, 6 * line));
  item(row)->setToolTip((text + QStringList{source, QString::fromStdString(config(row).db)}).join(QLatin1Char('\n')));
  static const QRegularExpression sign(QStringLiteral("[●▲■▤□] "));
  item(row)->setData(Qt::AccessibleTextRole, text.join(QStringLiteral(", ")).remove(sign));
}

}  // namespace mpm::gui
