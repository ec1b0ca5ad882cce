// SPDX-License-Identifier: Apache-2.0
#include "gui/picture_views.h"

#include "gui/views/labels.h"

namespace mpm::gui {

using Menu = ActionRegistry::Menu;

PictureViews::PictureViews(const OnShow* on_show, ActionRegistry* actions, SettingsWriter* settings, QObject* parent)
    : QObject(parent),
      on_show_(on_show),
      actions_(actions),
      legend_(new LegendModel(this)),
      selection_(new PatchSelection(this)),
      pane_(new ImagePane(selection_, legend_)),
      panel_(new LegendPanel(legend_)) {
  legend_->setChosenColors(loadClassColors(*settings->read()));
  connect(legend_, &LegendModel::paintChanged, pane_, &ImagePane::refreshPaint);
  // Another window may have stored colours since.
  connect(legend_, &LegendModel::colorChosen, this, [settings](const QString& name, const QColor& color) {
    settings->change([name, color](QSettings& stored) {
      ClassColors colors = loadClassColors(stored);
      colors.insert_or_assign(name, color);
      save(stored, colors);
    });
  });
  connect(on_show, &OnShow::changed, pane_, [this] { pane_->setClock(on_show_->source().clock); });
  connect(on_show, &OnShow::sourceDescribed, pane_, [this] {
    const ShownSource& source = on_show_->source();
    pane_->image()->setRegions(source.regions);
    if (!source.classes.isEmpty()) legend_->setClasses(source.classes);
    panel_->setRegions(on_show_->measuredRegions());
    showAreas();
  });
  connect(on_show, &OnShow::frameChanged, pane_, &ImagePane::setFrame);
  connect(on_show, &OnShow::bannerChanged, pane_->image(), &PictureView::setBanner);
  connect(on_show, &OnShow::frameChanged, panel_, &LegendPanel::setFrame);
  connect(on_show, &OnShow::frameChanged, panel_, [this] { showAreas(); });
  connect(panel_, &LegendPanel::regionPicked, this, &PictureViews::showAreas);
  addModes();
}

void PictureViews::addModes() {
  auto* modes = new QActionGroup(this);
  const std::tuple<const char*, QString, QString, ViewMode> kinds[] = {
      {"image", tr("&Image"), tr("1"), ViewMode::kImage},
      {"mask", tr("&Mask"), tr("2"), ViewMode::kMask},
      {"overlay", tr("&Overlay"), tr("3"), ViewMode::kOverlay},
      {"curtain", tr("Split &curtain"), tr("4"), ViewMode::kCurtain},
      {"computed", tr("Com&puted patches"), tr("5"), ViewMode::kComputed}};
  for (const auto& [id, text, key, mode] : kinds) {
    QAction* action =
        actions_->addToggle(Menu::kView, id, text, key, mode == ClassPaint().mode, [this, mode = mode](bool on) {
          if (on) pane_->setMode(mode);
        });
    modes->addAction(action);
  }
  const auto add = [this](const char* id, const QString& text, const QString& key, std::function<void()> run) {
    return actions_->add(Menu::kView, id, text, key, std::move(run));
  };
  add("opaque", tr("Overlay more opa&que"), tr("]"), [this] { pane_->setOpacity(pane_->paint().opacity + 0.05); });
  add("transparent", tr("Overlay more &transparent"), tr("["),
      [this] { pane_->setOpacity(pane_->paint().opacity - 0.05); });
  QAction* left = add("curtain_left", tr("C&urtain to the left"), tr("<"),
                      [this] { pane_->setCurtain(pane_->paint().curtain - 0.05); });
  QAction* right = add("curtain_right", tr("Cu&rtain to the right"), tr(">"),
                       [this] { pane_->setCurtain(pane_->paint().curtain + 0.05); });
  for (QAction* action : {left, right}) {
    action->setEnabled(false);
    connect(pane_, &ImagePane::modeChanged, action,
            [action](ViewMode mode) { action->setEnabled(mode == ViewMode::kCurtain); });
  }
  actions_->addToggle(Menu::kView, "region_outlines", tr("Outlines of re&gions"), tr("Shift+O"), true,
                      [this](bool on) { pane_->image()->showRegions(on); });
  add("classes", tr("Show &all classes"), tr("A"), [this] { legend_->setAllVisible(true); });
}

void PictureViews::setClasses(const ModelInfo& model) {
  legend_->setClasses(model);
  showAreas();
}

void PictureViews::showAreas() { legend_->setAreasOf(*on_show_, panel_->region()); }

QSlider* PictureViews::opacitySlider(QWidget* parent) const {
  auto* opacity = named(new QSlider(Qt::Horizontal, parent), tr("Opacity of the overlay"));
  opacity->setRange(0, 100);
  opacity->setSingleStep(5);
  opacity->setFixedWidth(120);
  opacity->setToolTip(tr("Opacity of the overlay ([ and ])"));
  opacity->setValue(static_cast<int>(std::lround(pane_->paint().opacity * 100)));
  connect(opacity, &QSlider::valueChanged, pane_, [pane = pane_](int value) { pane->setOpacity(value / 100.0); });
  connect(pane_, &ImagePane::opacityChanged, opacity, [opacity](double share) {
    const QSignalBlocker quiet(opacity);
    opacity->setValue(static_cast<int>(std::lround(share * 100)));
  });
  connect(pane_, &ImagePane::modeChanged, opacity,
          [opacity](ViewMode mode) { opacity->setEnabled(mode == ViewMode::kOverlay || mode == ViewMode::kCurtain); });
  return opacity;
}

}  // namespace mpm::gui
