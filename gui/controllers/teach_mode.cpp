// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/teach_mode.h"

#include "gui/models/readout.h"
#include "gui/models/recents.h"
#include "vision/labels/classes.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

std::vector<cv::Vec3b> colorsOf(const std::vector<ClassInfo>& classes) {
  ModelFacts facts;
  facts.classes = classes;
  return vision::classColors(facts, static_cast<int>(classes.size()));
}

// A class of the model that is watched with has one colour everywhere. `model`: null for none.
std::array<std::uint8_t, 3> colorOfNew(const std::string& name, const std::vector<ClassInfo>& list,
                                       const cv::Mat& image, const ModelInfo* model) {
  cv::Vec3b bgr = vision::newClassColor(name, colorsOf(list), image);
  if (model) {
    const auto names = vision::classNames(*model);
    if (const auto same = std::ranges::find(names, name); same != names.end())
      bgr = vision::classColors(model->facts, model->classes)[static_cast<std::size_t>(same - names.begin())];
  }
  return {bgr[2], bgr[1], bgr[0]};
}

// NAME.db -> NAME.labels; without a database beside the pictures.
QString labelFolder(const WindowOptions& options) {
  if (options.database.isEmpty()) return options.pictures + QStringLiteral("/taught.labels");
  const QFileInfo file(options.database);
  return file.dir().filePath((file.suffix() == QLatin1String("db") ? file.completeBaseName() : file.fileName()) +
                             QStringLiteral(".labels"));
}

}  // namespace

TeachMode::TeachMode(const WindowOptions& options, OnShow* on_show, NetControl* net, CameraConfigs* configs,
                     const SourcePictures& pictures, SettingsWriter* settings, TeachPane* pane, QObject* parent)
    : QObject(parent),
      options_(options),
      on_show_(on_show),
      net_(net),
      pane_(pane),
      store_(labelFolder(options)),
      thumbnails_(store_.folder() + QStringLiteral("/pictures")),
      models_(new ModelTeaching(net, settings, pane->models(), this)),
      states_(new StateTeaching(store_.folder(), on_show, net, configs, pane->states(), this)),
      suggestions_(new PictureSuggestions(pictures, on_show, &store_, &trainer_, pane->pictures(), this)) {
  connectPictures();
  connectClasses();
  connectStore();
  connectTrainer();
  store_.open();
  connectSource();
}

// The parts that look at the store and the trainer go before them.
TeachMode::~TeachMode() {
  pane_->canvas()->setEditor(nullptr);
  delete suggestions_;
  delete states_;
  delete models_;
}

void TeachMode::connectSource() {
  LabelPicturesPanel* pictures = pane_->pictures();
  const auto take_folder = [this, pictures] { pictures->setFolder(sourceFolder(on_show_->asked())); };
  connect(net_, &NetControl::modelChanged, this, &TeachMode::takeModel);
  connect(on_show_, &OnShow::changed, this, take_folder);
  connect(on_show_, &OnShow::liveChanged, pictures, &LabelPicturesPanel::setLive);
  takeModel();
  take_folder();
  pictures->setLive(on_show_->liveFrame() != nullptr);
}

void TeachMode::connectPictures() {
  connect(pane_->canvas(), &TeachCanvas::said, this, [this](const QString& text) { emit said(text, Badge::kWarning); });
  LabelPicturesPanel* pictures = pane_->pictures();
  connect(pictures, &LabelPicturesPanel::picked, this, &TeachMode::show);
  connect(pictures, &LabelPicturesPanel::takeRequested, this, &TeachMode::take);
  connect(pictures, &LabelPicturesPanel::suggestRequested, this, &TeachMode::suggest);
  connect(pictures, &LabelPicturesPanel::filesChosen, &store_, &LabelStore::addFiles);
  connect(pictures, &LabelPicturesPanel::importChosen, this, &TeachMode::importLabels);
  connect(pictures, &LabelPicturesPanel::copyRequested, this, [this](const QString& from) {
    store_.read(from, [this, from](const cv::Mat& image, const cv::Mat& labels) { copyLabels(from, image, labels); });
  });
  connect(pictures, &LabelPicturesPanel::removeRequested, this, [this](const QString& name) {
    store_.change([name](vision::LabelFolder& folder) { folder.removePicture(name.toStdString()); });
  });
  connect(&thumbnails_, &Thumbnails::made, pictures, &LabelPicturesPanel::setThumbnail);
  connect(&thumbnails_, &Thumbnails::made, pane_->states(), &StatesPanel::setThumbnail);
  connect(pane_->states(), &StatesPanel::picked, this, &TeachMode::show);
  connect(pane_->labels(), &LabelTablePanel::picked, this, [this](const QString& picture, int label) {
    pane_->classes()->choose(label);
    show(picture);
  });
  connect(pane_->labels(), &LabelTablePanel::removeRequested, this, &TeachMode::removeClass);
}

void TeachMode::importLabels(const QString& from) {
  const auto done = std::make_shared<vision::FoundLabels>();
  changeLabels(
      [from, done](vision::LabelFolder& folder) { *done = folder.import(from.toStdString()); },
      [this, done] {
        const QString text = tr("Labels of %n picture(s) are imported", nullptr, static_cast<int>(done->files.size()));
        if (done->missing.empty()) return emit said(text, Badge::kGood);
        emit said(tr("%1. There is no picture for %2").arg(text, texts(done->missing).join(QStringLiteral(", "))),
                  Badge::kWarning);
      });
}

void TeachMode::connectClasses() {
  LabelClassesPanel* classes = pane_->classes();
  connect(classes, &LabelClassesPanel::added, this, &TeachMode::addClass);
  const auto changeOne = [this](int index, const std::function<void(ClassInfo&)>& change) {
    changeClasses([old = state_.classes.classes.at(static_cast<std::size_t>(index)).name, change](auto& list) {
      for (ClassInfo& one : list)  // by its name: another one may have its place by then
        if (one.name == old) return change(one);
    });
  };
  connect(classes, &LabelClassesPanel::renamed, this, [changeOne](int index, const QString& name) {
    changeOne(index, [name = name.toStdString()](ClassInfo& one) { one.name = name; });
  });
  connect(classes, &LabelClassesPanel::colored, this, [changeOne](int index, const QColor& color) {
    const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
    changeOne(index, [rgb = std::array{byte(color.red()), byte(color.green()), byte(color.blue())}](ClassInfo& one) {
      one.rgb = rgb;
    });
  });
  connect(classes, &LabelClassesPanel::modelClassesWanted, this, &TeachMode::addModelClasses);
  connect(classes, &LabelClassesPanel::merged, this, [this](int from, std::optional<int> into) {
    changeLabels([from, into](vision::LabelFolder& folder) { folder.mergeClass(from, into); });
  });
}

void TeachMode::connectStore() {
  connect(&store_, &LabelStore::changed, this, &TeachMode::takeState);
  connect(&store_, &LabelStore::added, this, &TeachMode::show);
  connect(&store_, &LabelStore::failed, this, [this](const QString& message) {
    unwanted_.reset();
    suggestions_->end();
    fail(message);
    classes_ = {};  // what was asked for did not come about
    takeState(state_);
    pane_->pictures()->showAs(picture_.name());
  });
}

void TeachMode::connectTrainer() {
  connect(&analysis_, &PictureAnalysis::finished, this, [this](const QString& name, const LiveFramePtr& frame) {
    if (picture_.takeAnalysis(name, frame)) showPrediction();
  });
  connect(&analysis_, &PictureAnalysis::failed, this, &TeachMode::fail);
  connect(&trainer_, &LiveTrainer::predicted, this,
          [this](const QString& name, const cv::Mat& labels, const std::vector<int>& unsure) {
            if (picture_.takeTrained(name, labels)) {
              pane_->canvas()->setUnsure(unsure);
              showPrediction();
            }
            pane_->setStatus(tr("Trained on your labels: the pale colours are what the model makes of this picture"));
          });
  connect(&trainer_, &LiveTrainer::failed, this,
          [this](const QString& why) { pane_->setStatus(why, Badge::kWarning); });
  connect(suggestions_, &PictureSuggestions::said, this, &TeachMode::said);
  connect(models_, &ModelTeaching::said, this, &TeachMode::said);
  connect(models_, &ModelTeaching::wanted, this, &TeachMode::train);
  connect(models_, &ModelTeaching::made, &store_, &LabelStore::open);
  connect(models_, &ModelTeaching::taught, this, &TeachMode::taught);
  connect(states_, &StateTeaching::taught, this, &TeachMode::taught);
}

void TeachMode::takeState(const LabelState& state) {
  state_ = state;
  showClasses(state.classes);
  pane_->pictures()->setPictures(state.pictures, state.labelled);
  pane_->states()->setPictures(state.pictures);
  thumbnails_.setNames(state.pictures);
  QStringList rare;
  for (const int label : state.progress.rare) rare << classes_.names.value(label);
  pane_->pictures()->setProgress(state.progress, rare);
  pane_->labels()->setLabels(state.counts, classes_.names, classes_.colors, on_show_->source().clock);
  pane_->models()->setModels(state.models);
  if (!state.pictures.contains(picture_.name())) {
    picture_.clear();
    pane_->canvas()->setEditor(nullptr);
    pane_->canvas()->setFrame(nullptr);
    if (!state.pictures.isEmpty() && !state.pictures.contains(picture_.wanted())) show(state.pictures.back());
  }
  picture_.keepEditorsOf(state.pictures);
}

// Only where something has changed: a name may be in the middle of being written.
void TeachMode::showClasses(const vision::ClassList& list) {
  ShownClasses shown;
  std::array<QRgb, 256> paint{};
  const auto bgr = colorsOf(list.classes);
  for (std::size_t c = 0; c < list.classes.size(); ++c) {
    paint[c] = qRgb(bgr[c][2], bgr[c][1], bgr[c][0]);
    shown.names << QString::fromStdString(list.classes[c].name);
    shown.colors.emplace_back(paint[c]);
  }
  if (shown == classes_) return;
  classes_ = shown;
  pane_->classes()->setClasses(shown.names, shown.colors);
  pane_->canvas()->setColors(paint, list.ignore);
  showPrediction();
}

void TeachMode::show(const QString& name) {
  if (!name.isEmpty() && name != picture_.name()) load(name);
}

void TeachMode::load(const QString& name) {
  store_.read(name, [this, name, question = picture_.ask(name)](const cv::Mat& image, const cv::Mat& labels) {
    if (picture_.isAsked(question)) showLoaded(name, image, labels);
  });
}

// For a change that rewrites labels: no editor is left that could write the old labels over the new ones.
void TeachMode::changeLabels(const std::function<void(vision::LabelFolder&)>& change,
                             const std::function<void()>& then) {
  pane_->canvas()->setEditor(nullptr);
  picture_.forgetEditors();
  store_.change(change, then);
  if (const QString shown = picture_.name(); !shown.isEmpty()) load(shown);
}

void TeachMode::showLoaded(const QString& name, const cv::Mat& image, const cv::Mat& labels) {
  pane_->canvas()->setEditor(nullptr);  // first: a stroke that is on ends in the picture before
  if (picture_.show(name, image, labels, state_.classes.ignore)) {
    connect(&editor()->steps(), &QUndoStack::indexChanged, this, &TeachMode::keepStroke);
    pane_->steps().addStack(&editor()->steps());
  }
  pane_->canvas()->setUnsure({});
  showPrediction();
  pane_->canvas()->setEditor(editor());
  pane_->pictures()->showAs(name);
  pane_->steps().setActiveStack(&editor()->steps());
  analysis_.begin(name, image);
  if (const auto unwanted = std::exchange(unwanted_, {}); unwanted && unwanted->first == name)
    return removeClass(name, unwanted->second);
  if (!state_.labelled.isEmpty()) return askTrainer();
  if (options_.teach.live && net_->model() && !training()) trainer_.prepare(job(), name);
}

void TeachMode::showPrediction() {
  const LiveFramePtr frame = picture_.predicted(classes_.names, state_.classes.ignore);
  if (frame) pane_->canvas()->setFrame(frame);
}

// Only what differs is then left to be drawn. What is drawn already stays.
void TeachMode::copyLabels(const QString& from, const cv::Mat& image, const cv::Mat& labels) {
  if (!editor()) return;
  if (labels.size() != editor()->labels().size())
    return emit said(tr("%1 has another size: its labels do not fit this picture").arg(from), Badge::kWarning);
  const cv::Mat moved = movedLabels(labels, image, picture_.image(), state_.classes.ignore);
  editor()->begin();
  editor()->fillGaps(moved.empty() ? labels : moved);
  if (!editor()->end()) return emit said(tr("%1 has no labels where this picture has none").arg(from), Badge::kNone);
  const QString copied = moved.empty()
                             ? tr("The labels of %1 are copied. Draw what differs; %2 takes them back")
                             : tr("The labels of %1 are copied, and moved a little as the camera was. Draw what "
                                  "differs; %2 takes them back");
  emit said(copied.arg(from, QKeySequence(QKeySequence::Undo).toString(QKeySequence::NativeText)), Badge::kGood);
}

// In its editor, so that it can be undone as a stroke can.
void TeachMode::removeClass(const QString& picture, int label) {
  if (picture != picture_.name()) {
    unwanted_.emplace(picture, label);
    return show(picture);
  }
  if (!editor()) return;
  editor()->begin();
  editor()->erase(label);
  if (!editor()->end()) return;
  emit said(tr("The labels of %1 in %2 are removed; %3 brings them back")
                .arg(classes_.names.value(label), picture,
                     QKeySequence(QKeySequence::Undo).toString(QKeySequence::NativeText)),
            Badge::kNone);
}

void TeachMode::keepStroke() {
  if (!editor()) return;  // its picture was removed while it was drawn
  pane_->canvas()->refreshLabels();
  const cv::Mat labels = editor()->labels().clone();
  store_.save(picture_.name(), labels);
  if (cv::countNonZero(labels != state_.classes.ignore) > 0)
    state_.labels[picture_.name()] = labels;
  else
    state_.labels.remove(picture_.name());
  askTrainer();
}

// On the thread of the store: earlier changes may wait there.
void TeachMode::changeClasses(const std::function<void(std::vector<ClassInfo>&)>& change) {
  store_.change([change](vision::LabelFolder& folder) {
    std::vector<ClassInfo> classes = folder.classes().classes;
    change(classes);
    folder.setClasses(classes);
  });
}

void TeachMode::addClass(const QString& name) {
  changeClasses([name = name.toStdString(), image = picture_.image(), model = net_->model()](auto& list) {
    list.push_back({name, colorOfNew(name, list, image, model.get())});
  });
}

void TeachMode::addModelClasses() {
  if (!net_->model()) return emit said(tr("No model is loaded"), Badge::kWarning);
  changeClasses([model = net_->model()](std::vector<ClassInfo>& list) {
    const auto names = vision::classNames(*model);
    const auto colors = vision::classColors(model->facts, model->classes);
    for (std::size_t c = 0; c < names.size(); ++c)
      list.push_back({names[c], std::array<std::uint8_t, 3>{colors[c][2], colors[c][1], colors[c][0]}});
  });
}

void TeachMode::takeModel() {
  const auto& model = net_->model();
  if (!model) return;
  EstimatorOptions same = net_->inference();
  same.reduce = model->reduction;
  same.reuse = {};  // its pictures do not follow each other
  same.task = model->givesLabels() ? std::optional(Task::kSemantic) : std::nullopt;
  analysis_.setModel(net_->runningPath().toStdString(), same);
  if (!picture_.name().isEmpty()) analysis_.begin(picture_.name(), picture_.image());
}

bool TeachMode::take() {
  const LiveFramePtr frame = on_show_->frame();
  if (!frame) {
    emit said(tr("There is no frame yet"), Badge::kWarning);
    return false;
  }
  const QFileInfo file(QString::fromStdString(frame->result.frame.file));
  store_.add(file.filePath().isEmpty() ? takenName(*frame) : file.completeBaseName(), frame->image(),
             frame->result.readers());
  return true;
}

void TeachMode::suggest() {
  if (!net_->model()) return emit said(tr("No model is loaded"), Badge::kWarning);
  if (training()) return emit said(tr("Wait until the training has ended"), Badge::kWarning);
  suggestions_->look(state_.pictures, [this] { return job(); });
}

void TeachMode::rest() {
  suggestions_->end();
  trainer_.stop();
}

TrainerJob TeachMode::job() const {
  const auto& model = net_->model();
  return {store_.folder(),      net_->runningPath(), model ? std::optional(model->reduction) : std::nullopt,
          options_.teach.steps, state_.classes,      state_.labels};
}

void TeachMode::askTrainer() {
  if (!options_.teach.live || !net_->model() || training() || picture_.name().isEmpty()) return;
  pane_->setStatus(tr("Training on your labels…"));
  trainer_.ask(job(), picture_.name());
}

void TeachMode::train() {
  if (training()) return;
  if (!net_->model()) return emit said(tr("No model is loaded"), Badge::kWarning);
  rest();
  models_->train(job(), store_.modelsFolder());
  pane_->setStatus({});
}

}  // namespace mpm::gui
