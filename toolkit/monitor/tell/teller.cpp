// SPDX-License-Identifier: Apache-2.0
#include "monitor/tell/teller.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "monitor/clocks.h"
#include "monitor/store/store_reader.h"
#include "monitor/tell/camera_claims.h"
#include "monitor/tell/channel.h"
#include "mpm/error.hpp"
#include "vision/pictures/estimate_files.h"
#include "vision/pictures/pictures.h"

namespace mpm::monitor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatch = 100;

struct Feed {
  std::string database;
  StoreWriter* store;
  std::function<void(const Event&)> report;
  std::int64_t sent = 0;     // the number of the last message
  std::int64_t refused = 0;  // that of one that was refused so often
  int refusals = 0;
};

// The thread that sends of one camera through one channel.
class Sender {
 public:
  // `away`: that the server takes nothing was reported, maybe by the sender before. `keeps`: whether the broker may
  // keep a state under this topic.
  Sender(std::string name, std::unique_ptr<Channel> channel, std::atomic<bool>& away,
         std::function<bool(const std::string& topic)> keeps = {})
      : name_(std::move(name)), channel_(std::move(channel)), keeps_(std::move(keeps)), away_(away) {}
  ~Sender() { channel_->cancelled = true; }
  const std::string& name() const { return name_; }

  void add(Feed feed) {
    {
      const std::lock_guard lock(mutex_);
      const StoreWriter* const store = feed.store;
      feeds_[store] = std::make_shared<Feed>(std::move(feed));
      woken_ = true;  // what an earlier run left
    }
    start();
  }

  // Sends what is new of the topics from now on.
  void start() {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  bool fails() {
    const std::lock_guard lock(mutex_);
    return failures_ > 0;
  }

  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }

  // Sends what is new of the topics for two seconds at most, as the last it does.
  void end() {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) return;
    feeds_.clear();
    woken_ = hurry_ = true;
    const int rounds = rounds_;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(2), [&] { return rounds_ >= rounds + 2 || failures_ > 0; });
  }

  void remove(const StoreWriter* store, Clock::time_point until) {
    std::unique_lock lock(mutex_);
    const auto found = feeds_.find(store);
    if (found == feeds_.end()) return;
    woken_ = hurry_ = true;
    const int rounds = rounds_;
    changed_.notify_all();
    // The round that is under way may have looked before the last message came.
    const auto over = [&] { return rounds_ >= rounds + 2 && (idle_ || failures_ > 0); };
    changed_.wait_until(lock, until, over);
    stopSending(lock);
    hurry_ = false;
    feeds_.erase(found);
  }

  // Sends nothing more of any store.
  void removeAll() {
    std::unique_lock lock(mutex_);
    stopSending(lock);
    feeds_.clear();
  }

 private:
  // Gives up the message that is under way.
  void stopSending(std::unique_lock<std::mutex>& lock) {
    channel_->cancelled = held_ = true;
    changed_.wait(lock, [&] { return !sending_; });
    channel_->cancelled = held_ = false;
  }

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (true) {
      const auto wait = static_cast<std::size_t>(std::max(failures_ - 1, 0));
      const auto pause = inSeconds(kRetryWaitsS[std::min(wait, kRetryWaitsS.size() - 1)]);
      changed_.wait_for(lock, stop, pause, [&] { return !held_ && (hurry_ || (woken_ && failures_ == 0)); });
      if (stop.stop_requested()) return;
      const bool look = std::exchange(woken_, false) || hurry_ || failures_ > 0;
      const auto feeds = feeds_;
      sending_ = true;
      lock.unlock();
      std::string problem;
      bool idle = true, away = false;
      progress_ = false;
      try {
        channel_->keep();
        if (look)
          for (const auto& [store, feed] : feeds) idle = send(*feed) && idle;
      } catch (const Refused& error) {
        problem = error.what();
        away = error.refusals > kFew;
      } catch (const std::exception& error) {
        problem = error.what();
        away = true;
      }
      const bool fails = !problem.empty();
      // One message that is refused is no outage, and does not end one.
      if (away == fails && away != away_ && !feeds.empty() && !channel_->cancelled) {
        away_ = away;
        feeds.begin()->second->report({unixNow(), EventKind::kTell, fails ? Severity::kWarning : Severity::kInfo,
                                       fails
                                           ? "cannot send to " + name_ + ", messages wait: " + visibleText(problem, 200)
                                           : "sends to " + name_ + " again"});
      }
      lock.lock();
      ++rounds_;
      if (!channel_->cancelled) failures_ = fails ? (progress_ ? 1 : failures_ + 1) : 0;
      idle_ = idle && !fails;
      woken_ = woken_ || !idle;
      sending_ = false;
      changed_.notify_all();
    }
  }

  // True when nothing more waits.
  bool send(Feed& feed) {
    std::vector<Message> waiting;
    try {
      waiting = StoreReader(feed.database).outbox(name_, feed.sent, kBatch);
    } catch (const Error&) {  // the writer meets the same trouble and reports it
      return true;
    }
    for (const Message& message : waiting) {
      if (channel_->cancelled) return false;
      const bool state = message.latest && !message.payload.empty();
      try {
        if (!state || keeps_(message.topic)) channel_->send(message);
        given_up_ = false;
      } catch (const Refused& error) {
        if (std::exchange(feed.refused, message.number) != message.number) feed.refusals = 0;
        if (++feed.refusals < error.refusals) throw;
        giveUp(feed, message, error.what());
      }
      feed.store->forgetSent(name_, feed.sent = message.number);
      progress_ = true;
    }
    return waiting.size() < kBatch;
  }

  // The event is a message, too: it is not reported itself, and where the other side takes none, only the first one is.
  void giveUp(const Feed& feed, const Message& message, const std::string& why) {
    const Json payload = Json::parse(message.payload, nullptr, false);
    const bool ours = payload.is_object() && payload.value("event", "") == toString(EventKind::kTell);
    if (std::exchange(given_up_, true) || ours) return;
    feed.report({unixNow(), EventKind::kTell, Severity::kWarning,
                 name_ + " refuses a message (" + visibleText(why, 200) + ", " + counted(feed.refusals, "time") +
                     "), which is given up: " + visibleText(message.payload, 300)});
  }

  static constexpr int kFew = 10;  // refusals; who refuses more often is away

  const std::string name_;
  const std::unique_ptr<Channel> channel_;
  const std::function<bool(const std::string& topic)> keeps_;
  std::atomic<bool>& away_;
  // Of the thread. The first was reported.
  bool given_up_ = false, progress_ = false;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  // By their stores, as a camera that SIGHUP changes has two for a while. Guarded by the mutex, as is what follows.
  std::map<const StoreWriter*, std::shared_ptr<Feed>> feeds_;
  bool woken_ = false, hurry_ = false, held_ = false, sending_ = false, idle_ = false;
  int failures_ = 0, rounds_ = 0;
  std::jthread thread_;  // last: it ends before the rest goes
};

// A JPEG of less than a broker takes.
std::string jpegOf(cv::Mat picture) {
  constexpr std::size_t kMost = 1'900'000;
  std::vector<uchar> bytes;
  for (cv::imencode(".jpg", picture, bytes); bytes.size() > kMost; cv::imencode(".jpg", picture, bytes))
    cv::resize(picture, picture, {}, 0.7, 0.7, cv::INTER_AREA);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

#ifndef MPM_WITH_CURL
std::unique_ptr<Channel> openWebhook(const Webhook&, const PictureBefore&) {
  throw Error("[webhook]: this build has no libcurl");
}
#endif
#ifndef MPM_WITH_MOSQUITTO
std::unique_ptr<Channel> openMqtt(const Mqtt&, CurrentTopics&, const std::string&, const Subscription&) {
  throw Error("[mqtt]: this build has no libmosquitto");
}
#endif

namespace {

// The servers that took nothing of a camera when they were last tried, which was reported.
struct AwayServers {
  std::atomic<bool> mqtt = false, webhook = false;
};

// The servers that hear of one camera, by one version of the tables.
struct Voice {
  Voice(const FileTables& settings, const std::string& camera, AwayServers& away)
      : Voice(settings, CameraTopics(settings.mqtt, camera), away) {}
  Voice(const FileTables& settings, const CameraTopics& named, AwayServers& away)
      : tables(settings), topic(named.base), config(named.config) {
    // States that waited under a topic of before would stay at the broker.
    const auto keeps = [this](const std::string& one) { return one == topic + kState; };
    const auto before = [this](UnixMs event) {
      const std::string jpeg = topics.of(topic + "/picture");
      return pictured <= event ? jpeg : "";
    };
    if (tables.mqtt != Mqtt()) {
      senders.push_back(
          std::make_unique<Sender>("mqtt", openMqtt(tables.mqtt, topics, topic + "/status"), away.mqtt, keeps));
    }
    if (tables.webhook != Webhook())
      senders.push_back(std::make_unique<Sender>("webhook", openWebhook(tables.webhook, before), away.webhook));
  }

  void setPicture(UnixMs time, std::string jpeg) {
    pictured = time;  // first, as who asks for the picture looks at its time last
    topics.set(topic + "/picture", std::move(jpeg));
  }

  // Nothing of the camera stays at the broker, nor does a state come that waited.
  void clear() {
    for (const auto& sender : senders) sender->removeAll();
    for (const std::string& one : CameraTopics::keptBelow(topic)) topics.set(one, "");
    if (!config.empty()) topics.set(config, "");
  }

  const FileTables tables;
  const std::string topic, config;
  std::atomic<UnixMs> pictured = 0;  // the time of the picture
  CurrentTopics topics{};
  std::vector<std::unique_ptr<Sender>> senders{};  // last: they use the others
};

// What the broker remembers of all cameras of the file.
struct Memory {
  Memory(const Mqtt& mqtt, const std::string& file, bool stays)
      : claims(mqtt, CameraClaims::idOf(file), stays, topics),
        sender("mqtt", openMqtt(mqtt, topics, "", claims.subscription()), away) {}

  void setCameras(const std::set<std::string>& names) {
    claims.setCameras(names);
    sender.start();
  }
  // A short run, too, hears what the broker keeps, and its list arrives.
  void end() {
    const auto until = Clock::now() + std::chrono::seconds(2);
    while (!claims.settled() && !sender.fails() && Clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sender.end();
  }

  CurrentTopics topics{};
  CameraClaims claims;
  std::atomic<bool> away = false;  // those of the cameras report it
  Sender sender;                   // last: it uses the others
};

// What makes a state worth sending at once: all of it that is no number.
std::string changesAtOnce(const Sample& sample) {
  std::string text = !sample.night ? "-" : *sample.night ? "night" : "day";
  for (const char* flag : kQualityFlags) text += sample.whole().value(flag).value_or(0) != 0 ? '1' : '0';
  for (const StateSample& one : sample.states) text += "\n" + one.name + "=" + one.counted;
  return text;
}

}  // namespace

struct Teller::Impl {
  struct Camera {
    std::shared_ptr<Voice> voice{};
    std::map<const StoreWriter*, Feed> feeds{};  // two for a while where SIGHUP changed the database
    CameraFacts facts{};
    std::string status{};                            // of setStatus()
    std::map<std::string, std::string> announced{};  // by topic: what brokers keep (Home Assistant's description)
    std::optional<std::int64_t> shown{}, stated{};   // steady: when its picture and its state were sent
    std::string stated_as{};                         // changesAtOnce() of that state
    bool gone = false;                               // the file does not name it any more
  };
  const std::string file;
  const bool stays;
  std::mutex setting{};                            // before the other one
  std::unique_ptr<Memory> memory{};                // guarded by it
  std::optional<std::set<std::string>> watched{};  // of setCameras(), which holds both mutexes to change it
  std::mutex mutex{};
  FileTables tables{};                        // guarded by the mutex, as is what follows
  std::map<std::string, AwayServers> away{};  // by camera
  std::map<std::string, Camera> cameras{};

  // Null: nobody is told of it now.
  std::shared_ptr<Voice> voiceOf(const std::string& camera) {
    const std::lock_guard lock(mutex);
    const auto found = cameras.find(camera);
    return found == cameras.end() ? nullptr : found->second.voice;
  }
  FileTables settings() {
    const std::lock_guard lock(mutex);
    return tables;
  }

  // The mutex is held. Throws where the secrets of the tables cannot be read any more.
  Camera& cameraOf(const std::string& name) {
    Camera& camera = cameras[name];
    if (!camera.voice) camera.voice = std::make_shared<Voice>(tables, name, away[name]);
    return camera;
  }

  // The mutex is held. Also before a store of the camera is there: its database may be locked.
  static void tellStatus(const Camera& camera) {
    if (!camera.voice || camera.status.empty()) return;
    camera.voice->topics.set(camera.voice->topic + "/status", camera.status);
    for (const auto& sender : camera.voice->senders) sender->start();
  }

  // The mutex is held. What an earlier run told under other topics goes with all that the broker keeps there, also
  // where it is away until the next start, and the database remembers the topics of now. Topics that another camera of
  // the file has by now stay. The classes that occurred stay known.
  void moveTopics(Camera& camera) const {
    const Voice& voice = *camera.voice;
    if (voice.tables.mqtt == Mqtt()) return;
    const std::string& own = voice.config.empty() ? voice.topic : voice.config;
    const auto announce = [&](const std::string& topic, const std::string& payload) {
      for (const auto& [store, feed] : camera.feeds) feed.store->announce(topic, payload);
    };
    const auto clear = [&](const std::string& topic) {
      for (const auto& [store, feed] : camera.feeds)
        feed.store->tell({.channel = "mqtt", .topic = topic, .latest = true});
    };
    std::set<std::string> used = {own, voice.topic};
    for (const std::string& name : watched.value_or(std::set<std::string>())) {
      const CameraTopics topics(voice.tables.mqtt, name);
      used.insert({topics.base, topics.config});
    }
    for (const auto& [topic, payload] : std::map(camera.announced)) {
      if (topic == own) continue;
      const Json before = Json::parse(payload, nullptr, false);
      const bool described = before.is_object() && before.contains("components");
      if (described && !used.contains(topic)) clear(topic);
      const std::string base = baseOf(before);
      if (!base.empty() && !used.contains(base))
        for (const std::string& one : CameraTopics::keptBelow(base)) clear(one);
      announce(topic, "");
      camera.announced.erase(topic);
      if (described && !voice.config.empty()) camera.announced.try_emplace(own, payload);  // until rename()
    }
    if (voice.config.empty() && !camera.announced.contains(own)) {
      camera.announced[own] = toLine({{"state_topic", voice.topic + kState}});
      announce(own, camera.announced[own]);
    }
  }

  // The mutex is held. What was described goes on under the name of now, also where the next sample comes in an hour.
  static void rename(const std::string& name, Camera& camera) {
    if (!camera.voice || camera.voice->config.empty()) return;
    const auto before = camera.announced.find(camera.voice->config);
    if (before == camera.announced.end()) return;
    const Json now = renamed(Json::parse(before->second, nullptr, false), name, camera.facts, camera.voice->topic);
    if (!now.is_null()) publish(camera, toLine(now));
  }

  // The mutex is held.
  static void publish(Camera& camera, const std::string& description) {
    const std::string& topic = camera.voice->config;
    std::string& announced = camera.announced[topic];
    if (description != announced)
      for (const auto& [store, feed] : camera.feeds) feed.store->announce(topic, description);
    announced = description;
    camera.voice->topics.set(topic, description);
  }

  // The mutex is held.
  void describe(const std::string& name, Camera& camera, const Sample& sample, const SessionInfo& session) {
    const std::string& topic = camera.voice->config;
    if (topic.empty()) return;
    const Json before = Json::parse(camera.announced[topic], nullptr, false);
    publish(camera, toLine(discovery(name, camera.facts, camera.voice->topic, tables, session, sample,
                                     before.is_discarded() ? Json() : before)));
  }
};

Teller::Teller(const std::string& file, bool stays) : impl_(new Impl{.file = file, .stays = stays}) {}

Teller::~Teller() {
  if (impl_->memory && impl_->watched) impl_->memory->end();
}

void Teller::set(const FileTables& tables) {
  const std::lock_guard setting(impl_->setting);
  if (impl_->settings() == tables) return;
  AwayServers none;
  (void)Voice(tables, "camera", none);  // reads the secrets
  const bool remembers = !impl_->file.empty() && tables.mqtt != Mqtt();
  auto memory = remembers ? std::make_unique<Memory>(tables.mqtt, impl_->file, impl_->stays) : nullptr;
  std::map<std::string, std::shared_ptr<Voice>> before;
  std::unique_lock lock(impl_->mutex);
  const FileTables last = std::exchange(impl_->tables, tables);
  for (auto& [name, camera] : impl_->cameras) before[name] = std::exchange(camera.voice, nullptr);
  lock.unlock();
  const auto place = [](const Mqtt& mqtt) { return std::tuple(mqtt.address, prefixOf(mqtt), discoveryOf(mqtt)); };
  const bool moved = last.mqtt != Mqtt() && place(last.mqtt) != place(tables.mqtt);
  for (const auto& [name, voice] : before) {
    if (!moved || !voice) continue;
    voice->clear();
    for (const auto& sender : voice->senders) sender->end();
  }
  if (impl_->memory && moved) {
    impl_->memory->claims.withdraw();
    impl_->memory->sender.end();
  }
  impl_->memory = std::move(memory);
  if (impl_->memory && impl_->watched) impl_->memory->setCameras(*impl_->watched);
  before.clear();  // the broker hears the end of these connections before the others say that they are online
  lock.lock();
  for (auto& [name, camera] : impl_->cameras) {
    camera.shown.reset();
    camera.stated.reset();
    (void)impl_->cameraOf(name);
    Impl::tellStatus(camera);
    impl_->moveTopics(camera);
    Impl::rename(name, camera);
    for (const auto& [store, feed] : camera.feeds)
      for (const auto& sender : camera.voice->senders) sender->add(feed);
  }
}

void Teller::setCameras(const std::set<std::string>& names) {
  const std::lock_guard setting(impl_->setting);
  if (impl_->memory) impl_->memory->setCameras(names);
  const std::lock_guard lock(impl_->mutex);
  impl_->watched = names;
  for (auto& [name, camera] : impl_->cameras) camera.gone = !names.contains(name);
}

OutboxOptions Teller::outbox(const std::string& camera) {
  {
    const std::lock_guard lock(impl_->mutex);
    (void)impl_->cameraOf(camera);
  }
  OutboxOptions options;
  options.of_event = [this, camera](const Event& event) {
    std::vector<Message> messages;
    std::unique_lock lock(impl_->mutex);
    const auto found = impl_->cameras.find(camera);
    if (isPast(event.time, unixNow()) && !(found != impl_->cameras.end() && found->second.facts.scene)) return messages;
    const FileTables tables = impl_->tables;
    lock.unlock();
    Json json = toJson(event);
    json["camera"] = camera;
    const std::string topic = CameraTopics(tables.mqtt, camera).base, payload = toLine(json);
    if (tables.mqtt != Mqtt()) messages.push_back({.channel = "mqtt", .topic = topic + "/event", .payload = payload});
    if (tables.webhook != Webhook()) messages.push_back({.channel = "webhook", .topic = topic, .payload = payload});
    return messages;
  };
  options.of_sample = [this, camera](const Sample& sample, const SessionInfo& session) {
    std::vector<Message> messages;
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->cameras.find(camera);
    if (impl_->tables.mqtt == Mqtt() || found == impl_->cameras.end() || !found->second.voice) return messages;
    Impl::Camera& of = found->second;
    if (isPast(sample.time, unixNow()) && !of.facts.scene) return messages;
    const std::string changes = changesAtOnce(sample);
    const std::int64_t now = steadyNow();
    const double every = stateEvery(impl_->tables.mqtt);
    // A sample that comes a little early takes its turn.
    if (of.stated && changes == of.stated_as && static_cast<double>(now - *of.stated) < (every - 0.25) * kSecondMs)
      return messages;
    of.stated = now;
    of.stated_as = changes;
    impl_->describe(camera, of, sample, session);
    messages.push_back({.channel = "mqtt",
                        .topic = of.voice->topic + kState,
                        .payload = toLine(toJson(sample, session.classes, session.reduce)),
                        .latest = true});
    return messages;
  };
  options.on_stored = [this, camera] {
    if (const auto voice = impl_->voiceOf(camera))
      for (const auto& sender : voice->senders) sender->wake();
  };
  return options;
}

void Teller::add(const std::string& camera, const std::string& database, StoreWriter& store,
                 std::function<void(const Event&)> report) {
  std::map<std::string, std::string> announced;
  try {
    announced = StoreReader(database).announced();
  } catch (const Error&) {  // the writer meets the same trouble and reports it
  }
  const std::lock_guard lock(impl_->mutex);
  Impl::Camera& of = impl_->cameraOf(camera);
  of.announced.merge(announced);
  const Feed& feed = of.feeds[&store] = {.database = database, .store = &store, .report = std::move(report)};
  impl_->moveTopics(of);
  for (const auto& sender : of.voice->senders) sender->add(feed);
}

void Teller::remove(const std::string& camera, const StoreWriter& store, double patience_s) {
  const auto until = Clock::now() + inSeconds(patience_s);
  std::shared_ptr<Voice> voice;
  std::unique_lock setting(impl_->setting);  // else set() might still send of this store when it is gone
  {
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->cameras.find(camera);
    if (found == impl_->cameras.end()) return;
    found->second.feeds.erase(&store);
    voice = found->second.voice;
  }
  setting.unlock();
  if (voice)
    for (const auto& sender : voice->senders) sender->remove(&store, until);
}

void Teller::end(const std::string& camera, bool replaced) {
  if (!replaced) setStatus(camera, "ended");
  std::map<std::string, Impl::Camera>::node_type ended;  // its connections end without the mutex
  {
    const std::lock_guard setting(impl_->setting);
    const std::lock_guard lock(impl_->mutex);
    ended = impl_->cameras.extract(camera);
  }
  if (ended.empty() || !ended.mapped().voice) return;
  Voice& voice = *ended.mapped().voice;
  if (ended.mapped().gone) voice.clear();
  for (const auto& sender : voice.senders) sender->end();
}

void Teller::setFacts(const std::string& camera, const CameraFacts& facts) {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->cameras.find(camera);
  if (found == impl_->cameras.end()) return;
  found->second.facts = facts;
  Impl::rename(camera, found->second);
}

void Teller::setStatus(const std::string& camera, const std::string& status) {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->cameras.find(camera);
  if (found == impl_->cameras.end() || (impl_->stays && status == "ended")) return;
  found->second.status = status;
  Impl::tellStatus(found->second);
}

void Teller::setAlarms(const std::string& camera, const Json& alarms) {
  // Without alarms nothing is kept there, also where an earlier run had some.
  if (const auto voice = impl_->voiceOf(camera))
    voice->topics.set(voice->topic + "/alarms", alarms.empty() ? "" : toLine(alarms));
}

void Teller::dropPicture(const std::string& camera) {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->cameras.find(camera);
  if (found == impl_->cameras.end() || !found->second.voice) return;
  found->second.shown.reset();
  found->second.voice->topics.set(found->second.voice->topic + "/picture", "");
}

void Teller::setPicture(const std::string& camera, const InferenceResult& result) {
  std::shared_ptr<Voice> voice;
  {
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->cameras.find(camera);
    if (found == impl_->cameras.end() || !found->second.voice) return;
    voice = found->second.voice;
    auto& shown = found->second.shown;
    if (!voice->tables.mqtt.picture && !voice->tables.webhook.picture)
      return voice->topics.set(voice->topic + "/picture", "");  // of an earlier run
    if (shown && result.frame.steady - *shown < kMinuteMs) return;
    shown = result.frame.steady;
  }
  const auto files = vision::estimateFiles(result.estimate, result.frame.image, *result.model,
                                           vision::classColors(result.model->facts, result.model->classes));
  voice->setPicture(result.frame.time,
                    jpegOf(files.pictures.empty() ? result.frame.image : files.pictures.back().second.clone()));
}

}  // namespace mpm::monitor
