// SPDX-License-Identifier: Apache-2.0
#include "gui/models/trainer.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "evaluation/teaching.h"
#include "gui/models/label_maps.h"
#include "gui/models/readout.h"
#include "mpm/head_trainer.hpp"
#include "vision/csv.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

namespace fs = std::filesystem;

// From random weights 60 steps show the shapes; each stroke after it only has to move them.
constexpr int kFirstSteps = 60, kNextSteps = 25, kBatch = 4;
constexpr float kUnsure = 0.25f;  // the margin of a cell below which it is shown

struct Known {
  fs::file_time_type written;
  cv::Mat value;
};

struct Labelled {
  cv::Mat map;  // held, so that no other one gets its memory
  LabelledTokens tokens;
};

}  // namespace

// The encoder of a model, what it said about pictures, and the head.
struct LiveTrainer::Pupil {
  explicit Pupil(const TrainerJob& of) : job(of), trainer(of.model.toStdString()) {}

  const cv::Mat& tokensOf(const std::string& name) {
    const std::string file = vision::LabelFolder(job.folder.toStdString()).picturePath(name);
    const fs::file_time_type written = fs::last_write_time(file);
    Known& one = known[name];
    if (one.value.empty() || one.written != written) {
      one = {written, trainer.tokens(vision::readPicture(file))};
      labelled.erase(name);
    }
    return one.value;
  }

  const LabelledTokens& labelledTokensOf(const std::string& name, const cv::Mat& map) {
    const cv::Mat& tokens = tokensOf(name);
    Labelled& one = labelled[name];
    if (one.map.data != map.data) one = {map, trainer.label(tokens, map)};
    return one.tokens;
  }

  // One file may be gone by now, or be no picture.
  const cv::Mat* featureOf(const std::string& file) {
    try {
      const fs::file_time_type written = fs::last_write_time(file);
      Known& one = candidates[file];
      if (one.value.empty() || one.written != written)
        one = {written, vision::pictureFeature(trainer.tokens(vision::readPicture(file)))};
      return &one.value;
    } catch (const std::exception&) {
      return nullptr;
    }
  }

  // The labelled pictures that it has not looked at.
  std::vector<std::string> unread() const {
    std::vector<std::string> names;
    for (const QString& name : job.labels.keys())
      if (!known.contains(name.toStdString())) names.push_back(name.toStdString());
    return names;
  }

  void take(const TrainerJob& next) {
    if (next.classes.count() != job.classes.count() || next.classes.ignore != job.classes.ignore) labelled.clear();
    job = next;
    std::erase_if(labelled, [&](const auto& one) { return !job.labels.contains(QString::fromStdString(one.first)); });
  }

  // On the pictures that it has looked at. False: two classes are not labelled there, but may be in others.
  bool train(const std::function<bool()>& step) {
    const vision::ClassList& classes = job.classes;
    const std::vector<std::string> left = unread();
    std::vector<const LabelledTokens*> all;
    int occurring = 0;
    if (classes.count() > 1) {
      trainer.setClasses(classes.classes, classes.ignore);
      for (auto one = job.labels.begin(); one != job.labels.end(); ++one) {
        if (known.contains(one.key().toStdString()))
          all.push_back(&labelledTokensOf(one.key().toStdString(), one.value()));
      }
    }
    for (std::size_t c = 0; c < classes.classes.size(); ++c)
      occurring += std::any_of(all.begin(), all.end(), [c](const auto* one) { return one->pixels[c] > 0; });
    if (occurring < 2 && !left.empty()) return false;
    if (occurring < 2) throw Error(LiveTrainer::tr("label two classes, and training begins").toStdString());
    const bool goes_on = head && head->classes == classes.count();
    head = trainer.train(all, {.steps = goes_on ? kNextSteps : kFirstSteps,
                               .batch = kBatch,
                               .start = goes_on ? &*head : nullptr,
                               .step = step});
    return true;
  }

  QStringList next(const QStringList& files, int count, const std::function<bool()>& goes_on) {
    cv::Mat labelled_features, features;
    for (const QString& name : job.labels.keys())
      labelled_features.push_back(vision::pictureFeature(tokensOf(name.toStdString())));
    QStringList names, chosen;
    for (const QString& file : files) {
      if (!goes_on()) return {};
      if (const cv::Mat* feature = featureOf(file.toStdString())) {
        features.push_back(*feature);
        names << file;
      }
    }
    if (names.isEmpty()) {
      throw Error(
          tr("none of the %n stored picture(s) can be read", nullptr, static_cast<int>(files.size())).toStdString());
    }
    for (const int index : vision::furthestFirst(features, labelled_features, count)) chosen << names[index];
    return chosen;
  }

  TrainerJob job;
  HeadTrainer trainer;
  std::map<std::string, Known> known;        // tokens, by name
  std::map<std::string, Known> candidates;   // features, by file
  std::map<std::string, Labelled> labelled;  // by name
  std::optional<TokenHead> head;
};

LiveTrainer::LiveTrainer() : thread_(this, [this](const QString& why) { emit failed(why); }) {}

LiveTrainer::~LiveTrainer() { thread_.giveUp(); }

template <typename Work>
void LiveTrainer::run(const TrainerJob& job, int rank, Work work) {
  const auto with_pupil = [this, job, work = std::move(work)] {
    if (!pupil_ || pupil_->job.folder != job.folder || pupil_->job.model != job.model)
      pupil_ = std::make_unique<Pupil>(job);
    pupil_->take(job);
    work(*pupil_);
  };
  thread_.run(with_pupil, rank);
}

void LiveTrainer::prepare(const TrainerJob& job, const QString& picture) {
  run(job, 0, [picture](Pupil& pupil) { pupil.tokensOf(picture.toStdString()); });
}

// The encoder takes long: the first answer is of the pictures that it has looked at. Then it looks at the others, one
// at a time so that a new question comes in between, and answers again.
void LiveTrainer::answer(const TrainerJob& job, const QString& picture, int number, bool reads) {
  run(job, reads ? 0 : 1, [=, this](Pupil& pupil) {
    if (number != asked_) return;
    const cv::Mat tokens = pupil.tokensOf(picture.toStdString());
    std::vector<std::string> unread = pupil.unread();
    const auto read = [&] {
      pupil.tokensOf(unread.back());
      unread.pop_back();
    };
    const auto read_on = [=, this] { answer(job, picture, number, true); };
    if (reads && !unread.empty()) {
      read();
      if (!unread.empty()) return thread_.answer(read_on);
    }
    while (!pupil.train([this] { return thread_.goesOn(); })) {
      read();
      if (number != asked_ || !thread_.goesOn()) return;
    }
    const cv::Mat labels = pupil.trainer.predict(*pupil.head, tokens),
                  margins = pupil.trainer.margins(*pupil.head, tokens);
    std::vector<int> unsure;
    for (int i = 0; i < tokens.rows; ++i)
      if (margins.ptr<float>()[i] < kUnsure) unsure.push_back(i);
    thread_.answer([=, this, complete = unread.empty()] {
      emit predicted(picture, labels, unsure);
      if (!complete) read_on();
    });
  });
}

void LiveTrainer::suggest(const TrainerJob& job, const QStringList& files, int count) {
  run(job, 0, [this, files, count](Pupil& pupil) {
    const QStringList chosen = pupil.next(files, count, [this] { return thread_.goesOn(); });
    thread_.answer([this, chosen] { emit suggested(chosen); });
  });
}

void LiveTrainer::stop() {
  thread_.giveUp();
  thread_.run([this] { pupil_.reset(); });
}

Job::Work training(const TrainerJob& job, const QString& model) {
  return [job, model](const Job::Progress& progress) -> std::optional<QVariant> {
    const vision::LabelFolder folder(job.folder.toStdString());
    const QStringList names = job.labels.keys();
    evaluation::TeachJob work{.model = job.model.toStdString(), .classes = job.classes, .output = model.toStdString()};
    work.pictures = static_cast<std::size_t>(names.size());
    work.picture = [&](std::size_t i) {
      const QString& name = names[static_cast<qsizetype>(i)];
      return vision::LabelledPicture{folder.picture(name.toStdString()), job.labels[name]};
    };
    work.reduce = job.reduce.value_or(kFullModel);
    if (job.steps > 0) work.steps = job.steps;
    work.progress = progress;
    return evaluation::teach(work) ? std::optional<QVariant>(model) : std::nullopt;
  };
}

StateTrainer::StateTrainer(const QString& folder)
    : folder_(folder), thread_(this, std::bind_front(&StateTrainer::failed, this), QThread::LowPriority) {}

std::string StateTrainer::fileOf(const QString& name, const char* ending) const {
  return (folder_ + QStringLiteral("/states/")).toStdString() + QUrl::toPercentEncoding(name).toStdString() + ending;
}

void StateTrainer::open(const QString& name) {
  thread_.run([this, name, csv = fileOf(name, ".csv"), json = fileOf(name, ".json")] {
    ShownStates shown;
    const QDir folder(folder_ + QStringLiteral("/states"));
    if (fs::exists(csv)) {
      for (const vision::CsvLine& line : vision::readCsv(csv)) {
        // As in readStateExamples(): a name of a picture may have commas.
        const auto& picture = line.cells.size() == 2 ? line.cells[0] : line.text.substr(0, line.text.rfind(','));
        const QFileInfo file(folder, QString::fromStdString(picture));
        if (file.isFile()) shown[file.completeBaseName()] = QString::fromStdString(line.cells.back());
      }
    }
    QStringList names;
    for (const QFileInfo& file : folder.entryInfoList({QStringLiteral("*.csv")}))
      names << QUrl::fromPercentEncoding(file.completeBaseName().toUtf8());
    thread_.answer([this, name, shown, names] {
      emit listed(names);
      emit opened(name, shown);
    });
    if (!fs::exists(json)) return;
    const auto head = std::make_shared<const evaluation::StateHead>(evaluation::readStates(json));
    thread_.answer([this, name, head] { emit trained(name, head); });
  });
}

void StateTrainer::save(const QString& name, const ShownStates& shown) {
  thread_.run([this, shown, csv = fileOf(name, ".csv")] {
    QDir().mkpath(folder_ + QStringLiteral("/states"));
    std::string lines = "picture,state\n";
    for (const QFileInfo& file : QDir(folder_ + QStringLiteral("/pictures")).entryInfoList(QDir::Files, QDir::Name)) {
      if (const auto found = shown.find(file.completeBaseName()); found != shown.end())
        lines += vision::csvCell("../pictures/" + file.fileName().toStdString()) + "," +
                 vision::csvCell(found->toStdString()) + "\n";
    }
    writeFileAtomically(csv, lines);
  });
}

void StateTrainer::train(const QString& name, const QString& region, const QString& model, const Reduction& reduce,
                         std::vector<vision::Region> regions) {
  evaluation::StatesJob job{.model = model.toStdString(), .reduce = reduce, .name = name.toStdString()};
  std::erase_if(regions, [&](const vision::Region& one) { return !one.ignore && one.name != region.toStdString(); });
  job.regions = std::move(regions);
  job.progress = [this](int done, int of) {
    thread_.answer([this, done, of] { emit progressed(done, of); });
    return !stop_;
  };
  thread_.run([this, name, job, csv = fileOf(name, ".csv"), json = fileOf(name, ".json")]() mutable {
    evaluation::readStateExamples(csv, {}, job);
    const auto head = evaluation::teachStates(job);
    if (!head) return;
    evaluation::writeStates(json, *head);
    thread_.answer(
        [this, name, made = std::make_shared<const evaluation::StateHead>(*head)] { emit trained(name, made); });
  });
}

}  // namespace mpm::gui
