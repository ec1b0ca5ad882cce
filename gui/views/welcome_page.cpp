// SPDX-License-Identifier: Apache-2.0
#include "gui/views/welcome_page.h"

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"

namespace mpm::gui {

WelcomePage::WelcomePage(QAction* demo, QWidget* parent) : QWidget(parent) {
  auto* picture = new QLabel;
  picture->setPixmap(QIcon(QStringLiteral(":/icons/mpm-monitor.png")).pixmap(QSize(112, 112), devicePixelRatioF()));
  picture->setAlignment(Qt::AlignTop);
  const QString headline = tr("Watch a place, see what a transformer can merge");
  // A size in words follows the font, whatever that becomes.
  auto* title = wrapped(
      new QLabel(QStringLiteral("<span style='font-size: xx-large; font-weight: 700'>%1</span>").arg(headline)));
  title->setTextFormat(Qt::RichText);
  title->setAccessibleName(headline);
  auto* text =
      wrapped(mutedLabel(tr("A vision transformer cuts each picture into patches. Mutual Pair Merging joins patches "
                            "that are each other's most similar one, so that fewer tokens do the same work. Here you "
                            "see which, live, and how their number follows day and night.")));
  QBoxLayout* head = fill(new QHBoxLayout, picture, stretched(fill(new QVBoxLayout, title, text)));
  head->setSpacing(20);
  head->setContentsMargins(0, 0, 0, 6);

  QPushButton* try_demo =
      pushButton(demo, tr("Try the demo"), tr("A rendered street by day and night, with a model that knows it"));
  try_demo->setProperty("roomy", true);
  makePrimary(try_demo);

  auto* grid = new QGridLayout;
  grid->setSpacing(8);
  using vision::SourceKind;
  const std::tuple<SourceKind, const char*, QString> kinds[] = {
      {SourceKind::kCamera, "camera", tr("Camera")},
      {SourceKind::kVideo, "video", tr("Video")},
      {SourceKind::kFolder, "folder", tr("Image folder")},
      {SourceKind::kUrl, "network", tr("Network camera (RTSP)")}};
  for (const auto& [kind, glyph, name] : kinds) {
    auto* button = new QPushButton(icon(glyph), name);
    button->setProperty("roomy", true);
    connect(button, &QPushButton::clicked, this, [this, kind = kind] { emit kindRequested(kind); });
    grid->addWidget(button, grid->count() / 2, grid->count() % 2);
  }
  auto* drop = wrapped(mutedLabel(tr("Or drop a video, a folder or an ONNX model anywhere on this window.")));
  drop->setAlignment(Qt::AlignHCenter);
  drop->setContentsMargins(0, 0, 0, 6);

  recents_box_ = new QWidget;
  recents_ = unframed(new QVBoxLayout(recents_box_));
  recents_->setSpacing(4);

  auto* middle = new QWidget;
  middle->setMaximumWidth(680);
  fill(new QVBoxLayout(middle), head, try_demo, grid, drop, recents_box_)->setSpacing(12);
  auto* content = new QWidget;
  auto* page = new QGridLayout(content);
  page->setContentsMargins(24, 20, 24, 20);
  page->addWidget(middle, 1, 1);
  for (const auto& [line, stretch] : {std::pair(0, 1), std::pair(2, 2)}) page->setRowStretch(line, stretch);
  for (const auto& [line, stretch] : {std::pair(0, 1), std::pair(1, 20), std::pair(2, 1)})
    page->setColumnStretch(line, stretch);

  fill(unframed(new QVBoxLayout(this)), scrolled(content));
}

void WelcomePage::setRecents(const QVector<Recent>& recents) {
  qDeleteAll(recents_box_->findChildren<QWidget*>());
  recents_box_->setVisible(!recents.isEmpty());
  if (recents.isEmpty()) return;
  recents_->addWidget(headingLabel(tr("Go on with")));
  for (const Recent& recent : recents.mid(0, 4)) {
    const QString title = sourceTitle(recent.source);
    auto* button = new QPushButton(
        recent.last > 0 ? tr("%1  ·  %2").arg(title, timeText(recent.last, std::nullopt, kMinuteFormat)) : title);
    button->setToolTip(recent.source);
    button->setStyleSheet(QStringLiteral("text-align: left;"));
    connect(button, &QPushButton::clicked, this, [this, recent] { emit recentRequested(recent); });
    recents_->addWidget(button);
  }
}

}  // namespace mpm::gui
