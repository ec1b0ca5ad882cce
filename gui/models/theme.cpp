// SPDX-License-Identifier: Apache-2.0
#include "gui/models/theme.h"

#include <algorithm>
#include <cmath>

namespace mpm::gui {
namespace {

double luminance(const QColor& color) {
  const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

}  // namespace

double contrast(const QColor& a, const QColor& b) {
  const auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

QColor readableOn(const QColor& background) {
  return contrast(Qt::white, background) >= contrast(Qt::black, background) ? Qt::white : Qt::black;
}

Theme lightTheme() {
  Theme t;
  t.dark = false;
  t.window = QColor(0xf3f4f6);
  t.panel = QColor(0xffffff);
  t.field = QColor(0xffffff);
  t.border = QColor(0xd3d7de);
  t.text = QColor(0x1b1f27);
  t.muted = QColor(0x555e6d);
  t.accent = QColor(0x1f62c4);
  t.on_accent = QColor(0xffffff);
  t.good = QColor(0x1a6e3c);
  t.warning = QColor(0x8a5200);
  t.bad = QColor(0xb3261e);
  t.canvas = QColor(0xe3e6eb);
  t.on_canvas = QColor(0x434b59);
  t.chart = QColor(0xffffff);
  t.grid = QColor(0xe4e7ec);
  t.night = QColor(0xdfe5f1);
  t.series = {QColor(0x1f62c4), QColor(0xb0500f), QColor(0x1a7a5a), QColor(0x8b3fa0)};
  return t;
}

Theme darkTheme() {
  Theme t;
  t.dark = true;
  t.window = QColor(0x16191f);
  t.panel = QColor(0x1e222a);
  t.field = QColor(0x262b35);
  t.border = QColor(0x363d4a);
  t.text = QColor(0xe7eaf0);
  t.muted = QColor(0xa3adbc);
  t.accent = QColor(0x7db2ff);
  t.on_accent = QColor(0x0b1420);
  t.good = QColor(0x6fd39a);
  t.warning = QColor(0xf0b55c);
  t.bad = QColor(0xff8f85);
  t.canvas = QColor(0x0f1216);
  t.on_canvas = QColor(0xa3adbc);
  t.chart = QColor(0x1e222a);
  t.grid = QColor(0x303744);
  t.night = QColor(0x151a2c);
  t.series = {QColor(0x7db2ff), QColor(0xf2a65a), QColor(0x62d0a4), QColor(0xd49be6)};
  return t;
}

QPalette Theme::palette() const {
  QPalette p;
  p.setColor(QPalette::Window, window);
  p.setColor(QPalette::WindowText, text);
  p.setColor(QPalette::Base, field);
  p.setColor(QPalette::AlternateBase, window);
  p.setColor(QPalette::Text, text);
  p.setColor(QPalette::PlaceholderText, muted);
  p.setColor(QPalette::Button, panel);
  p.setColor(QPalette::ButtonText, text);
  p.setColor(QPalette::BrightText, bad);
  p.setColor(QPalette::ToolTipBase, panel);
  p.setColor(QPalette::ToolTipText, text);
  p.setColor(QPalette::Highlight, accent);
  p.setColor(QPalette::HighlightedText, on_accent);
  p.setColor(QPalette::Link, accent);
  p.setColor(QPalette::LinkVisited, accent);
  p.setColor(QPalette::Light, dark ? border.lighter(130) : QColor(Qt::white));
  p.setColor(QPalette::Midlight, border);
  p.setColor(QPalette::Mid, border);
  p.setColor(QPalette::Dark, dark ? QColor(0x0c0e12) : QColor(0xb4bac4));
  p.setColor(QPalette::Shadow, dark ? QColor(Qt::black) : QColor(0x8a92a0));
  const QColor disabled(dark ? 0x78818f : 0x848c99);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText})
    p.setColor(QPalette::Disabled, role, disabled);
  p.setColor(QPalette::Disabled, QPalette::Highlight, border);
  return p;
}

QString Theme::styleSheet() const {
  QString sheet = QStringLiteral(R"(
QToolTip { background: %panel; color: %text; border: 1px solid %border; padding: 4px; }
QMainWindow::separator { background: %window; width: 6px; height: 6px; }
QMainWindow::separator:hover { background: %accent; }
QDockWidget { titlebar-close-icon: none; titlebar-normal-icon: none; font-weight: 600; }
QDockWidget::title { background: %window; padding: 6px 8px; text-align: left; }
QWidget[panel="true"] { background: %panel; }
QToolBar { background: %window; border: none; border-bottom: 1px solid %border; spacing: 4px; padding: 4px 8px; }
QToolBar::separator { background: %border; width: 1px; margin: 5px 6px; }
QToolButton { border: 1px solid transparent; border-radius: 6px; padding: 4px 7px; color: %text; }
QToolButton#qt_toolbar_ext_button { padding: 0px; }
QToolButton:hover { background: %hover; }
QToolButton:checked { background: %accent; color: %on_accent; }
QToolButton:focus { border-color: %accent; }
QToolButton:disabled { color: %muted; }
QPushButton { border: 1px solid %border; border-radius: 6px; padding: 5px 12px; background: %field; color: %text; }
QPushButton:hover { border-color: %accent; }
QPushButton:focus { border-color: %accent; }
QPushButton:pressed { background: %hover; }
QPushButton:checked { background: %accent; color: %on_accent; border-color: %accent; }
QPushButton:disabled { color: %muted; background: %window; }
QPushButton[primary="true"] { background: %accent; color: %on_accent; border-color: %accent; font-weight: 600; }
QPushButton[primary="true"]:disabled { background: %window; color: %muted; border-color: %border; }
QPushButton[roomy="true"] { padding-top: 11px; padding-bottom: 11px; }
QLineEdit, QPlainTextEdit {
  border: 1px solid %border; border-radius: 6px; padding: 4px 6px; background: %field; color: %text;
  selection-background-color: %accent; selection-color: %on_accent; }
QLineEdit:focus, QPlainTextEdit:focus { border-color: %accent; }
QLineEdit:disabled { color: %muted; background: %window; }
QAbstractSpinBox, QComboBox { padding: 3px; }
QComboBox QAbstractItemView { background: %field; color: %text; selection-background-color: %accent;
  selection-color: %on_accent; border: 1px solid %border; }
QHeaderView::section { background: %panel; color: %muted; border: none; border-bottom: 1px solid %border;
  padding: 4px 6px; font-weight: 600; }
QTableView, QListView { background: %panel; alternate-background-color: %window; border: none; gridline-color: %border;
  selection-background-color: %accent; selection-color: %on_accent; outline: none; }
QTableView::item:focus, QListView::item:focus { border: 1px solid %accent; }
QTableView::item:selected, QListView::item:selected { background: %accent; color: %on_accent; }
QTabWidget::pane { border: none; border-top: 1px solid %border; }
QTabBar::tab { background: transparent; color: %muted; padding: 6px 9px; border: none; border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: %text; border-bottom: 2px solid %accent; }
QTabBar::tab:hover { color: %text; }
QStatusBar { background: %window; border-top: 1px solid %border; }
QStatusBar::item { border: none; }
QScrollArea { border: none; background: transparent; }
QFrame[card="true"] { background: %panel; border: 1px solid %border; border-radius: 10px; }
QLabel[muted="true"] { color: %muted; }
QLabel[heading="true"] { font-weight: 600; }
QLabel[badge="good"] { color: %good; font-weight: 600; }
QLabel[badge="warning"] { color: %warning; font-weight: 600; }
QLabel[badge="bad"] { color: %bad; font-weight: 600; }
QMenu { background: %panel; color: %text; border: 1px solid %border; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 20px; border-radius: 4px; }
QMenu::item:selected { background: %accent; color: %on_accent; }
QMenu::item:disabled { color: %muted; }
QMenu::separator { height: 1px; background: %border; margin: 4px 8px; }
QMenuBar { background: %window; }
QMenuBar::item { padding: 4px 8px; border-radius: 4px; }
QMenuBar::item:selected { background: %hover; }
)");
  const std::vector<std::pair<QString, QColor>> values = {
      {QStringLiteral("%on_accent"), on_accent}, {QStringLiteral("%window"), window},
      {QStringLiteral("%warning"), warning},     {QStringLiteral("%accent"), accent},
      {QStringLiteral("%border"), border},       {QStringLiteral("%panel"), panel},
      {QStringLiteral("%field"), field},         {QStringLiteral("%hover"), dark ? field.lighter(118) : grid},
      {QStringLiteral("%muted"), muted},         {QStringLiteral("%text"), text},
      {QStringLiteral("%good"), good},           {QStringLiteral("%bad"), bad}};
  for (const auto& [name, color] : values) sheet.replace(name, color.name());
  return sheet;
}

std::vector<std::pair<QColor, QColor>> Theme::textPairs() const {
  std::vector<std::pair<QColor, QColor>> pairs = {
      {on_accent, accent}, {on_canvas, canvas}, {text, night}, {muted, night}};
  for (const QColor& background : {window, panel, field, chart}) {
    pairs.emplace_back(text, background);
    pairs.emplace_back(muted, background);  // also the outline of what is not checked
  }
  for (const QColor& background : {window, panel})
    for (const QColor& state : {good, warning, bad, accent}) pairs.emplace_back(state, background);
  for (const QColor& line : series) pairs.emplace_back(line, chart);
  return pairs;
}

}  // namespace mpm::gui
