// SPDX-License-Identifier: Apache-2.0
#include "gui/views/welcome_page.h"

#include <QFrame>
#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "gui/views/look.h"

namespace mpm::gui {
namespace {

// A hand-made merge map: what this program shows, before there is a picture to show it on.
class Emblem : public QWidget {
 public:
  explicit Emblem(QWidget* parent) : QWidget(parent) { setFixedSize(168, 96); }

 protected:
  void paintEvent(QPaintEvent*) override {
    constexpr int kColumns = 7, kRows = 4;
    constexpr char kMap[kRows][kColumns + 1] = {"aaaabbb", "acddbbb", "ccdeeff", "cggggff"};
    QPainter painter(this);
    const auto color = [](char c) {
      constexpr QRgb kColors[] = {0x7fb2e6, 0x9cc4ee, 0x5b7f57, 0xb98a5a, 0xd0b48a, 0x6f7684, 0x8b93a2};
      return QColor(kColors[c - 'a']);
    };
    const int side = 24;
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x) painter.fillRect(x * side, y * side, side, side, color(kMap[y][x]));
    painter.setPen(QPen(QColor(255, 255, 255, 220), 1));
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x) {
        if (x + 1 < kColumns && kMap[y][x] != kMap[y][x + 1])
          painter.drawLine((x + 1) * side, y * side, (x + 1) * side, (y + 1) * side);
        if (y + 1 < kRows && kMap[y][x] != kMap[y + 1][x])
          painter.drawLine(x * side, (y + 1) * side, (x + 1) * side, (y + 1) * side);
      }
  }
};

}  // namespace

WelcomePage::WelcomePage(QWidget* parent) : QWidget(parent) {
  auto* content = new QWidget(this);
  const QString headline = tr("Watch a place, see what a transformer can merge");
  // Rich text is as much larger than the font as it says, whatever the font becomes.
  auto* title = new QLabel(
      QStringLiteral("<span style='font-size: xx-large; font-weight: 700'>%1</span>").arg(headline), content);
  title->setAccessibleName(headline);
  title->setWordWrap(true);
  auto* text =
      mutedLabel(tr("A vision transformer cuts each picture into patches. Mutual Pair Merging joins patches that "
                    "are each other's most similar one, so that fewer tokens do the same work. Here you see which, "
                    "live, and how their number follows day and night."),
                 content);
  text->setWordWrap(true);

  auto* demo = new QPushButton(icon(Glyph::kDemo), tr("Try the demo"), content);
  makePrimary(demo);
  demo->setProperty("roomy", true);
  demo->setIcon(QIcon());
  demo->setToolTip(tr("A rendered street by day and night, with a model that knows it"));
  demo_ = demo;
  connect(demo, &QPushButton::clicked, this, &WelcomePage::demoRequested);

  auto* grid = new QGridLayout;
  grid->setSpacing(8);
  using vision::SourceKind;
  const std::tuple<SourceKind, Glyph, QString> kinds[] = {
      {SourceKind::kCamera, Glyph::kCamera, tr("Camera")},
      {SourceKind::kVideo, Glyph::kVideo, tr("Video")},
      {SourceKind::kFolder, Glyph::kFolder, tr("Image folder")},
      {SourceKind::kUrl, Glyph::kNetwork, tr("Network camera (RTSP)")}};
  int i = 0;
  for (const auto& [kind, glyph, name] : kinds) {
    auto* button = new QPushButton(icon(glyph), name, content);
    button->setProperty("roomy", true);
    connect(button, &QPushButton::clicked, this, [this, kind = kind] { emit kindRequested(kind); });
    grid->addWidget(button, i / 2, i % 2);
    ++i;
  }
  auto* drop = mutedLabel(tr("Or drop a video, a folder or an ONNX model anywhere on this window."), content);
  drop->setWordWrap(true);
  drop->setAlignment(Qt::AlignHCenter);

  recents_box_ = new QWidget(content);
  recents_ = new QVBoxLayout(recents_box_);
  recents_->setContentsMargins(0, 0, 0, 0);
  recents_->setSpacing(4);

  auto* column = new QVBoxLayout;
  column->setSpacing(12);
  auto* head = new QHBoxLayout;
  head->setSpacing(20);
  auto* words = new QVBoxLayout;
  words->addWidget(title);
  words->addWidget(text);
  head->addWidget(new Emblem(content), 0, Qt::AlignTop);
  head->addLayout(words, 1);
  column->addLayout(head);
  column->addSpacing(6);
  column->addWidget(demo);
  column->addLayout(grid);
  column->addWidget(drop);
  column->addSpacing(6);
  column->addWidget(recents_box_);
  auto* middle = new QWidget(content);
  middle->setLayout(column);
  middle->setMaximumWidth(680);
  auto* sides = new QHBoxLayout;
  sides->addStretch(1);
  sides->addWidget(middle, 20);
  sides->addStretch(1);
  auto* page = new QVBoxLayout(content);
  page->setContentsMargins(24, 20, 24, 20);
  page->addStretch(1);
  page->addLayout(sides);
  page->addStretch(2);

  auto* scroll = new QScrollArea(this);
  scroll->setWidgetResizable(true);
  scroll->setWidget(content);
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(scroll);
}

void WelcomePage::setRecents(const QVector<Recent>& recents) {
  while (QLayoutItem* item = recents_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  recents_box_->setVisible(!recents.isEmpty());
  if (recents.isEmpty()) return;
  recents_->addWidget(headingLabel(tr("Go on with"), recents_box_));
  for (const Recent& recent : recents.mid(0, 4)) {
    auto* button = new QPushButton(recents_box_);
    button->setText(
        tr("%1  ·  %2").arg(sourceTitle(recent.source), QLocale().toString(recent.last, QLocale::ShortFormat)));
    button->setToolTip(recent.source);
    button->setStyleSheet(QStringLiteral("text-align: left;"));
    connect(button, &QPushButton::clicked, this, [this, recent] { emit recentRequested(recent); });
    recents_->addWidget(button);
  }
}

}  // namespace mpm::gui
