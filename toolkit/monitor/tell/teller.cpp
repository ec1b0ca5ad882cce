// SPDX-License-Identifier: Apache-2.0
#include "monitor/tell/teller.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <thread>
#include <utility>

#include "base/visible_text.h"
#include "monitor/clocks.h"
#include "monitor/tell/channel.h"
#include "mpm/error.hpp"
#include "vision/pictures/estimate_files.h"
#include "vision/pictures/pictures.h"

namespace mpm::monitor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatch = 100;
constexpr std::chrono::seconds kBetween[] = {std::chrono::seconds(1), std::chrono::seconds(2), std::chrono::seconds(5),
                                             std::chrono::seconds(10), std::chrono::seconds(30)};

bool isPast(UnixMs time) { return time < unixNow() - kHourMs; }

struct Feed {
  std::string database;
  StoreWriter* store;
  std::function<void(const Event&)> report;
  std::int64_t sent = 0;  // the number of the last message
};

// The thread that sends through one channel.
class Sender {
 public:
  Sender(std::string name, std::unique_ptr<Channel> channel) : name_(std::move(name)), channel_(std::move(channel)) {}
  ~Sender() { channel_->cancelled = true; }
  const std::string& name() const { return name_; }

  void add(Feed feed) {
    const std::lock_guard lock(mutex_);
    const StoreWriter* const store = feed.store;
    feeds_[store] = std::make_shared<Feed>(std::move(feed));
    woken_ = true;  // what an earlier run left
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
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
    channel_->cancelled = held_ = true;
    changed_.wait(lock, [&] { return !sending_; });
    channel_->cancelled = held_ = hurry_ = false;
    feeds_.erase(found);
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (true) {
      const auto pause = kBetween[std::clamp(failures_ - 1, 0, static_cast<int>(std::size(kBetween)) - 1)];
      changed_.wait_for(lock, stop, pause, [&] { return !held_ && (hurry_ || (woken_ && failures_ == 0)); });
      if (stop.stop_requested()) return;
      const bool look = std::exchange(woken_, false) || hurry_ || failures_ > 0;
      const auto feeds = feeds_;
      sending_ = true;
      lock.unlock();
      std::string problem;
      bool idle = true;
      try {
        channel_->keep();
        if (look)
          for (const auto& [store, feed] : feeds) idle = send(*feed) && idle;
      } catch (const std::exception& error) {
        problem = error.what();
      }
      const bool fails = !problem.empty();
      if (fails != (failures_ > 0) && !feeds.empty() && !channel_->cancelled)
        feeds.begin()->second->report({unixNow(), EventKind::kTell, fails ? Severity::kWarning : Severity::kInfo,
                                       fails
                                           ? "cannot send to " + name_ + ", messages wait: " + visibleText(problem, 200)
                                           : "sends to " + name_ + " again"});
      lock.lock();
      ++rounds_;
      if (!channel_->cancelled) failures_ = fails ? failures_ + 1 : 0;
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
      channel_->send(message);
      feed.store->forgetSent(name_, feed.sent = message.number);
    }
    return waiting.size() < kBatch;
  }

  const std::string name_;
  const std::unique_ptr<Channel> channel_;
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
std::unique_ptr<Channel> openWebhook(const Webhook&, const CurrentTopics&) {
  throw Error("[webhook]: this build has no libcurl");
}
#endif
#ifndef MPM_WITH_MOSQUITTO
std::unique_ptr<Channel> openMqtt(const Mqtt&, CurrentTopics&, bool) {
  throw Error("[mqtt]: this build has no libmosquitto");
}
#endif

struct Teller::Impl {
  // What set() makes of the tables of a file; not changed afterwards.
  struct Told {
    FileTables tables{};
    CurrentTopics topics{};
    std::vector<std::unique_ptr<Sender>> senders{};

    std::string topicOf(const std::string& camera) const { return prefixOf(tables.mqtt) + "/" + camera; }
  };
  struct Camera {
    std::set<int> occurred{};             // classes
    std::optional<std::int64_t> shown{};  // steady time of its picture
  };
  const bool stays;
  std::mutex setting{};  // before the other one
  std::mutex mutex{};
  std::map<std::string, Camera> cameras{};  // guarded by the mutex, as is what follows
  std::map<const StoreWriter*, Feed> feeds{};
  std::shared_ptr<Told> told = std::make_shared<Told>();

  std::shared_ptr<Told> now() {
    const std::lock_guard lock(mutex);
    return told;
  }
};

Teller::Teller(bool stays) : impl_(new Impl{.stays = stays}) {}
Teller::~Teller() = default;

void Teller::set(const FileTables& tables) {
  const std::lock_guard setting(impl_->setting);
  if (impl_->now()->tables == tables) return;
  auto next = std::make_shared<Impl::Told>();
  next->tables = tables;
  if (tables.mqtt != Mqtt())
    next->senders.push_back(std::make_unique<Sender>("mqtt", openMqtt(tables.mqtt, next->topics, impl_->stays)));
  if (tables.webhook != Webhook())
    next->senders.push_back(std::make_unique<Sender>("webhook", openWebhook(tables.webhook, next->topics)));
  std::unique_lock lock(impl_->mutex);
  for (auto& [name, camera] : impl_->cameras) camera.shown.reset();
  std::swap(impl_->told, next);
  lock.unlock();
  next.reset();  // the broker hears the last will of this connection before the other one says that it is online
  lock.lock();
  for (const auto& [store, feed] : impl_->feeds)
    for (const auto& sender : impl_->told->senders) sender->add(feed);
}

OutboxOptions Teller::outbox(const std::string& camera) {
  OutboxOptions options;
  options.of_event = [this, camera](const Event& event) {
    std::vector<Message> messages;
    if (isPast(event.time)) return messages;
    Json json = toJson(event);
    json["camera"] = camera;
    const auto told = impl_->now();
    for (const auto& sender : told->senders)
      messages.push_back({.channel = sender->name(),
                          .topic = told->topicOf(camera) + (sender->name() == "mqtt" ? "/event" : ""),
                          .payload = toLine(json)});
    return messages;
  };
  options.of_sample = [this, camera](const Sample& sample, const SessionInfo& session) {
    std::vector<Message> messages;
    const auto told = impl_->now();
    const Mqtt& mqtt = told->tables.mqtt;
    if (mqtt == Mqtt() || isPast(sample.time)) return messages;
    const std::string topic = told->topicOf(camera);
    if (mqtt.discovery != "none") {
      const std::lock_guard lock(impl_->mutex);
      std::set<int>& occurred = impl_->cameras[camera].occurred;
      for (const auto& [label, area] : sample.whole().areas) occurred.insert(label);
      told->topics.set(discoveryOf(mqtt) + "/device/" + topicName(topic) + "/config",
                       toLine(discovery(camera, topic, told->tables, session, sample, occurred)));
    }
    messages.push_back({.channel = "mqtt",
                        .topic = topic + "/state",
                        .payload = toLine(toJson(sample, session.classes, session.reduce)),
                        .latest = true});
    return messages;
  };
  options.on_stored = [this] {
    for (const auto& sender : impl_->now()->senders) sender->wake();
  };
  return options;
}

void Teller::add(const std::string& database, StoreWriter& store, std::function<void(const Event&)> report) {
  const std::lock_guard lock(impl_->mutex);
  const Feed& feed = impl_->feeds[&store] = {.database = database, .store = &store, .report = std::move(report)};
  for (const auto& sender : impl_->told->senders) sender->add(feed);
}

void Teller::remove(const StoreWriter& store, double patience_s) {
  const auto until = Clock::now() + inSeconds(patience_s);
  std::unique_lock setting(impl_->setting);  // else set() might still send of this store when it is gone
  const auto told = impl_->now();
  std::unique_lock lock(impl_->mutex);
  impl_->feeds.erase(&store);
  lock.unlock();
  setting.unlock();
  for (const auto& sender : told->senders) sender->remove(&store, until);
}

void Teller::setStatus(const std::string& camera, const std::string& status) {
  const auto told = impl_->now();
  if (!impl_->stays || status != "ended") told->topics.set(told->topicOf(camera) + "/status", status);
}

void Teller::dropPicture(const std::string& camera) {
  const std::lock_guard lock(impl_->mutex);
  impl_->cameras[camera].shown.reset();
  impl_->told->topics.set(impl_->told->topicOf(camera) + "/picture", "");
}

void Teller::setPicture(const std::string& camera, const InferenceResult& result) {
  const auto told = impl_->now();
  if (!told->tables.mqtt.picture && !told->tables.webhook.picture) return dropPicture(camera);  // of an earlier run
  {
    const std::lock_guard lock(impl_->mutex);
    auto& shown = impl_->cameras[camera].shown;
    if (shown && result.frame.steady - *shown < kMinuteMs) return;
    shown = result.frame.steady;
  }
  const auto files = vision::estimateFiles(result.estimate, result.frame.image, *result.model,
                                           vision::classColors(result.model->facts, result.model->classes));
  told->topics.set(told->topicOf(camera) + "/picture",
                   jpegOf(files.pictures.empty() ? result.frame.image : files.pictures.back().second.clone()));
}

}  // namespace mpm::monitor
