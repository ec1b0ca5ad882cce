// SPDX-License-Identifier: Apache-2.0
#include "monitor/source_opener.h"

#include <filesystem>
#include <unordered_set>
#include <utility>

#include "monitor/statistics/view_detector.h"
#include "monitor/store/store_reader.h"
#include "monitor/watch/model_settings.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "vision/model_files.h"

namespace mpm::monitor {
namespace {

// What the database says must not be seen of a source; of one that is not stored: nothing. Throws mpm::Error where that
// cannot be read.
PrivacyOptions storedPrivacy(const std::string& database, const std::string& source) try {
  std::error_code unseen;
  if (!std::filesystem::exists(database, unseen) && !unseen) return {};
  return readPrivacy(StoreReader(database).privacy(source));
} catch (const EmptyDatabase&) {  // its writer is about to fill it
  return {};
}

// How the pictures of a source will be measured. nullopt: there is no model, or one that cannot be read, which the
// worker reports.
std::optional<Measuring> measuringBy(const InferenceWorker::Wanted& by) try {
  if (by.model.empty()) return std::nullopt;
  const std::string digest = vision::modelDigest(by.model);
  if (by.info) return measuringOf(*by.info, digest, by.settings);
  const ModelInfo info = readModelInfo(by.model, by.options.convert());
  return measuringOf(info, digest, settingsOf(by.model, info, by.options));
} catch (const Error&) {
  return std::nullopt;
}

// What is stored has the times of pictures, which are not to be read now.
class MissingTimes : public Error {
 public:
  using Error::Error;
};

// What a head reads does not count on from what another one of its name read.
void forgetOtherHeads(std::vector<Sample>& samples, const std::vector<SessionRecord>& sessions,
                      const StateOptions& states) {
  for (const evaluation::StateHead& head : states.heads) {
    const std::string digest = head.digest();
    std::unordered_set<std::int64_t> by_others;
    for (const SessionRecord& session : sessions) {
      if (const auto then = session.heads.find(head.name); then != session.heads.end() && then->second != digest)
        by_others.insert(session.id);
    }
    for (Sample& sample : samples) {
      if (by_others.contains(sample.session))
        std::erase_if(sample.states, [&](const StateSample& one) { return one.name == head.name; });
    }
  }
}

}  // namespace

std::string missingTimes(const CameraPlan& plan, const SourceRecord& record) {
  if (!record.archive || plan.readsArchive()) return "";
  if (plan.source.kind == vision::SourceKind::kVideo)
    return "what is stored of the video has times of its own: say again when it began, or name another database";
  if (plan.source.isImages())
    return "what is stored of the pictures has times of their own: say how to read them, or name another database";
  return "";
}

void readSource(const std::string& database, const std::string& source,
                const std::function<void(const StoreReader& store, const SourceRecord& record)>& read) {
  std::error_code unseen;
  if (!std::filesystem::exists(database, unseen) && !unseen) return;
  try {
    const StoreReader store(database);
    for (const SourceRecord& record : store.sources())
      if (record.name == source) read(store, record);
  } catch (const EmptyDatabase&) {  // its writer is about to fill it
  }
}

SourceOpener::SourceOpener(For what)
    : for_(std::move(what)), source_(for_.plan.source.name()), archive_(for_.plan.readsArchive()) {}

std::unique_ptr<vision::FrameSource> SourceOpener::operator()(vision::SourceOptions how) const {
  const CameraPlan& plan = for_.plan;
  vision::ArchiveOptions archived = archive_ ? *plan.archive : vision::ArchiveOptions();
  if (!for_.database.empty() && !asked_->test_and_set()) {
    const std::optional<std::string> privacy = takePrivacy(how);
    const auto take = [opener = *this, privacy, how](const std::vector<vision::TimedPicture>& listed) {
      opener.takeStored(privacy, how, listed);
    };
    if (archive_ && !plan.factory)
      archived.on_listed = take;
    else
      take({});
  }
  if (plan.resume_demo) {
    how.frame_step_s = plan.every_s;
    readSource(for_.database, source_, [&](const StoreReader&, const SourceRecord& record) {
      how.resume_after = static_cast<double>(record.last) / kSecondMs;
    });
  }
  if (plan.factory) return plan.factory(how);
  if (!archive_) return vision::openUnguarded(plan.source, how);
  if (!for_.database.empty()) {
    archived.done_times = [pictures = for_.pictures] { return pictures->times(); };
    archived.done = [pictures = for_.pictures](const vision::TimedPicture& picture) {
      const vision::Done done = pictures->state(picture);
      pictures->left_out += done == vision::Done::kYes;
      return done;
    };
  }
  return vision::openArchive(plan.source, archived, how);
}

// Reads what must not be seen of the source as its database has it: until then, and where that fails, whole pictures
// are blurred. Says through SourceOptions::on_note what is hidden. Returns it as the database has it from now on;
// nullopt where reading failed.
std::optional<std::string> SourceOpener::takePrivacy(const vision::SourceOptions& how) const try {
  const auto before = for_.hiding->options();  // nothing is left to the database
  if (before) return before->json();
  const PrivacyOptions stored = storedPrivacy(for_.database, source_), now = for_.hiding->setStored(stored);
  const std::string json = now.json();
  const bool as_stored = json == stored.json();
  if (now.on() && how.on_note)
    how.on_note(now.text() + (as_stored ? ", as stored with the source: 'none' for hide or blur ends it" : ""));
  if (const auto recorder = for_.recorder.lock()) recorder->setPrivacy(json);
  return json;
} catch (const Error& error) {
  if (how.on_note)
    how.on_note(std::string("whole pictures are blurred, as what they must not show is stored in ") + error.what());
  return std::nullopt;
}

// Reads the rest of what the database has of the source. `privacy`: what takePrivacy() returned; `listed`: the pictures
// of an archive that are there now. Where it cannot be read, a camera goes on without it, as what is live is shown
// once; an archive or a scene is not opened, because its pictures would be measured twice. Nor is one opened
// without its times: it would be no archive any more.
void SourceOpener::takeStored(const std::optional<std::string>& privacy, const vision::SourceOptions& how,
                              const std::vector<vision::TimedPicture>& listed) const try {
  readSource(for_.database, source_, [&](const StoreReader& store, const SourceRecord& record) {
    if (const std::string why = missingTimes(for_.plan, record); !why.empty()) throw MissingTimes(why);
    std::optional<std::int64_t> series;
    if (archive_ && !for_.plan.again)
      if (const auto measuring = measuringBy(for_.model)) series = store.seriesOf(record.id, *measuring);
    const std::string difference =
        series ? differenceOfTimes(store, *series, record, for_.plan.archiveClock()->zone(), listed) : "";
    if (!difference.empty()) {
      if (how.on_note) how.on_note("all pictures are measured again, as a series of their own: " + difference);
      if (const auto recorder = for_.recorder.lock()) recorder->measureAgain();
      series.reset();
    }
    recall(store, record, privacy.value_or(""), archive_ && !series, series);
    if (series) for_.pictures->read(store, *series);
  });
  if (const auto recorder = for_.recorder.lock()) recorder->setRecalled();
} catch (const MissingTimes&) {
  throw;
} catch (const Error& error) {
  if (archive_ || for_.plan.resume_demo)
    throw Error(std::string("what is stored of the source cannot be read: ") + error.what());
  if (privacy && how.on_note) {  // else takePrivacy() has reported the database
    how.on_note(std::string("regions, view and states begin anew, because what is stored of them cannot be read: ") +
                error.what());
  }
  if (const auto recorder = for_.recorder.lock()) recorder->setRecalled();
}

// Gives the recorder what an earlier watch of the source left: its regions, and where its view and its rules stood. The
// pictures of an archive that begin a new series are looked at from the first one on. A view that was learned with more
// on show than now does not count.
void SourceOpener::recall(const StoreReader& store, const SourceRecord& record, const std::string& privacy,
                          bool new_series, std::optional<std::int64_t> series) const {
  constexpr int kSamples = 5000;  // an hour and more of samples each second
  const UnixMs now = for_.now();
  const auto regions = currentRegions(store, record.name);
  auto view = new_series ? std::nullopt : store.view(record.name);
  if (view && store.privacy(record.name) != privacy) view = withoutEdges(std::move(*view));
  const UnixMs end = for_.plan.hasOwnClock() ? INT64_MAX : now + 1;
  auto samples = new_series ? std::vector<Sample>() : store.lastSamples(record.id, kSamples, end, series);
  forgetOtherHeads(samples, store.sessions(record.id), for_.plan.states);
  const auto recorder = for_.recorder.lock();
  if (!recorder) return;
  std::optional<UnixMs> since;
  if (!samples.empty()) since = store.viewSince(record, samples.back().time);
  if (view) recorder->setView(std::move(*view), since);
  if (!regions.empty()) recorder->setStoredRegions(regions);
  if (!new_series) recorder->resume(samples, store.alarms(record.id), now, steadyNow());
}

}  // namespace mpm::monitor
