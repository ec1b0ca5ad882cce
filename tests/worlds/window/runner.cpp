// SPDX-License-Identifier: Apache-2.0
// Hands and eyes for walks through the app: does what a line of JSON on the standard input says to a real MainWindow,
// or to a HistoryWindow that it opened, and answers with a line of what all of them show then. It knows nothing of what
// should be there: model.py does.

#include <unistd.h>
#include <cstdio>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "gui/main_window.h"
#include "gui/views/cameras_page.h"
#include "gui/views/day_night_panel.h"
#include "gui/views/folder_bar.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/legend_panel.h"
#include "gui/views/look.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/reduction_panel.h"
#include "gui/views/region_canvas.h"
#include "gui/views/regions_dialog.h"
#include "gui/views/source_panel.h"
#include "monitor/fake_source.h"
#include "worlds/offscreen.h"

namespace {

using namespace mpm;
using namespace mpm::gui;

constexpr int kPatience = 200;  // ms until wait() answers although nothing changed

// A live camera: shows the pictures of a folder in turns, for ever. Outlives the window, as a driver does.
struct Camera {
  std::vector<cv::Mat> pictures;
  std::atomic<bool> dead = false;

  vision::Frame frame(const std::string& url, int call) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    if (dead) throw Error("unplugged " + url);
    return vision::Frame{pictures[static_cast<std::size_t>(call / 4) % pictures.size()], "frame", url, call};
  }
};

class Hands {
 public:
  QJsonObject look();
  QJsonObject wait();
  QJsonValue act(const QJsonObject& what);
  bool gaveUp() const { return gave_up_; }

 private:
  template <typename Part>
  Part* part(const QString& name = {}) const {
    return at_ ? at_->findChild<Part*>(name) : nullptr;
  }
  static bool isNamed(const QWidget* widget, const char* name) {
    return widget->property("value_name") == QLatin1String(name) || widget->accessibleName() == QLatin1String(name);
  }
  /// The widget that screen readers call so, in the window that is looked at or in a part of it.
  template <typename Widget>
  Widget* named(const char* name, const QObject* in = nullptr) const {
    for (auto* widget : (in ? in : at_)->findChildren<Widget*>())
      if (isNamed(widget, name)) return widget;
    return nullptr;
  }
  QString value(const char* name) const {
    const auto* label = named<QLabel>(name);
    return label ? label->text() : QString();
  }
  void start(const QJsonObject& what);
  void findOthers();
  QJsonObject lookAtAny() const;
  bool close();
  void deliver();
  void tick() const;
  QList<QDialog*> dialogs() const;
  QJsonValue answer(bool accept) const;
  QJsonValue drop(const QJsonArray& paths) const;
  QJsonValue clickChart(double time) const;
  QJsonValue choose(const char* name, const QString& text) const;
  QJsonValue drawRegion(const QString& name, bool right) const;
  QJsonValue changeRegion(const QString& of, const QString& how, const QString& name) const;
  QJsonValue fill(const QString& field, const QString& text) const;
  QJsonValue setNumber(const QString& field, double number) const;
  QJsonObject lookAtTeach() const;
  QJsonValue addClass(const QString& name) const;
  QJsonValue drawStroke(int label) const;
  QJsonValue chooseStateRegion(const QString& region) const;
  QJsonValue giveState(const QString& picture, const QString& state) const;
  static QJsonObject pictureOf(const LiveFramePtr& frame);

  std::unique_ptr<MainWindow> window_;
  QList<QPointer<HistoryWindow>> others_;                   // in the order in which they were opened
  QWidget* at_ = nullptr;                                   // the window that is looked at
  std::map<std::string, std::shared_ptr<Camera>> cameras_;  // by URL
  QSet<QString> held_;                                      // classes whose answers wait
  QJsonObject last_;
  bool gave_up_ = false;  // the last window that was closed had not judged all that is stored by a new rule of night
};

void Hands::start(const QJsonObject& what) {
  const QString folder = what["folder"].toString();
  WindowOptions options;
  options.model = what["model"].toString();
  options.inference.reduce = parseReduction(what["reduce"].toString().toStdString());
  options.inference.threads = 1;
  options.database = folder + QStringLiteral("/m.db");
  options.pictures = folder + QStringLiteral("/pictures");
  options.settings = folder + QStringLiteral("/settings.ini");
  options.teach.live = false;
  const QJsonObject cameras = what["cameras"].toObject();
  cameras_.clear();
  for (const QString& url : cameras.keys()) {
    auto camera = std::make_shared<Camera>();
    for (const QJsonValue picture : cameras[url].toArray())
      camera->pictures.push_back(cv::imread(picture.toString().toStdString()));
    cameras_[url.toStdString()] = camera;
  }
  options.factory = [cameras = cameras_](const vision::SourceSpec& source) -> monitor::SourceFactory {
    const auto found = cameras.find(source.text);
    if (found == cameras.end()) return {};
    return [camera = found->second, url = source.text](const vision::SourceOptions&) {
      if (camera->dead) throw Error("nothing at " + url);
      return std::make_unique<monitor::test::FakeSource>([=](int call) { return camera->frame(url, call); });
    };
  };
  window_ = std::make_unique<MainWindow>(options);
  at_ = window_.get();
  window_->resize(1280, 800);
  window_->show();
  part<HistoryBrowser>()->setPace(1);
  part<QAction>("brightness")->setChecked(true);  // of the chart: it tells sources apart
}

// As a person would: a question is answered with Yes. False: there is no window.
bool Hands::close() {
  if (!window_) return false;
  held_.clear();
  window_->close();
  gave_up_ = window_->isVisible();
  if (gave_up_) window_->leave();
  window_.reset();
  at_ = nullptr;
  others_.clear();
  return true;
}

// A new one is set up as start() does with the one that watches.
void Hands::findOthers() {
  others_.removeIf([](const auto& other) { return !other || !other->isVisible(); });
  for (QWidget* widget : QApplication::topLevelWidgets()) {
    auto* other = qobject_cast<HistoryWindow*>(widget);
    if (!other || !other->isVisible() || others_.contains(other)) continue;
    others_ << other;
    other->resize(1280, 800);
    other->findChild<HistoryBrowser*>()->setPace(1);
    other->findChild<QAction*>("brightness")->setChecked(true);
  }
}

// What has arrived in the event loop; while answers are held, all but these.
void Hands::deliver() {
  if (held_.isEmpty()) {
    QCoreApplication::processEvents();
    return QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  }
  QList<QPointer<QObject>> all = {window_.get(), &window_->live()};
  for (QObject* one : window_->findChildren<QObject*>()) all << one;
  for (const auto& other : others_) {
    if (!other) continue;
    all << other.data();
    for (QObject* one : other->findChildren<QObject*>()) all << one;
  }
  for (const QPointer<QObject>& one : all) {
    if (one && !held_.contains(QString::fromLatin1(one->metaObject()->className()).section("::", -1)))
      QCoreApplication::sendPostedEvents(one, 0);
  }
}

// What two timers of half a second do.
void Hands::tick() const {
  window_->live().session().tick();
  emit window_->live().ticked();
}

// Until something else is on show, or nothing has happened for a while.
QJsonObject Hands::wait() {
  QElapsedTimer timer;
  timer.start();
  QJsonObject seen;
  do {
    if (!window_) return look();
    deliver();
    tick();
    deliver();
    if (seen = look(); seen != last_) break;
    QThread::msleep(2);
  } while (timer.elapsed() < kPatience);
  return seen;
}

QList<QDialog*> Hands::dialogs() const {
  QList<QDialog*> all;
  for (auto* dialog : window_->findChildren<QDialog*>())
    if (dialog->isVisible()) all << dialog;
  return all;
}

QJsonObject Hands::pictureOf(const LiveFramePtr& frame) {
  if (!frame) return {};
  const auto sum = cv::mean(frame->image());
  const double brightness = 0.114 * sum[0] + 0.587 * sum[1] + 0.299 * sum[2];
  return {{"width", frame->size().width()},
          {"height", frame->size().height()},
          {"brightness", std::round(brightness * 100) / 100},
          {"measured", frame->result.model != nullptr},
          {"time", static_cast<double>(frame->result.frame.time)},
          {"file", QString::fromStdString(frame->result.frame.file)}};
}

// What every window shows.
QJsonObject Hands::lookAtAny() const {
  const auto* image = part<ImagePane>()->image();
  const auto* panel = part<ChartPanel>();
  const auto itemsOf = [this](const char* name) {
    QJsonArray items;
    const auto* box = named<QComboBox>(name);
    for (int i = 1; i < box->count(); ++i) items << box->itemData(i).toString();
    return items;
  };
  QJsonObject seen{{"title", at_->windowTitle().section(" – MPM Monitor", 0, 0)},
                   {"frame", value("Frame on show")},
                   {"banner", image->banner()},
                   {"picture", pictureOf(image->frame())},
                   {"legend_regions", itemsOf("Where the areas are measured")},
                   {"legend_region", part<LegendPanel>()->region()}};
  QJsonObject legend;
  const auto* model = part<LegendModel>();
  for (int row = 0; row < model->classes(); ++row) {
    if (const double area = model->index(row, LegendModel::kArea).data(LegendModel::kSortRole).toDouble(); area > 0)
      legend[model->name(row)] = std::round(area * 1e5) / 1e5;
  }
  seen["legend"] = legend;
  QStringList day_night;
  for (const auto* label : part<DayNightPanel>()->findChildren<QLabel*>()) day_night << label->text();
  seen["day_night"] = day_night.join('\n');
  QJsonArray outlines;
  for (const RegionOutline& one : image->regions()) outlines << QString::fromStdString(one.region.name);
  seen["outlines"] = outlines;

  QJsonObject chart{{"source", part<HistorySources>()->name()},
                    {"text", panel->sourceText()},
                    {"regions", itemsOf("Region whose numbers are drawn")}};
  if (const auto& drawn = panel->chart()->chart(); !drawn.buckets.empty()) {
    chart["first"] = static_cast<double>(drawn.buckets.front().start);
    chart["last"] = static_cast<double>(drawn.buckets.back().start);
    const auto keys = panel->chart()->quantities();
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (keys[k].quantity != "brightness") continue;
      double low = 1e9, high = -1e9;
      for (const auto& bucket : drawn.buckets) {
        if (k >= bucket.values.size() || bucket.values[k].samples == 0) continue;
        low = std::min(low, bucket.values[k].min);
        high = std::max(high, bucket.values[k].max);
      }
      if (low <= high) chart["brightness"] = QJsonArray{std::round(low * 100) / 100, std::round(high * 100) / 100};
    }
  }
  seen["chart"] = chart;
  QJsonArray events;
  const auto* list = part<EventsModel>();
  for (int row = 0; row < list->rowCount(); ++row) {
    events << QJsonArray{static_cast<double>(list->eventAt(row).time),
                         QString::fromStdString(list->eventAt(row).message)};
  }
  seen["events"] = events;
  return seen;
}

QJsonObject Hands::look() {
  if (!window_) return {};
  findOthers();
  QJsonArray others;
  for (const auto& other : others_) {
    at_ = other;
    others << lookAtAny();
  }
  at_ = window_.get();
  QJsonObject seen = lookAtAny();
  seen["others"] = others;
  const auto* stack = static_cast<QStackedWidget*>(window_->centralWidget());
  seen["page"] = QString::fromLatin1(stack->currentWidget()->metaObject()->className()).section("::", -1);
  seen["connection"] = value("Connection");
  seen["map"] = part<ImagePane>()->image()->frame() == part<MergeView>()->frame();
  seen["pause"] = part<QAction>("pause")->isChecked();
  QStringList source;
  for (const auto* label : part<SourcePanel>()->findChildren<QLabel*>())
    if (label->isVisibleTo(part<SourcePanel>())) source << label->text();
  seen["source"] = source.join('\n');
  if (part<FolderBar>()->isVisibleTo(window_->centralWidget())) seen["folder"] = value("Picture on show");
  if (part<TeachMode>()) seen["teach"] = lookAtTeach();
  QJsonArray open;
  for (const QDialog* dialog : dialogs()) {
    QStringList texts{dialog->windowTitle()};
    for (const auto* label : dialog->findChildren<QLabel*>()) texts << label->text();
    for (const auto* edit : dialog->findChildren<QLineEdit*>()) texts << edit->text();
    for (const auto* edit : dialog->findChildren<QPlainTextEdit*>()) texts << edit->toPlainText();
    for (const auto* items : dialog->findChildren<QListWidget*>())
      for (int row = 0; row < items->count(); ++row) texts << items->item(row)->text();
    const auto* picture = dialog->findChild<RegionCanvas*>();
    open << QJsonObject{{"class", QString::fromLatin1(dialog->metaObject()->className()).section("::", -1)},
                        {"title", dialog->windowTitle()},
                        {"texts", texts.join('\n')},
                        {"picture", pictureOf(picture ? picture->frame() : nullptr)}};
  }
  seen["dialogs"] = open;
  return last_ = seen;
}

QJsonValue Hands::drop(const QJsonArray& paths) const {
  QMimeData data;
  QList<QUrl> urls;
  for (const QJsonValue path : paths)
    urls << (path.toString().contains("://") ? QUrl(path.toString()) : QUrl::fromLocalFile(path.toString()));
  data.setUrls(urls);
  QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(window_.get(), &enter);
  QDropEvent event(QPointF(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(window_.get(), &event);
  return true;
}

// The topmost dialog.
QJsonValue Hands::answer(bool accept) const {
  const auto open = dialogs();
  if (open.isEmpty()) return "no dialog";
  QDialog* dialog = open.back();
  if (auto* box = dialog->findChild<QDialogButtonBox*>()) {
    for (auto* button : box->buttons()) {
      const auto role = box->buttonRole(button);
      const bool yes = role == QDialogButtonBox::AcceptRole || role == QDialogButtonBox::YesRole;
      if (yes != accept) continue;
      if (!button->isEnabled()) return "disabled";
      button->click();
      return true;
    }
  }
  dialog->close();
  return true;
}

QJsonValue Hands::clickChart(double time) const {
  TimeChart* chart = part<TimeChart>();
  const TimeAxis& axis = chart->axis();
  if (!chart->isVisible() || time < axis.from || time > axis.to) return "not on show";
  const QPointF at(axis.x(time), chart->height() / 2.0);
  for (const auto type : {QEvent::MouseButtonPress, QEvent::MouseButtonRelease}) {
    QMouseEvent event(type, at, chart->mapToGlobal(at), Qt::LeftButton,
                      type == QEvent::MouseButtonPress ? Qt::LeftButton : Qt::NoButton, Qt::NoModifier);
    QCoreApplication::sendEvent(chart, &event);
  }
  return true;
}

// In a list of choices, by its data or its tool tip.
QJsonValue Hands::choose(const char* name, const QString& text) const {
  auto* box = named<QComboBox>(name);
  for (int i = 0; box && i < box->count(); ++i) {
    if (box->itemData(i).toString() != text && box->itemData(i, Qt::ToolTipRole).toString() != text) continue;
    box->setCurrentIndex(i);
    emit box->activated(i);
    return true;
  }
  return "no such choice";
}

// A half of the picture, in the dialog that is open.
QJsonValue Hands::drawRegion(const QString& name, bool right) const {
  const auto open = dialogs();
  auto* dialog = open.isEmpty() ? nullptr : qobject_cast<RegionsDialog*>(open.back());
  if (!dialog) return "no dialog";
  auto* canvas = dialog->findChild<RegionCanvas*>();
  const double width = canvas->frame()->size().width(), height = canvas->frame()->size().height();
  // From the middle of the first pixels to that of the last.
  const double middle = std::floor(width / 2), below = height - 0.5;
  const double from = right ? middle + 0.5 : 0.5, to = right ? width - 0.5 : middle - 0.5;
  emit canvas->drawn(QPolygonF({{from, 0.5}, {to, 0.5}, {to, below}, {from, below}}));
  auto* edit = dialog->findChild<QLineEdit*>();
  edit->setText(name);
  emit edit->textEdited(name);
  return true;
}

QJsonValue Hands::changeRegion(const QString& of, const QString& how, const QString& name) const {
  const auto open = dialogs();
  auto* dialog = open.isEmpty() ? nullptr : qobject_cast<RegionsDialog*>(open.back());
  if (!dialog) return "no dialog";
  const auto& regions = dialog->regions();
  const auto found = std::ranges::find(regions, of.toStdString(), &vision::Region::name);
  if (found == regions.end()) return "no such region";
  dialog->findChild<QListWidget*>()->setCurrentRow(static_cast<int>(found - regions.begin()));
  if (how == "rename") {
    auto* edit = dialog->findChild<QLineEdit*>();
    edit->setText(name);
    emit edit->textEdited(name);
    return true;
  }
  for (auto* button : dialog->findChildren<QAbstractButton*>())
    if (button->text() == (how == "ignore" ? "Ignored" : "Delete")) return button->click(), true;
  return "no such button";
}

// A field of the topmost dialog, by what screen readers call it.
QJsonValue Hands::fill(const QString& field, const QString& text) const {
  const auto open = dialogs();
  if (open.isEmpty()) return "no dialog";
  const QByteArray name = field.toUtf8();
  if (auto* edit = named<QPlainTextEdit>(name, open.back())) return edit->setPlainText(text), true;
  if (auto* edit = named<QLineEdit>(name, open.back())) return edit->setText(text), true;
  return "no such field";
}

// A number of the topmost dialog, with the box that makes it count.
QJsonValue Hands::setNumber(const QString& field, double number) const {
  const auto open = dialogs();
  if (open.isEmpty()) return "no dialog";
  auto* edit = named<QDoubleSpinBox>(field.toUtf8(), open.back());
  if (!edit) return "no such field";
  for (auto* box : open.back()->findChildren<QCheckBox*>())
    if (box->text() == field) box->setChecked(true);
  edit->setValue(number);
  return true;
}

QJsonObject Hands::lookAtTeach() const {
  auto* const teach = part<TeachMode>();
  QJsonArray classes, regions;
  for (const ClassInfo& one : teach->state().classes.classes) classes << QString::fromStdString(one.name);
  const auto* region = named<QComboBox>("Region that shows the states", part<StatesPanel>());
  for (int i = 1; i < region->count(); ++i) regions << region->itemText(i);
  QJsonObject states;
  const auto* pictures = named<QListWidget>("Pictures and their states", part<StatesPanel>());
  for (int row = 0; row < pictures->count(); ++row) {
    const QString text = pictures->item(row)->text();
    if (text.contains(" · ")) states[text.section(" · ", 1)] = text.section(" · ", 0, 0);
  }
  return {{"name", teach->shown()},
          {"picture", teach->editor() ? pictureOf(part<TeachCanvas>()->frame()) : QJsonObject()},
          {"pictures", QJsonArray::fromStringList(teach->state().pictures)},
          {"labelled", QJsonArray::fromStringList(teach->state().labelled)},
          {"classes", classes},
          {"regions", regions},
          {"states", states}};
}

QJsonValue Hands::addClass(const QString& name) const {
  auto* edit = part<LabelClassesPanel>()->findChild<QLineEdit*>();
  edit->setText(name);
  emit edit->returnPressed();
  return true;
}

// With the brush, from the middle of the picture to the right.
QJsonValue Hands::drawStroke(int label) const {
  auto* canvas = part<TeachCanvas>();
  if (!canvas->isVisible() || !canvas->frame()) return "no picture";
  part<LabelClassesPanel>()->choose(label);
  part<TeachPane>()->chooseTool(TeachCanvas::Tool::kBrush);
  canvas->setBrush(6);
  const QPointF from = canvas->viewport().pictureRect().center(), to = from + QPointF(9, 0);
  const auto send = [canvas](QEvent::Type type, QPointF at, Qt::MouseButtons buttons) {
    QMouseEvent event(type, at, canvas->mapToGlobal(at), Qt::LeftButton, buttons, Qt::NoModifier);
    QCoreApplication::sendEvent(canvas, &event);
  };
  send(QEvent::MouseButtonPress, from, Qt::LeftButton);
  send(QEvent::MouseMove, to, Qt::LeftButton);
  send(QEvent::MouseButtonRelease, to, Qt::NoButton);
  return true;
}

QJsonValue Hands::chooseStateRegion(const QString& region) const {
  auto* box = named<QComboBox>("Region that shows the states", part<StatesPanel>());
  const int index = region.isEmpty() ? 0 : box->findText(region);
  if (index < 0) return "no such region";
  box->setCurrentIndex(index);
  return true;
}

// Nothing happens until the states that are there are read.
QJsonValue Hands::giveState(const QString& picture, const QString& state) const {
  auto* panel = part<StatesPanel>();
  QPushButton* button = nullptr;
  for (auto* one : panel->findChildren<QPushButton*>())
    if (one->text().startsWith(state + " (")) button = one;
  if (!button) {
    auto* edit = named<QLineEdit>("New state", panel);
    edit->setText(state);
    emit edit->returnPressed();
    return "made the state";
  }
  auto* list = named<QListWidget>("Pictures and their states", panel);
  for (int row = 0; row < list->count(); ++row)
    list->item(row)->setSelected(list->item(row)->data(Qt::UserRole).toString() == picture);
  button->click();
  return true;
}

QJsonValue Hands::act(const QJsonObject& what) {
  const QString act = what["do"].toString(), of = what["of"].toString();
  if (act == "start") return start(what), true;
  if (act == "end") return close();
  if (!window_) return "no window";
  at_ = window_.get();
  if (what.contains("window")) {
    findOthers();
    if (what["window"].toInt() >= others_.size()) return "no such window";
    at_ = others_[what["window"].toInt()];
  }
  if (act == "drop") return drop(what["paths"].toArray());
  if (act == "accept" || act == "reject") return answer(act == "accept");
  if (act == "draw") return drawRegion(of, what["right"].toBool());
  if (act == "region") return changeRegion(of, what["act"].toString(), what["name"].toString());
  if (act == "fill") return fill(of, what["text"].toString());
  if (act == "number") return setNumber(of, what["number"].toDouble());
  if (act == "class") return addClass(of);
  if (act == "stroke") return drawStroke(what["label"].toInt());
  if (act == "state_region") return chooseStateRegion(of);
  if (act == "state") return giveState(of, what["state"].toString());
  if (act == "chart") return clickChart(what["time"].toDouble());
  if (act == "chart_source") return choose("Source whose samples are drawn", of);
  if (act == "legend_region") return choose("Where the areas are measured", of);
  if (act == "event") {
    auto* table = named<QTableView>("Events");
    if (table->model()->rowCount() == 0) return "no event";
    emit table->activated(table->model()->index(what["row"].toInt() % table->model()->rowCount(), 0));
    return true;
  }
  if (act == "camera") {
    auto* page = part<CamerasPage>();
    if (page->count() == 0 || !page->isVisible()) return "no cameras";
    emit page->activated(page->model()->index(what["row"].toInt() % page->count(), 0));
    return true;
  }
  if (act == "plug") {
    for (const auto& [url, camera] : cameras_)
      if (QString::fromStdString(url) == of) camera->dead = !what["in"].toBool();
    return true;
  }
  if (act == "look") return true;
  if (act == "reduce") {  // as typed in the panel
    auto* edit = named<QLineEdit>("Reduction as text", part<ReductionPanel>());
    edit->setText(of);
    emit edit->returnPressed();
    return true;
  }
  if (act == "hold") return held_ << of, true;
  if (act == "release") return held_.clear(), true;
  auto* action = part<QAction>(act);
  if (!action) return "no such action";
  if (!action->isEnabled() || !action->isVisible()) return "disabled";
  action->trigger();
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const mpm::worlds::OffscreenApp app(argc, argv);
  applyLook(lightTheme(), 100);
  Hands hands;
  app.answerLines([&hands](const QJsonObject& what) {
    QJsonObject reply;
    try {
      const bool waits = what["do"].toString() == "wait";
      reply["done"] = waits ? QJsonValue(true) : hands.act(what);
      reply["seen"] = waits ? hands.wait() : hands.look();
      reply["gave_up"] = hands.gaveUp();
    } catch (const std::exception& error) {
      reply["done"] = QString::fromUtf8(error.what());
    }
    return reply;
  });
  return 0;
}
