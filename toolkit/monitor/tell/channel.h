// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "monitor/store/records.h"
#include "monitor/watch/camera_config.h"
#include "mpm/error.hpp"

namespace mpm::monitor {

/// Where a server listens.
struct HostPort {
  std::string host;
  int port = 0;  ///< 0: not said
};

/// "broker", "broker:1883", "[::1]:1883". Throws mpm::Error.
HostPort parseAddress(const std::string& text);

/// One level of an MQTT topic, or an id of Home Assistant: each other byte than a-z, A-Z, 0-9, _ and - becomes _.
std::string topicName(const std::string& text);

/// The first line of a file that holds a secret. Throws mpm::Error naming the file, also for one that every user may
/// read.
std::string readSecret(const std::string& path);

/// The other side takes messages, but not this one, however often it comes.
class Refused : public Error {
 public:
  /// After so many refusals the message is given up.
  Refused(const std::string& why, int patience) : Error(why), refusals(patience) {}
  int refusals;
};

/// Throws a Refused where a server did not take a message because of it, by the HTTP status of its answer; mpm::Error
/// where it took none for another reason.
void throwUnlessTaken(long status);

/// A server that is told. One thread uses it, but for `cancelled`.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Looks after the connection. Throws mpm::Error while there is none.
  virtual void keep() {}
  /// Returns when the other side has confirmed the message; else throws mpm::Error, after half a minute at most: a
  /// Refused where it is this message that the other side does not take.
  virtual void send(const Message& message) = 0;

  std::atomic<bool> cancelled = false;  ///< send() gives up soon
};

/// The payload of a message with its id.
inline std::string withId(const Message& message) {
  if (message.payload.empty()) return "";
  return "{\"id\":\"" + message.id + "\"," + message.payload.substr(1);
}

/// The topics of which only the value of now counts: status, alarms, picture and discovery of a camera. Thread-safe.
class CurrentTopics {
 public:
  /// An empty payload: the broker keeps none any more.
  void set(const std::string& topic, std::string payload) {
    const std::lock_guard lock(mutex_);
    const auto [last, fresh] = topics_.try_emplace(topic);
    if (!fresh && last->second == payload) return;
    last->second = std::move(payload);
    changed_[topic] = last->second;
  }
  /// Sends it now; no new connection sends it again.
  void sendOnce(const std::string& topic, std::string payload) {
    const std::lock_guard lock(mutex_);
    changed_[topic] = std::move(payload);
  }
  std::string of(const std::string& topic) const {
    const std::lock_guard lock(mutex_);
    const auto found = topics_.find(topic);
    return found == topics_.end() ? "" : found->second;
  }
  /// Those that changed since the last call; `all`: each.
  std::map<std::string, std::string> take(bool all) {
    const std::lock_guard lock(mutex_);
    auto taken = std::exchange(changed_, {});
    if (all) taken.insert(topics_.begin(), topics_.end());
    return taken;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> topics_, changed_;
};

/// What is heard of a broker, on a thread of its own.
struct Subscription {
  std::vector<std::string> topics{};
  /// One that `topics` match: an empty message that no broker keeps is sent there behind the subscriptions. When it
  /// comes back, the broker has said all that it keeps.
  std::string last{};
  std::function<void(const std::string& topic, const std::string& payload)> take{};
};

/// The last overlay of a camera as JPEG; empty: there is none, or it is younger than `event`.
using PictureBefore = std::function<std::string(UnixMs event)>;

/// The channels of one camera. Each reads its secrets; the connection is made by the first keep() or send(). Throws
/// mpm::Error for what makes no sense, and where this build lacks the library.
std::unique_ptr<Channel> openWebhook(const Webhook& options, const PictureBefore& picture);
/// `status`: the topic that says "offline" when the connection breaks without a farewell, by its last will; empty:
/// none.
std::unique_ptr<Channel> openMqtt(const Mqtt& options, CurrentTopics& topics, const std::string& status,
                                  const Subscription& subscription = {});

}  // namespace mpm::monitor
