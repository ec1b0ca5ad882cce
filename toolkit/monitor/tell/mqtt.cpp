// SPDX-License-Identifier: Apache-2.0
#include <mosquitto.h>

#include <chrono>
#include <condition_variable>
#include <set>

#include "base/atomic_file.h"
#include "base/visible_text.h"
#include "monitor/tell/channel.h"
#include "monitor/tell/home_assistant.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

using namespace std::chrono_literals;

constexpr int kKeepAliveS = 30, kQos = 1;

void check(int code) {
  if (code != MOSQ_ERR_SUCCESS) throw Error(mosquitto_strerror(code));
}

// The connection of one camera. libmosquitto's thread keeps it and makes it again; its callbacks note what happened.
class MqttChannel : public Channel {
 public:
  MqttChannel(const Mqtt& options, CurrentTopics& topics, const std::string& status, Subscription subscription)
      : topics_(topics),
        subscription_(std::move(subscription)),
        picture_(options.picture),
        birth_(discoveryOf(options).empty() ? "" : discoveryOf(options) + "/status") {
    if (options.address.empty()) throw Error("[mqtt] has no 'address'");
    const bool tls = options.tls || !options.ca_file.empty();
    address_ = parseAddress(options.address);
    if (address_.port == 0) address_.port = tls ? 8883 : 1883;
    if (!mosquitto_) throw Error("libmosquitto does not start");
    mosquitto* const client = mosquitto_.get();
    if (!options.user.empty()) {
      check(mosquitto_username_pw_set(
          client, options.user.c_str(),
          options.password_file.empty() ? nullptr : readSecret(options.password_file).c_str()));
    }
    if (tls) {
      if (!options.ca_file.empty()) (void)readFile(options.ca_file);  // says what is wrong with it
      if (options.ca_file.empty())
        check(mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1));
      else
        check(mosquitto_tls_set(client, options.ca_file.c_str(), nullptr, nullptr, nullptr, nullptr));
      check(mosquitto_tls_opts_set(client, 1, nullptr, nullptr));  // 1: the broker's certificate is verified
    }
    if (!status.empty()) check(mosquitto_will_set(client, status.c_str(), 7, "offline", kQos, true));
    mosquitto_reconnect_delay_set(client, 1, 30, true);
    mosquitto_connect_callback_set(client, [](mosquitto*, void* self, int code) { of(self).onConnect(code); });
    mosquitto_disconnect_callback_set(client, [](mosquitto*, void* self, int code) {
      of(self).note([&](MqttChannel& channel) {
        channel.connected_ = false;
        if (channel.problem_.empty()) channel.problem_ = mosquitto_strerror(code);
      });
    });
    mosquitto_log_callback_set(client, [](mosquitto*, void* self, int level, const char* text) {
      if (level == MOSQ_LOG_ERR)
        of(self).note([&](MqttChannel& channel) { channel.problem_ = visibleText(text, 200); });
    });
    mosquitto_publish_callback_set(client, [](mosquitto*, void* self, int number) {
      of(self).note([&](MqttChannel& channel) { channel.confirmed_.insert(number); });
    });
    mosquitto_message_callback_set(client, [](mosquitto*, void* self, const mosquitto_message* message) {
      of(self).onMessage(message->topic,
                         {static_cast<const char*>(message->payload), static_cast<std::size_t>(message->payloadlen)});
    });
  }
  // A farewell: the broker sends no last will, and the status is what was said last.
  ~MqttChannel() override {
    if (!started_) return;
    std::unique_lock lock(mutex_);
    // A socket that is closed before the broker has answered is reset, and what the broker has not read yet is lost.
    changed_.wait_for(lock, 2s, [&] { return !connected_ || last_ == 0 || confirmed_.contains(last_); });
    lock.unlock();
    mosquitto_disconnect(mosquitto_.get());
    lock.lock();
    const bool gone = changed_.wait_for(lock, 2s, [&] { return !connected_; });
    lock.unlock();
    mosquitto_loop_stop(mosquitto_.get(), !gone);
  }

  void keep() override {
    bool all = false;
    if (!started_) {
      check(mosquitto_loop_start(mosquitto_.get()));
      (void)mosquitto_connect_async(mosquitto_.get(), address_.host.c_str(), address_.port,
                                    kKeepAliveS);  // tried again
    }
    {
      std::unique_lock lock(mutex_);
      await(lock, started_ ? 0s : 5s, [&] { return connected_ || !problem_.empty(); });
      started_ = true;
      if (!connected_) throw Error(problem_.empty() ? "it does not answer" : problem_);
      all = std::exchange(announce_, false);
    }
    for (const auto& [topic, payload] : topics_.take(all)) {
      if (payload.empty()) states_.erase(topic);
      if (picture_ || !topic.ends_with("/picture"))
        publish(topic, payload, true);
      else if (cleared_.insert(topic).second || payload.empty())
        publish(topic, "", true);  // an earlier run may have sent one
    }
    if (all)
      for (const auto& [topic, payload] : states_) publish(topic, payload, true);
  }

  void send(const Message& message) override {
    // libmosquitto sends what was not confirmed again after a new connection: a second call waits for that.
    if (sending_ != message.id) {
      sent_ = publish(message.topic, withId(message), message.latest);
      sending_ = message.id;
      if (message.latest && !message.payload.empty()) states_[message.topic] = withId(message);
    }
    std::unique_lock lock(mutex_);
    await(lock, 30s, [&] { return confirmed_.contains(sent_) || !connected_; });
    if (!confirmed_.contains(sent_)) throw Error(problem_.empty() ? "it does not confirm" : problem_);
    confirmed_.clear();
    if (last_ == sent_) last_ = 0;
  }

 private:
  static MqttChannel& of(void* self) { return *static_cast<MqttChannel*>(self); }

  // Waits for what a callback notes, or until it was cancelled.
  template <typename Over>
  void await(std::unique_lock<std::mutex>& lock, std::chrono::seconds patience, Over over) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!over() && !cancelled && std::chrono::steady_clock::now() < until) changed_.wait_for(lock, 100ms);
  }

  template <typename Change>
  void note(Change change) {
    const std::lock_guard lock(mutex_);
    change(*this);
    changed_.notify_all();
  }

  void onMessage(const std::string& topic, std::string_view payload) {
    if (topic != birth_ && subscription_.take) subscription_.take(topic, std::string(payload));
    if (topic == birth_ && payload == "online") note([](MqttChannel& channel) { channel.announce_ = true; });
  }

  void onConnect(int code) {
    mosquitto* const client = mosquitto_.get();
    if (code == 0 && !birth_.empty()) mosquitto_subscribe(client, nullptr, birth_.c_str(), kQos);
    if (code == 0 && subscription_.take) {
      for (const std::string& one : subscription_.topics) mosquitto_subscribe(client, nullptr, one.c_str(), kQos);
      mosquitto_publish(client, nullptr, subscription_.last.c_str(), 0, nullptr, kQos, false);
    }
    note([&](MqttChannel& channel) {
      channel.connected_ = channel.announce_ = code == 0;
      channel.problem_ = code == 0 ? "" : mosquitto_connack_string(code);
    });
  }

  int publish(const std::string& topic, const std::string& payload, bool retained) {
    int number = 0;
    const int code = mosquitto_publish(mosquitto_.get(), &number, topic.c_str(), static_cast<int>(payload.size()),
                                       payload.data(), kQos, retained);
    for (const int never : {MOSQ_ERR_PAYLOAD_SIZE, MOSQ_ERR_OVERSIZE_PACKET, MOSQ_ERR_MALFORMED_UTF8})
      if (code == never) throw Refused(mosquitto_strerror(code), 1);
    check(code);
    return last_ = number;
  }

  CurrentTopics& topics_;
  const Subscription subscription_;
  const bool picture_;               // it is wanted here, and not by a webhook alone
  std::set<std::string> cleared_{};  // topics of pictures that are not wanted
  const std::string birth_;
  HostPort address_{};
  std::map<std::string, std::string> states_{};  // the last of each topic
  std::string sending_{};                        // id of the last message
  int sent_ = 0;                                 // its number at libmosquitto
  int last_ = 0;                                 // the number of the last publication; 0: it was confirmed
  bool started_ = false;                         // and the first answer was waited for

  std::mutex mutex_;
  std::condition_variable changed_;
  bool connected_ = false, announce_ = false;  // guarded by the mutex, as is what follows
  std::string problem_{};
  std::set<int> confirmed_{};
  std::unique_ptr<mosquitto, void (*)(mosquitto*)> mosquitto_{mosquitto_new(nullptr, true, this), mosquitto_destroy};
};

}  // namespace

std::unique_ptr<Channel> openMqtt(const Mqtt& options, CurrentTopics& topics, const std::string& status,
                                  const Subscription& subscription) {
  static const int once = mosquitto_lib_init();
  check(once);
  return std::make_unique<MqttChannel>(options, topics, status, subscription);
}

}  // namespace mpm::monitor
