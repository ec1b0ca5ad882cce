// SPDX-License-Identifier: Apache-2.0
// What a watch tells others: what is put into the outbox, the texts around it (tell_test.py looks at the sending),
// systemd.
#include <sys/socket.h>
#include <sys/un.h>
#include <cstdlib>
#include <cstring>

#include "monitor/samples.h"
#include "monitor/service_notify.h"
#include "monitor/tell/channel.h"
#include "monitor/tell/teller.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using Secret = InFolder;

TEST(Teller, TellsNothingOfThePastAndOnlyTheLatestState) {
  Teller teller;
  try {
    teller.set(FileTables{.mqtt = {.address = "127.0.0.1:9"}});  // where nobody listens
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const OutboxOptions outbox = teller.outbox("yard");
  for (const auto& [time, count] : {std::pair(unixNow() - kHourMs - 1, 0u), {unixNow() - kHourMs + kMinuteMs, 1u}}) {
    const auto events = outbox.of_event(eventAt(time, "x")), states = outbox.of_sample(sampleAt(time), session());
    ASSERT_THAT(events, SizeIs(count));
    ASSERT_THAT(states, SizeIs(count));
    if (count == 0) continue;
    EXPECT_EQ(std::pair(events[0].topic, events[0].latest), std::pair(std::string("mpm/yard/event"), false));
    EXPECT_EQ(std::pair(states[0].topic, states[0].latest), std::pair(std::string("mpm/yard/state"), true));
  }
}

TEST(Teller, ASensorExpiresAfterThreeSamples) {
  for (const auto& [every_s, expires] : {std::pair(0.1, 10), {3.5, 11}, {60.0, 180}}) {
    const Json config = discovery("yard", "mpm/yard", {}, session("camera 0", every_s), sampleAt(kNoon), {});
    EXPECT_EQ(config["components"]["tokens"]["expire_after"], expires) << every_s;
  }
}

TEST(Teller, NamesInOtherLettersHaveIdsOfTheirOwn) {
  SessionInfo info = session();
  info.classes = {"汽车", "行人", "sky", "bay 1", "bay.1"};
  const Json components = discovery("yard", "mpm/yard", {}, info, sampleAt(kNoon), {0, 1, 2, 3, 4})["components"];
  int areas = 0;
  for (const auto& [key, entity] : components.items()) areas += key.starts_with("area_");
  EXPECT_EQ(areas, 5) << "also of two that differ in signs";
  EXPECT_TRUE(components.contains("area_sky"));
}

TEST(Teller, ADeviceHasItsPictureAndItsPageIfOthersReachIt) {
  const auto config = [](const std::string& address) {
    return discovery("yard", "a/yard", {.mqtt = {.picture = true}, .page = {.address = address}}, session(),
                     sampleAt(kNoon), {});
  };
  const Json image = config("")["components"]["picture"];
  EXPECT_EQ(std::tuple(image["platform"], image["image_topic"], image["content_type"]),
            std::tuple("image", "a/yard/picture", "image/jpeg"));
  EXPECT_EQ(config("10.0.0.9:80")["device"]["configuration_url"], "http://10.0.0.9:80/");
  for (const char* address : {"", "127.0.0.1:0", "0.0.0.0:80", "[::]:80"})
    EXPECT_FALSE(config(address)["device"].contains("configuration_url")) << address;
}

TEST(Teller, AddressesAndTopics) {
  const std::tuple<const char*, const char*, int> good[] = {
      {"broker", "broker", 0}, {"broker:1", "broker", 1}, {"[::1]:65535", "::1", 65535}, {"[::1]", "::1", 0}};
  for (const auto& [text, host, port] : good) {
    const HostPort address = parseAddress(text);
    EXPECT_EQ(std::pair(address.host, address.port), std::pair(std::string(host), port));
  }
  for (const char* text : {"", ":1883", "a b", "me@broker", "broker:", "broker:0", "broker:65536", "[::1", "[]:1",
                           "[::1]x80", "broker:8x"})
    EXPECT_MPM_ERROR(parseAddress(text), "is no address such as");
  EXPECT_EQ(topicName("Yard/9 _-+#"), "Yard_9__-__");
}

TEST_F(Secret, IsTheFirstLineOfAFileOfItsOwner) {
  const auto secret = [&](const std::string& text, int mode) {
    std::ofstream(path_) << text;
    fs::permissions(path_, static_cast<fs::perms>(mode));
    return readSecret(path_);
  };
  EXPECT_EQ(secret("geheim\r\nmore\n", 0640), "geheim");
  EXPECT_EQ(secret("geheim", 0600), "geheim");
  EXPECT_MPM_ERROR(secret("geheim", 0604), "can be read by every user");
  EXPECT_MPM_ERROR(secret("\r\ngeheim", 0600), "has no first line");
}

// What systemd would read.
class Listener {
 public:
  explicit Listener(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    socklen_t length = sizeof address;
    if (path[0] == '@') {
      address.sun_path[0] = '\0';
      length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    }
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), length), 0);
  }
  ~Listener() { ::close(socket_); }
  std::string next() const {
    char buffer[512];
    const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
    return got < 0 ? "" : std::string(buffer, static_cast<std::size_t>(got));
  }

 private:
  int socket_;
};

TEST(ServiceNotify, SpeaksToSystemd) {
  const mpm::test::TemporaryFolder folder;
  for (const std::string& path : {folder / "notify", "@mpm_notify_test_" + std::to_string(::getpid())}) {
    const Listener listener(path);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    ::setenv("WATCHDOG_USEC", "60000000", 1);
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    ServiceNotify service;
    service.ready();
    EXPECT_EQ(listener.next(), "READY=1");
    service.status("12 fps\ntokens 377");
    EXPECT_EQ(listener.next(), "STATUS=12 fps tokens 377");
    service.status("12 fps\ntokens 377");
    EXPECT_EQ(listener.next(), "") << "nothing new";
    service.alive();
    EXPECT_EQ(listener.next(), "WATCHDOG=1");
    service.alive();
    EXPECT_EQ(listener.next(), "") << "half an interval has not passed";
    service.stopping();
    EXPECT_EQ(listener.next(), "STOPPING=1");
    ::setenv("WATCHDOG_PID", "1", 1);
    ServiceNotify not_watched;
    not_watched.alive();
    EXPECT_EQ(listener.next(), "") << "the watchdog is for another process";
  }
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
}

TEST(ServiceNotify, AListenerThatIsGoneDisturbsNothing) {
  const mpm::test::TemporaryFolder folder;
  ::setenv("NOTIFY_SOCKET", (folder / "none").c_str(), 1);
  ServiceNotify service;
  ::unsetenv("NOTIFY_SOCKET");
  service.ready();
  service.status("x");
}

}  // namespace
}  // namespace mpm::monitor::test
