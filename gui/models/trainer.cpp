// SPDX-License-Identifier: Apache-2.0
#include "gui/models/trainer.h"

#include <QCoreApplication>
#include <QSignalBlocker>
#include <QStandardPaths>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace mpm::gui {
namespace {

using Json = nlohmann::ordered_json;

void startTrainer(QProcess& process, const QString& program, const QStringList& words) {
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  // The threads of LibTorch wait thousands of times a second; waiting in a loop they take the time of the live view.
  if (!environment.contains(QStringLiteral("OMP_WAIT_POLICY")))
    environment.insert(QStringLiteral("OMP_WAIT_POLICY"), QStringLiteral("passive"));
  process.setProcessEnvironment(environment);
  process.start(program, words);
}

// Without a signal, and what it was doing is lost.
void killTrainer(QProcess& process) {
  const QSignalBlocker quiet(process);
  process.kill();
  process.waitForFinished(1000);
}

// What it said of its end on stderr: "mpm-train: error: WHY".
QString complaint(QProcess& process) {
  const QString mark = QStringLiteral("error: "), text = QString::fromUtf8(process.readAllStandardError());
  const auto at = text.lastIndexOf(mark);
  return at < 0 ? QString() : text.mid(at + mark.size()).section(QLatin1Char('\n'), 0, 0);
}

cv::Mat labelsOf(const Json& answer) {
  cv::Mat labels(answer.at("size").at("height").get<int>(), answer.at("size").at("width").get<int>(), CV_8U,
                 cv::Scalar(0));
  const Json& runs = answer.at("runs");
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
    const auto length = std::min(runs[i + 1].get<std::size_t>(), labels.total() - at);
    std::fill_n(labels.ptr() + at, length, runs[i].get<uchar>());
    at += length;
  }
  return labels;
}

}  // namespace

QString trainerProgram() {
  const QString name = QStringLiteral("mpm-train");
  const QString beside = QStandardPaths::findExecutable(name, {QCoreApplication::applicationDirPath()});
  return beside.isEmpty() ? QStandardPaths::findExecutable(name) : beside;
}

LiveTrainer::LiveTrainer(const QString& program, QObject* parent) : QObject(parent), program_(program) {
  connect(&process_, &QProcess::readyReadStandardOutput, this, &LiveTrainer::read);
  connect(&process_, &QProcess::finished, this, [this](int, QProcess::ExitStatus status) {
    const QString why = complaint(process_);
    end(!why.isEmpty()                  ? why
        : status == QProcess::CrashExit ? tr("The trainer was killed; the next stroke starts it again")
                                        : tr("The trainer ended; the next stroke starts it again"));
  });
  connect(
      &process_, &QProcess::errorOccurred, this,
      [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) end(tr("%1 cannot be started: %2").arg(program_, process_.errorString()));
      },
      Qt::QueuedConnection);
}

LiveTrainer::~LiveTrainer() { killTrainer(process_); }

void LiveTrainer::use(const TrainerJob& job) {
  const bool other = job.folder != job_.folder || job.model != job_.model;
  job_ = job;
  if (other) stop();
}

void LiveTrainer::ask(const TrainerJob& job, const QString& picture) {
  use(job);
  waiting_ = picture;
  if (!asked_) send();
}

void LiveTrainer::suggest(const TrainerJob& job, const QStringList& files, int count) {
  use(job);
  candidates_ = files;
  count_ = count;
  if (!asked_) send();
}

void LiveTrainer::stop() {
  asked_.reset();
  waiting_.reset();
  candidates_.clear();
  killTrainer(process_);
}

void LiveTrainer::send() {
  if (!waiting_ && candidates_.isEmpty()) return;
  if (process_.state() == QProcess::NotRunning)
    startTrainer(
        process_, program_,
        {QStringLiteral("live"), QStringLiteral("--folder"), job_.folder, QStringLiteral("--model"), job_.model});
  Json question;
  if (waiting_) {  // first: a person looks at the picture
    question["picture"] = waiting_->toStdString();
  } else {
    for (const QString& file : std::exchange(candidates_, {})) question["candidates"].push_back(file.toStdString());
    question["count"] = count_;
  }
  asked_ = std::exchange(waiting_, std::nullopt).value_or(QString());
  process_.write(QByteArray::fromStdString(question.dump() + "\n"));
}

void LiveTrainer::read() {
  while (process_.canReadLine()) {
    const Json answer = Json::parse(process_.readLine().toStdString(), nullptr, false);
    if (!asked_) continue;
    const QString picture = *std::exchange(asked_, std::nullopt);
    try {
      if (!answer.at("ok").get<bool>()) {
        emit failed(QString::fromStdString(answer.at("why").get<std::string>()));
      } else if (picture.isEmpty()) {
        QStringList files;
        for (const Json& file : answer.at("next")) files << QString::fromStdString(file.get<std::string>());
        emit suggested(files);
      } else {
        emit predicted(picture, labelsOf(answer), answer.value("unsure", std::vector<int>()));
      }
    } catch (const Json::exception&) {
      emit failed(tr("The trainer answers in a way that this program does not know"));
    }
    send();
  }
}

void LiveTrainer::end(const QString& why) {
  const bool was_asked = std::exchange(asked_, std::nullopt).has_value();
  waiting_.reset();
  candidates_.clear();
  if (was_asked) emit failed(why);
}

TrainingRun::TrainingRun(const QString& program, const TrainerJob& job, const QString& model, QObject* parent)
    : QObject(parent) {
  connect(&process_, &QProcess::readyReadStandardOutput, this, &TrainingRun::read);
  connect(&process_, &QProcess::finished, this, [this, model](int code, QProcess::ExitStatus status) {
    if (cancelled_) return emit cancelled();
    if (status == QProcess::NormalExit && code == 0) return emit finished(model);
    const QString why = complaint(process_);
    emit failed(why.isEmpty() ? tr("The trainer was killed; labels and models are as they were") : why);
  });
  connect(
      &process_, &QProcess::errorOccurred, this,
      [this, program](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
          emit failed(tr("%1 cannot be started: %2").arg(program, process_.errorString()));
      },
      Qt::QueuedConnection);
  const auto inFolder = [&](const char* name) { return job.folder + QLatin1Char('/') + QLatin1String(name); };
  QStringList words = {QStringLiteral("teach"),     QStringLiteral("--json"),
                       QStringLiteral("--images"),  inFolder("pictures"),
                       QStringLiteral("--labels"),  inFolder("labels"),
                       QStringLiteral("--classes"), inFolder("classes.json"),
                       QStringLiteral("--model"),   job.model,
                       QStringLiteral("-o"),        model};
  if (job.reduce) words << QStringLiteral("--reduce") << QString::fromStdString(toString(*job.reduce));
  if (job.steps > 0) words << QStringLiteral("--steps") << QString::number(job.steps);
  time_.start();
  startTrainer(process_, program, words);
}

TrainingRun::~TrainingRun() { killTrainer(process_); }

void TrainingRun::cancel() {
  cancelled_ = true;
  process_.terminate();
}

void TrainingRun::read() {
  while (process_.canReadLine()) {
    const Json line = Json::parse(process_.readLine().toStdString(), nullptr, false);
    if (!line.is_object() || !line.contains("progress") || !line["progress"].is_number()) continue;
    const double share = line["progress"].get<double>(), spent = static_cast<double>(time_.elapsed()) / 1000;
    emit progressed(share, share > 0.05 ? spent / share * (1 - share) : -1);
  }
}

}  // namespace mpm::gui
