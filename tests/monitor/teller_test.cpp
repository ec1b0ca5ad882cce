// SPDX-License-Identifier: Apache-2.0
// What is put into the outbox, and the texts around it; tell_test.py looks at the sending.
#include "monitor/tell/teller.h"

#include "monitor/samples.h"
#include "monitor/tell/address.h"
#include "monitor/tell/channel.h"
#include "monitor/tell/secret.h"
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
    SessionInfo info = session();
    info.every_s = every_s;
    const Json config = discovery("yard", "mpm/yard", {}, info, sampleAt(kNoon), {});
    EXPECT_EQ(config["components"]["tokens"]["expire_after"], expires) << every_s;
  }
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

}  // namespace
}  // namespace mpm::monitor::test
