// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/teach_mode.h"

#include "base/quantiles.h"
#include "gui/models/readout.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

constexpr std::size_t kMaxEditors = 8;  // each keeps a label map and its history
constexpr int kSuggestions = 3;
constexpr int kCandidates = 40;  // each takes the encoder about as long as a frame of the live view
const QString kBefore = QStringLiteral("teach/before");

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

// The time at which it was taken.
QString nameOf(const LiveFrame& frame) {
  return QString::fromStdString(fileTime(frame.result.frame.time > 0 ? frame.result.frame.time : unixNow()));
}

// A stored picture, or a copy in `folder` where it shows what must not be seen by now. Empty: it cannot be read.
QString coveredFile(const QString& picture, const monitor::PrivacyOptions& hidden, const QString& folder) try {
  const monitor::StoredFrame stored = monitor::readStored(picture.chopped(4).toStdString());
  if (!stored.showsOf(hidden).on()) return picture;
  const QString copy = QStringLiteral("%1/%2").arg(folder, QFileInfo(picture).fileName());
  vision::writePicture(copy.toStdString(), stored.picture(".png", hidden), Readers::kGroup);
  return copy;
} catch (const Error&) {
  return {};
}

// NAME.db -> NAME.labels; without a database beside the pictures.
QString labelFolder(const WindowOptions& options) {
  if (options.database.isEmpty()) return options.pictures + QStringLiteral("/taught.labels");
  const QFileInfo file(options.database);
  return file.dir().filePath((file.suffix() == QLatin1String("db") ? file.completeBaseName() : file.fileName()) +
                             QStringLiteral(".labels"));
}

}  // namespace

TeachMode::TeachMode(const WindowOptions& options, Watching* watching, SettingsWriter* settings, TeachPane* pane,
                     QObject* parent)
    : QObject(parent),
      options_(options),
      watching_(watching),
      settings_(settings),
      pane_(pane),
      model_before_(settings->read()->value(kBefore).toString()),
      store_(labelFolder(options)),
      states_(store_.folder()),
      thumbnails_(store_.folder() + QStringLiteral("/pictures")) {
  wirePane();
  wireStore();
  wireStates();
  connect(&analysis_, &PictureAnalysis::finished, this, [this](const QString& name, const LiveFramePtr& frame) {
    if (name != shown_) return;
    frame_ = frame;
    showPrediction();
  });
  connect(&analysis_, &PictureAnalysis::failed, this, &TeachMode::fail);
  connect(&trainer_, &LiveTrainer::predicted, this,
          [this](const QString& name, const cv::Mat& labels, const std::vector<int>& unsure) {
            if (name == shown_) {
              trained_ = labels;
              pane_->canvas()->setUnsure(unsure);
              showPrediction();
            }
            pane_->setStatus(tr("Trained on your labels: the pale colours are what the model makes of this picture"));
          });
  connect(&trainer_, &LiveTrainer::suggested, this, [this](const QStringList& files) {
    comparing_ = false;
    pane_->pictures()->setSuggestions(
        files, files.isEmpty() ? tr("All pictures are like one that is labelled")
                               : tr("These differ most from what is labelled. Press one to label it"));
  });
  connect(&trainer_, &LiveTrainer::failed, this, [this](const QString& why) {
    pane_->setStatus(why, Badge::kWarning);
    endComparing();
  });
  store_.open();
  wireWatching();
}

TeachMode::~TeachMode() { pane_->canvas()->setEditor(nullptr); }

void TeachMode::wireWatching() {
  LabelPicturesPanel* pictures = pane_->pictures();
  const auto takeFolder = [this, pictures] { pictures->setFolder(sourceFolder(watching_->asked())); };
  connect(watching_, &Watching::modelChanged, this, &TeachMode::takeModel);
  connect(watching_, &Watching::regionsChanged, this, &TeachMode::takeRegions);
  connect(watching_, &Watching::pageChanged, this, takeFolder);
  connect(watching_, &Watching::liveChanged, pictures, &LabelPicturesPanel::setLive);
  takeModel();
  takeRegions();
  takeFolder();
  pictures->setLive(watching_->hasFrame());
}

void TeachMode::wirePane() {
  TeachCanvas* canvas = pane_->canvas();
  connect(canvas, &TeachCanvas::said, this, [this](const QString& text) { emit said(text, Badge::kWarning); });

  connect(pane_->pictures(), &LabelPicturesPanel::picked, this, &TeachMode::show);
  connect(pane_->pictures(), &LabelPicturesPanel::takeRequested, this, &TeachMode::take);
  connect(pane_->pictures(), &LabelPicturesPanel::suggestRequested, this, &TeachMode::suggest);
  connect(pane_->pictures(), &LabelPicturesPanel::filesChosen, &store_, &LabelStore::addFiles);
  connect(pane_->pictures(), &LabelPicturesPanel::importChosen, this, [this](const QString& from) {
    const auto done = std::make_shared<vision::FoundLabels>();
    changeLabels([from, done](vision::LabelFolder& folder) { *done = folder.import(from.toStdString()); },
                 [this, done] {
                   const QString text =
                       tr("Labels of %n picture(s) are imported", nullptr, static_cast<int>(done->files.size()));
                   if (done->missing.empty()) return emit said(text, Badge::kGood);
                   emit said(
                       tr("%1. There is no picture for %2").arg(text, texts(done->missing).join(QStringLiteral(", "))),
                       Badge::kWarning);
                 });
  });
  connect(pane_->pictures(), &LabelPicturesPanel::copyRequested, this, [this](const QString& from) {
    store_.read(from, [this, from](const cv::Mat& image, const cv::Mat& labels) { copyLabels(from, image, labels); });
  });
  connect(pane_->pictures(), &LabelPicturesPanel::removeRequested, this, [this](const QString& name) {
    store_.change([name](vision::LabelFolder& folder) { folder.removePicture(name.toStdString()); });
  });

  LabelClassesPanel* classes = pane_->classes();
  connect(classes, &LabelClassesPanel::added, this, [this](const QString& name) {
    const LiveFramePtr& shown = pane_->canvas()->frame();
    changeClasses([name = name.toStdString(), image = shown ? shown->image() : cv::Mat(), model = model_](auto& list) {
      list.push_back({name, colorOfNew(name, list, image, model.get())});
    });
  });
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

  connect(pane_->labels(), &LabelTablePanel::picked, this, [this](const QString& picture, int label) {
    pane_->classes()->choose(label);
    show(picture);
  });
  connect(pane_->labels(), &LabelTablePanel::removeRequested, this, &TeachMode::removeClass);

  connect(pane_->models(), &TaughtModelsPanel::trainRequested, this, &TeachMode::train);
  connect(pane_->models(), &TaughtModelsPanel::cancelRequested, this, [this] {
    if (run_) run_->cancel();
  });
  connect(pane_->models(), &TaughtModelsPanel::useRequested, this, &TeachMode::use);
}

void TeachMode::wireStore() {
  connect(&store_, &LabelStore::changed, this, &TeachMode::takeState);
  connect(&thumbnails_, &Thumbnails::made, pane_->pictures(), &LabelPicturesPanel::setThumbnail);
  connect(&thumbnails_, &Thumbnails::made, pane_->states(), &StatesPanel::setThumbnail);
  connect(&store_, &LabelStore::added, this, &TeachMode::show);
  connect(&store_, &LabelStore::failed, this, [this](const QString& message) {
    unwanted_.reset();
    endComparing();
    fail(message);
    names_.clear();  // what was asked for did not come about
    takeState(state_);
    pane_->pictures()->showAs(shown_);
  });
}

LabelEditor* TeachMode::editor() {
  const auto found = editors_.find(shown_);
  return found == editors_.end() ? nullptr : &found->second;
}

void TeachMode::wireStates() {
  StatesPanel* panel = pane_->states();
  connect(panel, &StatesPanel::picked, this, &TeachMode::show);
  connect(panel, &StatesPanel::setChosen, &states_, &StateTrainer::open);
  connect(&states_, &StateTrainer::listed, panel, &StatesPanel::setSets);
  connect(panel, &StatesPanel::examplesChanged, this,
          [this, panel](const ShownStates& shown) { states_.save(panel->set(), shown); });
  connect(panel, &StatesPanel::trainRequested, this, [this, panel] {
    if (!model_) return panel->setProblem(tr("There is no model yet"));
    states_.train(panel->set(), panel->region(), QString::fromStdString(model_path_), model_->reduction,
                  watching_->parts().rules->regions(watching_->source()));
  });
  connect(panel, &StatesPanel::useRequested, this, &TeachMode::useStates);
  connect(&states_, &StateTrainer::opened, this, [panel](const QString& name, const ShownStates& shown) {
    if (name == panel->set()) panel->setExamples(shown);
  });
  connect(&states_, &StateTrainer::progressed, panel, &StatesPanel::setProgress);
  connect(&states_, &StateTrainer::trained, panel, [panel](const QString& name, const auto& head) {
    if (name == panel->set()) panel->setHead(head);
  });
  connect(&states_, &StateTrainer::failed, panel, &StatesPanel::setProblem);
  states_.open(panel->set());
}

// One of them may show states.
void TeachMode::takeRegions() {
  const QString source = watching_->source();
  pane_->states()->setRegions(regionNames(watching_->parts().rules->regions(source)));
  QStringList in_use;
  for (const evaluation::StateHead& head : watching_->parts().rules->states(source))
    in_use << QString::fromStdString(head.name);
  pane_->states()->setInUse(in_use);
}

void TeachMode::useStates(const std::shared_ptr<const evaluation::StateHead>& head, bool use) {
  const QString source = watching_->source();
  watching_->parts().rules->useStates(source, *head, states_.file(QString::fromStdString(head->name)), use);
  if (source == watching_->parts().live->source())
    watching_->parts().live->session().setStates(watching_->parts().rules->cameraPlan(source).states);
  takeRegions();
  if (use) emit taught();
}

void TeachMode::takeState(const LabelState& state) {
  state_ = state;
  showClasses(state.classes);
  pane_->pictures()->setPictures(state.pictures, state.labelled);
  pane_->states()->setPictures(state.pictures);
  thumbnails_.setNames(state.pictures);
  QStringList rare;
  for (const int label : state.progress.rare) rare << names_.value(label);
  pane_->pictures()->setProgress(state.progress, rare);
  pane_->labels()->setLabels(state.counts, names_, colors_);
  pane_->models()->setModels(state.models);
  if (!state.pictures.contains(shown_)) {
    shown_.clear();
    frame_.reset();
    pane_->canvas()->setEditor(nullptr);
    pane_->canvas()->setFrame(nullptr);
    if (!state.pictures.isEmpty() && !state.pictures.contains(wanted_)) show(state.pictures.back());
  }
  std::erase_if(editors_, [&](const auto& one) { return !state.pictures.contains(one.first); });
}

// Only where something has changed: a name may be in the middle of being written.
void TeachMode::showClasses(const vision::ClassList& list) {
  QStringList names;
  std::vector<QColor> colors;
  std::array<QRgb, 256> paint{};
  const auto bgr = colorsOf(list.classes);
  for (std::size_t c = 0; c < list.classes.size(); ++c) {
    paint[c] = qRgb(bgr[c][2], bgr[c][1], bgr[c][0]);
    names << QString::fromStdString(list.classes[c].name);
    colors.emplace_back(paint[c]);
  }
  if (names == names_ && colors == colors_) return;
  names_ = names;
  colors_ = colors;
  pane_->classes()->setClasses(names, colors);
  pane_->canvas()->setColors(paint, list.ignore);
  showPrediction();
}

void TeachMode::show(const QString& name) {
  if (!name.isEmpty() && name != shown_) load(name);
}

void TeachMode::load(const QString& name) {
  wanted_ = name;
  store_.read(name, [this, name, number = ++loads_](const cv::Mat& image, const cv::Mat& labels) {
    if (number == loads_) showLoaded(name, image, labels);
  });
}

// For a change that rewrites labels: no editor is left that could write the old labels over the new ones.
void TeachMode::changeLabels(const std::function<void(vision::LabelFolder&)>& change,
                             const std::function<void()>& then) {
  pane_->canvas()->setEditor(nullptr);
  editors_.clear();
  store_.change(change, then);
  if (!shown_.isEmpty()) load(shown_);
}

void TeachMode::showLoaded(const QString& name, const cv::Mat& image, const cv::Mat& labels) {
  pane_->canvas()->setEditor(nullptr);  // first: a stroke that is on ends in the picture before
  wanted_.clear();
  shown_ = name;
  if (!editors_.contains(name)) {
    if (editors_.size() >= kMaxEditors) editors_.erase(editors_.begin());
    QUndoStack& steps = editors_.try_emplace(name, labels, state_.classes.ignore).first->second.steps();
    connect(&steps, &QUndoStack::indexChanged, this, &TeachMode::keepStroke);
    pane_->steps().addStack(&steps);
  }
  frame_.reset();
  trained_.release();
  pane_->canvas()->setUnsure({});
  pane_->canvas()->setFrame(makeLiveFrame(image));
  pane_->canvas()->setEditor(editor());
  pane_->pictures()->showAs(name);
  pane_->steps().setActiveStack(&editor()->steps());
  analysis_.begin(name, image);
  if (const auto unwanted = std::exchange(unwanted_, {}); unwanted && unwanted->first == name)
    return removeClass(name, unwanted->second);
  if (!state_.labelled.isEmpty()) return askTrainer();
  if (options_.teach_live && !model_path_.empty() && !run_) trainer_.prepare(job(), name);
}

void TeachMode::showPrediction() {
  const LiveFramePtr base = frame_ ? frame_ : pane_->canvas()->frame();
  if (!base) return;
  auto frame = std::make_shared<LiveFrame>(*base);
  // The model has classes of its own: those of the same name are shown, the others are not.
  frame->map = frame->result.estimate.labels = !trained_.empty() ? trained_
                                               : frame_          ? labelsIn(names_, *frame_, state_.classes.ignore)
                                                                 : cv::Mat();
  pane_->canvas()->setFrame(frame);
}

// Only what differs is then left to be drawn. What is drawn already stays.
void TeachMode::copyLabels(const QString& from, const cv::Mat& image, const cv::Mat& labels) {
  if (!editor()) return;
  if (labels.size() != editor()->labels().size())
    return emit said(tr("%1 has another size: its labels do not fit this picture").arg(from), Badge::kWarning);
  const cv::Mat moved = movedLabels(labels, image, pane_->canvas()->frame()->image(), state_.classes.ignore);
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
  if (picture != shown_) {
    unwanted_.emplace(picture, label);
    return show(picture);
  }
  if (!editor()) return;
  editor()->begin();
  editor()->erase(label);
  if (!editor()->end()) return;
  emit said(tr("The labels of %1 in %2 are removed; %3 brings them back")
                .arg(names_.value(label), picture, QKeySequence(QKeySequence::Undo).toString(QKeySequence::NativeText)),
            Badge::kNone);
}

void TeachMode::keepStroke() {
  if (!editor()) return;  // its picture was removed while it was drawn
  pane_->canvas()->refreshLabels();
  const cv::Mat labels = editor()->labels().clone();
  store_.save(shown_, labels);
  if (cv::countNonZero(labels != state_.classes.ignore) > 0)
    state_.labels[shown_] = labels;
  else
    state_.labels.remove(shown_);
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

void TeachMode::addModelClasses() {
  if (!model_) return emit said(tr("No model is loaded"), Badge::kWarning);
  changeClasses([model = model_](std::vector<ClassInfo>& list) {
    const auto names = vision::classNames(*model);
    const auto colors = vision::classColors(model->facts, model->classes);
    for (std::size_t c = 0; c < names.size(); ++c)
      list.push_back({names[c], std::array<std::uint8_t, 3>{colors[c][2], colors[c][1], colors[c][0]}});
  });
}

void TeachMode::takeModel() {
  model_ = watching_->model();
  const QString running = watching_->modelPath();
  pane_->models()->setInUse(running, model_before_);
  if (!model_) return;
  model_path_ = watching_->parts().live->session().model();
  EstimatorOptions same = watching_->inference();
  same.reduce = model_->reduction;
  same.reuse = {};  // its pictures do not follow each other
  same.task = model_->givesLabels() ? std::optional(Task::kSemantic) : std::nullopt;
  analysis_.setModel(model_path_, same);
  if (const LiveFramePtr& now = pane_->canvas()->frame(); now && !shown_.isEmpty())
    analysis_.begin(shown_, now->image());
  // Until it runs the model before it does, and goes on where the new one cannot be read.
  if (model_wanted_.isEmpty() || running != model_wanted_) return;
  model_wanted_.clear();
  watching_->parts().live->session().addEvent(
      {unixNow(), monitor::EventKind::kModel, monitor::Severity::kInfo,
       "the model is now '" + running.toStdString() + "'; before it was '" + model_before_.toStdString() + "'"});
  emit taught();
}

void TeachMode::use(const QString& model) {
  model_before_ = watching_->modelPath();
  model_wanted_ = model;
  settings_->set(kBefore, model_before_);
  watching_->openModel(model, std::nullopt);
}

bool TeachMode::take() {
  const LiveFramePtr& frame = watching_->frame();
  if (!frame) {
    emit said(tr("There is no frame yet"), Badge::kWarning);
    return false;
  }
  const QFileInfo file(QString::fromStdString(frame->result.frame.file));
  store_.add(file.filePath().isEmpty() ? nameOf(*frame) : file.completeBaseName(), frame->image(),
             frame->result.readers());
  return true;
}

// The pictures to label next: of the source, and the live one. Those whose name a picture has already are left out.
void TeachMode::suggest() {
  if (!model_) return emit said(tr("No model is loaded"), Badge::kWarning);
  if (run_) return emit said(tr("Wait until the training has ended"), Badge::kWarning);
  const Watching::Parts& parts = watching_->parts();
  const auto owner = parts.live->session().owner();
  const auto privacy = parts.live->session().privacy();
  QStringList files = owner && privacy ? parts.pictures->filesOf(*owner) : QStringList();
  // The files of an archive show what is hidden; the one that is on show does not.
  const bool whole = privacy && !privacy->on();
  if (whole) files += parts.folder->files();
  QStringList candidates;
  for (int i = 0; i < files.size(); ++i)
    if (isInSpread(i, static_cast<int>(files.size()), kCandidates) &&
        !state_.pictures.contains(QFileInfo(files[i]).completeBaseName()))
      candidates << files[i];
  const LiveFramePtr& frame = watching_->frame();
  const bool is_file = frame && whole && !frame->result.frame.file.empty();
  const LiveFramePtr live = is_file ? nullptr : frame;
  if (candidates.isEmpty() && !live)
    return emit said(tr("There is nothing new to choose from: open a folder or a camera, or store pictures of it"),
                     Badge::kWarning);
  comparing_ = true;
  const int count = static_cast<int>(candidates.size()) + (live ? 1 : 0);
  pane_->pictures()->setSuggestions({}, tr("Comparing %n picture(s)…", nullptr, count));
  const auto compared = std::make_shared<QStringList>();
  const QString folder = scratch_.path();
  store_.look(
      [=](const vision::LabelFolder&) {
        for (const QString& file : candidates) {
          const QString shown = whole ? file : coveredFile(file, *privacy, folder);
          if (!shown.isEmpty()) *compared << shown;
        }
        if (!live) return;
        const QString file = QStringLiteral("%1/%2.png").arg(folder, nameOf(*live));
        vision::writePicture(file.toStdString(), live->image(), live->result.readers());
        *compared << file;
      },
      [this, compared] {
        if (comparing_) trainer_.suggest(job(), *compared, kSuggestions);
      });
}

void TeachMode::endComparing() {
  if (std::exchange(comparing_, false)) pane_->pictures()->setSuggestions({}, {});
}

void TeachMode::rest() {
  endComparing();
  trainer_.stop();
}

TrainerJob TeachMode::job() const {
  const auto reduce = model_ ? std::optional(model_->reduction) : std::nullopt;
  return {store_.folder(), QString::fromStdString(model_path_), reduce, options_.teach_steps, state_.classes,
          state_.labels};
}

void TeachMode::askTrainer() {
  if (!options_.teach_live || model_path_.empty() || run_ || shown_.isEmpty()) return;
  pane_->setStatus(tr("Training on your labels…"));
  trainer_.ask(job(), shown_);
}

void TeachMode::train() {
  if (run_) return;
  if (!model_) return emit said(tr("No model is loaded"), Badge::kWarning);
  rest();
  QDir().mkpath(store_.modelsFolder());
  QString model;
  for (int version = 1; model.isEmpty() || QFileInfo::exists(model); ++version)
    model = QStringLiteral("%1/v%2.onnx").arg(store_.modelsFolder()).arg(version);
  run_ = new Job(gui::training(job(), model), this);
  pane_->models()->setTraining(true);
  pane_->models()->setProblem({});
  pane_->setStatus({});
  connect(run_, &Job::progressed, pane_->models(), &TaughtModelsPanel::setProgress);
  connect(run_, &Job::ended, this, [this] {
    std::exchange(run_, nullptr)->deleteLater();
    pane_->models()->setTraining(false);
  });
  connect(run_, &Job::finished, this, [this](const QVariant& path) {
    store_.open();
    emit said(tr("%1 is trained. Read its verdict, then use it").arg(QFileInfo(path.toString()).completeBaseName()),
              Badge::kGood);
  });
  connect(run_, &Job::cancelled, this,
          [this] { emit said(tr("The training was cancelled; nothing was written"), Badge::kNone); });
  connect(run_, &Job::failed, this, [this](const QString& why) {
    fail(why);
    pane_->models()->setProblem(why);
  });
}

}  // namespace mpm::gui
