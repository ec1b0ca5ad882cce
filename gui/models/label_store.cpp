// SPDX-License-Identifier: Apache-2.0
#include "gui/models/label_store.h"

#include "base/class_json.h"
#include "gui/models/readout.h"

namespace mpm::gui {
namespace {

constexpr int kMostPictures = 1 << 30;

double percent(const JsonValue& number) { return number.json().is_null() ? NAN : number.number(0, 100); }

TaughtModel::Verdict verdictOf(const JsonValue& model, const JsonValue& validation) {
  TaughtModel::Verdict verdict;
  verdict.miou = percent(validation.at("miou"));
  verdict.pixel_accuracy = percent(validation.at("pixel_accuracy"));
  for (const ClassInfo& one : classesFromJson(model.at("classes")))
    verdict.classes.push_back(QString::fromStdString(one.name));
  const auto matrix =
      evaluation::confusionMatrixOf(validation.at("confusion"), static_cast<int>(verdict.classes.size()));
  std::vector<int> pictures;
  for (const JsonValue& count : validation.at("pictures").list(verdict.classes.size(), verdict.classes.size()))
    pictures.push_back(count.integer(0, kMostPictures));
  verdict.verdicts = evaluation::classVerdicts(matrix, pictures);
  return verdict;
}

}  // namespace

std::optional<TaughtModel> readTaughtModel(const QString& onnx) {
  const QFileInfo file(onnx);
  if (!file.exists()) return std::nullopt;
  try {
    const QString beside = file.dir().filePath(file.completeBaseName() + QStringLiteral(".json"));
    const JsonValue json = readJsonFile(beside.toStdString());
    const JsonValue taught = json.at("taught"), validation = taught.at("cross_validation");
    TaughtModel model{file.absoluteFilePath(), file.lastModified(), taught.at("pictures").integer(0, kMostPictures)};
    if (!validation.json().is_null()) model.verdict = verdictOf(json, validation);
    return model;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<TaughtModel> taughtModels(const QString& folder) {
  std::vector<TaughtModel> models;
  const auto files = QDir(folder).entryInfoList({QStringLiteral("*.onnx")}, QDir::Files | QDir::CaseSensitive);
  for (const QFileInfo& file : files)
    if (auto model = readTaughtModel(file.filePath())) models.push_back(std::move(*model));
  std::ranges::sort(models, std::greater(), [](const TaughtModel& one) { return std::pair(one.time, one.path); });
  return models;
}

LabelStore::LabelStore(const QString& folder, QObject* parent)
    : QObject(parent),
      folder_(folder),
      lock_(folder + QStringLiteral("-lock")),
      thread_(this, [this](const QString& why) { emit failed(why); }) {
  lock_.setStaleLockTime(0);  // only the one of a process that is gone
}

// A folder that cannot be read is tried again with each work.
template <typename Work>
void LabelStore::run(Work work, bool changes) {
  thread_.run([this, work = std::move(work), changes] {
    if (!own_) {
      if (!lock_.tryLock() && lock_.error() == QLockFile::LockFailedError)
        throw Error(tr("'%1' is open in another window: close that first").arg(folder_).toStdString());
      own_.emplace(folder_.toStdString(), vision::LabelFolder::Access::kWrite);
    }
    work(*own_);
    if (!changes) return;
    readLabels();
    thread_.answer([this, now = state()]() mutable {
      {
        const std::lock_guard lock(mutex_);
        now.labels.insert(waiting_);
      }
      emit changed(now);
    });
  });
}

void LabelStore::change(const std::function<void(vision::LabelFolder&)>& what, const std::function<void()>& then) {
  run([=, this](vision::LabelFolder& folder) {
    labels_.clear();  // it may rewrite any of them, or give its numbers another meaning
    what(folder);
    if (then) thread_.answer(then);
  });
}

void LabelStore::look(const std::function<void(const vision::LabelFolder&)>& what, const std::function<void()>& then) {
  const auto work = [=, this](const vision::LabelFolder& folder) {
    what(folder);
    if (then) thread_.answer(then);
  };
  run(work, false);
}

// Reads the label maps that are not in memory, and sums up each.
void LabelStore::readLabels() {
  const int classes = own_->classes().count();
  const QStringList labelled = texts(own_->labelled());
  labels_.removeIf([&](const auto& one) { return !labelled.contains(one.key()); });
  std::erase_if(summaries_, [&](const auto& one) { return !labelled.contains(one.first); });
  for (const QString& name : labelled) {
    try {
      const bool read = !labels_.contains(name);
      if (read) labels_[name] = own_->labels(name.toStdString());
      vision::LabelSummary& summary = summaries_[name];
      if (summary.area == 0)
        summary = vision::summaryOf(own_->picture(name.toStdString()), labels_[name], classes);
      else if (read || summary.pixels.empty())
        summary.pixels = vision::labelledPixels(labels_[name], classes);
    } catch (const Error&) {  // read() says what is wrong with it
      labels_.remove(name);
    }
  }
}

LabelState LabelStore::state() const {
  const int classes = own_->classes().count();
  std::vector<vision::LabelSummary> summaries;
  std::vector<LabelCount> counts;
  for (const QString& name : labels_.keys()) {
    summaries.push_back(summaries_.at(name));
    const vision::LabelSummary& summary = summaries.back();
    for (int label = 0; label < classes; ++label) {
      if (const int pixels = summary.pixels[static_cast<std::size_t>(label)]; pixels > 0)
        counts.push_back({name, label, pixels, pixels / summary.area});
    }
  }
  return {own_->classes(),
          texts(own_->pictures()),
          texts(own_->labelled()),
          taughtModels(modelsFolder()),
          vision::progressOf(summaries, classes),
          counts,
          labels_};
}

void LabelStore::open() {
  run([](const vision::LabelFolder&) {});
}

void LabelStore::read(const QString& name,
                      const std::function<void(const cv::Mat& image, const cv::Mat& labels)>& then) {
  const auto work = [=, this](const vision::LabelFolder& folder) {
    const cv::Mat labels = labels_.contains(name) ? labels_[name] : folder.labels(name.toStdString());
    thread_.answer([then, image = folder.picture(name.toStdString()), labels] { then(image, labels); });
  };
  run(work, false);
}

void LabelStore::save(const QString& name, const cv::Mat& labels) {
  {
    const std::lock_guard lock(mutex_);
    waiting_[name] = labels;
  }
  run([this, name](vision::LabelFolder& folder) {
    cv::Mat last;
    {
      const std::lock_guard lock(mutex_);
      last = waiting_.take(name);
    }
    if (last.empty()) return;
    folder.saveLabels(name.toStdString(), last);
    labels_[name] = last;
    summaries_[name].pixels.clear();
  });
}

void LabelStore::add(const QString& name, const cv::Mat& image, Readers readers) {
  run([=, this](vision::LabelFolder& folder) {
    const QString free = QString::fromStdString(folder.addPicture(name.toStdString(), image, readers));
    thread_.answer([this, free] { emit added(free); });
  });
}

void LabelStore::addFiles(const QStringList& files) {
  run([this, files](vision::LabelFolder& folder) {
    std::string last;
    for (const QString& file : files) {
      try {
        last = folder.addPicture(QFileInfo(file).completeBaseName().toStdString(),
                                 vision::openSource(file.toStdString())->next().value().image,
                                 readersOf(file.toStdString()));
      } catch (const std::exception& error) {
        thread_.answer([this, why = QString::fromUtf8(error.what())] { emit failed(why); });
      }
    }
    if (!last.empty()) thread_.answer([this, last] { emit added(QString::fromStdString(last)); });
  });
}

}  // namespace mpm::gui
