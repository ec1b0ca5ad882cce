// SPDX-License-Identifier: Apache-2.0
#include "gui/models/theme.h"

namespace mpm::gui {
namespace {

double luminance(const QColor& color) {
  const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

// By the names that the style sheet has for them.
const struct {
  const char* name;
  QColor Theme::*color;
  QRgb light, dark;
} kRoles[] = {
    {"%window", &Theme::window, 0xf3f4f6, 0x16191f},       {"%field", &Theme::field, 0xffffff, 0x262b35},
    {"%border", &Theme::border, 0xd3d7de, 0x363d4a},       {"%accent", &Theme::accent, 0x1f62c4, 0x7db2ff},
    {"%on_accent", &Theme::on_accent, 0xffffff, 0x0b1420}, {"%good", &Theme::good, 0x1a6e3c, 0x6fd39a},
    {"%warning", &Theme::warning, 0x8a5200, 0xf0b55c},     {"%bad", &Theme::bad, 0xb3261e, 0xff8f85},
    {"%canvas", &Theme::canvas, 0xe3e6eb, 0x0f1216},       {"%on_canvas", &Theme::on_canvas, 0x434b59, 0xa3adbc}};

// The same in charts, so that a chart lies on its panel without a seam.
const struct {
  const char* name;
  QColor Theme::*color;
  std::uint32_t charts::ChartColors::*chart;
} kRolesOfCharts[] = {{"%panel", &Theme::panel, &charts::ChartColors::background},
                      {"%text", &Theme::text, &charts::ChartColors::text},
                      {"%muted", &Theme::muted, &charts::ChartColors::muted}};

Theme themeOf(bool dark) {
  Theme theme;
  theme.dark = dark;
  for (const auto& role : kRoles) theme.*role.color = QColor(dark ? role.dark : role.light);
  theme.chart = charts::chartColors(dark);
  for (const auto& role : kRolesOfCharts) theme.*role.color = QColor(theme.chart.*role.chart);
  return theme;
}

Theme& current() {
  static Theme theme = lightTheme();
  return theme;
}

}  // namespace

const Theme& theme() { return current(); }
void setTheme(const Theme& theme) { current() = theme; }

double contrast(const QColor& a, const QColor& b) {
  const auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

QColor readableOn(const QColor& background) {
  return contrast(Qt::white, background) >= contrast(Qt::black, background) ? Qt::white : Qt::black;
}

Theme lightTheme() { return themeOf(false); }
Theme darkTheme() { return themeOf(true); }

QPalette Theme::palette() const {
  using enum QPalette::ColorRole;
  QPalette result;
  const auto set = [&](const QColor& color, std::initializer_list<QPalette::ColorRole> roles) {
    for (const auto role : roles) result.setColor(role, color);
  };
  set(window, {Window, AlternateBase});
  set(panel, {Button, ToolTipBase});
  set(field, {Base});
  set(text, {WindowText, Text, ButtonText, ToolTipText});
  set(muted, {PlaceholderText});
  set(bad, {BrightText});
  set(accent, {Highlight, Link, LinkVisited});
  set(on_accent, {HighlightedText});
  set(border, {Midlight, Mid});
  set(dark ? border.lighter(130) : QColor(Qt::white), {Light});
  set(dark ? 0x0c0e12 : 0xb4bac4, {Dark});
  set(dark ? 0x000000 : 0x8a92a0, {Shadow});
  for (const auto role : {WindowText, Text, ButtonText, HighlightedText})
    result.setColor(QPalette::Disabled, role, dark ? 0x78818f : 0x848c99);
  result.setColor(QPalette::Disabled, Highlight, border);
  return result;
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
QPushButton:hover, QPushButton:focus { border-color: %accent; }
QPushButton:pressed { background: %hover; }
QPushButton:checked { background: %accent; color: %on_accent; border-color: %accent; }
QPushButton:disabled { color: %muted; background: %window; }
QPushButton[primary="true"] { background: %accent; color: %on_accent; border-color: %accent; font-weight: 600; }
QToolButton:checked:focus, QPushButton[primary="true"]:focus, QPushButton:checked:focus { border-color: %text; }
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
QTableView::item, QListView::item { border: 1px solid transparent; }
QTableView::item:focus, QListView::item:focus { border-color: %accent; }
QTableView::item:selected, QListView::item:selected { background: %accent; color: %on_accent; }
QTabWidget::pane { border: none; border-top: 1px solid %border; }
QTabBar::tab { background: transparent; color: %muted; padding: 6px 9px; border: none; border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: %text; border-bottom: 2px solid %accent; }
QTabBar::tab:hover { color: %text; }
QStatusBar { background: %window; border-top: 1px solid %border; }
QStatusBar::item { border: none; }
QProgressBar { background: %grid; border: none; border-radius: 3px; }
QProgressBar[textVisible="true"] { text-align: right; margin-right: 5ex; }
QProgressBar::chunk { background: %accent; border-radius: 3px; }
QScrollArea { border: none; background: transparent; }
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
  sheet.replace(QLatin1String("%hover"), (dark ? field.lighter(118) : QColor(chart.grid)).name());
  sheet.replace(QLatin1String("%grid"), QColor(chart.grid).name());
  for (const auto& role : kRolesOfCharts) sheet.replace(QLatin1String(role.name), (this->*role.color).name());
  for (const auto& role : kRoles) sheet.replace(QLatin1String(role.name), (this->*role.color).name());
  return sheet;
}

}  // namespace mpm::gui
