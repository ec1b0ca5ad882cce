// SPDX-License-Identifier: Apache-2.0
#include "monitor/event_command.h"

#include <signal.h>

#include <cstdlib>
#include <iterator>
#include <thread>

#include "monitor/samples.h"
#include "monitor/wait.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

TEST(SplitCommand, KnowsBlanksQuotesAndBackslashes) {
  EXPECT_THAT(splitCommand("mail  -s\t'A  camera' me@home"), ElementsAre("mail", "-s", "A  camera", "me@home"));
  EXPECT_THAT(splitCommand(R"(sh -c 'test "$1" = \n' "a \"b\" 'c'" x\ y)"),
              ElementsAre("sh", "-c", R"(test "$1" = \n)", R"(a "b" 'c')", "x y"));
  EXPECT_THAT(splitCommand("a''b \"\" $HOME *"), ElementsAre("ab", "", "$HOME", "*"));
}

TEST(SplitCommand, RefusesWhatItCannotSplit) {
  EXPECT_MPM_ERROR(splitCommand("mail -s 'a camera"),
                   "the command 'mail -s 'a camera' has a ' that is not closed: add it, or write \\'");
  EXPECT_MPM_ERROR(splitCommand("echo \"a"), "has a \" that is not closed");
  for (const char* line : {" \t", "'' x"}) EXPECT_MPM_ERROR(splitCommand(line), "the command is empty: name a program");
  EXPECT_MPM_ERROR(parseCommand("no-such-program-of-mpm x"),
                   "there is no program 'no-such-program-of-mpm': install it, or name its path");
  EXPECT_MPM_ERROR(parseCommand("./no-such-file"), "there is no program './no-such-file'");
  EXPECT_THAT(parseCommand("sh -c true"), SizeIs(3));
}

class EventCommandTest : public InFolder {
 protected:
  Collected<Event> problems_;

  std::unique_ptr<EventCommand> make(std::vector<std::string> arguments, EventCommandLimits limits = {}) {
    return std::make_unique<EventCommand>(
        std::move(arguments), [this](const Event& event) { problems_.add(event); }, limits);
  }
  std::unique_ptr<EventCommand> shell(const std::string& script, EventCommandLimits limits = {}) {
    return make({"sh", "-c", script, "sh", folder_.path()}, limits);
  }
  std::string text(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static Event event(const std::string& message = "x", EventKind kind = EventKind::kAlarm) {
    return {kNoon, kind, Severity::kWarning, message};
  }
  std::string problem(std::size_t i) const { return problems_.all().at(i).message; }
};

TEST_F(EventCommandTest, FactsArrive) {
  for (const char* name : {"MPM_SOURCE", "MPM_SOURCE_GATE_2"}) ::setenv(name, "rtsp://anna:geheim@yard/1", 1);
  ::setenv("MPM_EVENT_OLD", "stale", 1);
  auto command = shell("env > $1/env; cat > $1/json; ls /proc/self/fd > $1/files");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it waits for an event by now
  command->add(event("area of \"car\" is 25 %, above 20 %"), "rtsp://***@yard/1");
  EXPECT_TRUE(eventually([&] { return text("files").size() == 8; })) << "at once, and not when the watch ends";
  command->finish(60);
  for (const char* name : {"MPM_SOURCE", "MPM_SOURCE_GATE_2"}) ::unsetenv(name);
  ::unsetenv("MPM_EVENT_OLD");
  EXPECT_THAT(problems_.all(), IsEmpty());
  const std::string environment = "\n" + text("env");
  for (const char* line :
       {"\nMPM_EVENT_KIND=alarm\n", "\nMPM_EVENT_SEVERITY=warning\n", "\nMPM_EVENT_SOURCE=rtsp://***@yard/1\n",
        "\nMPM_EVENT_MESSAGE=area of \"car\" is 25 %, above 20 %\n", "\nMPM_EVENT_TIME=2026-06-01T12:00:00.000Z\n"})
    EXPECT_THAT(environment, HasSubstr(line));
  EXPECT_THAT(environment, Not(HasSubstr("geheim"))) << "a password";
  EXPECT_THAT(environment, Not(HasSubstr("stale")));
  EXPECT_EQ(nlohmann::json::parse(text("json")), (nlohmann::json{{"time", "2026-06-01T12:00:00.000Z"},
                                                                 {"event", "alarm"},
                                                                 {"severity", "warning"},
                                                                 {"message", "area of \"car\" is 25 %, above 20 %"},
                                                                 {"source", "rtsp://***@yard/1"}}));
  EXPECT_EQ(text("files"), "0\n1\n2\n3\n") << "3 is the folder that ls reads";
}

TEST_F(EventCommandTest, OneRunsAtATimeInOrder) {
  auto command = shell("test ! -e $1/runs || exit 9; : > $1/runs; echo $MPM_EVENT_MESSAGE >> $1/log; rm $1/runs");
  for (int i = 0; i < 9; ++i) command->add(event(std::to_string(i)), "");
  command->finish(60);
  EXPECT_THAT(problems_.all(), IsEmpty());
  EXPECT_EQ(text("log"), "0\n1\n2\n3\n4\n5\n6\n7\n8\n");
  command->add(event(), "");
  EXPECT_EQ(text("log").size(), 18u) << "nothing runs after the end";
}

TEST_F(EventCommandTest, InputThatNobodyReadsIsNoProblem) {
  auto command = make({"true"});
  for (int i = 0; i < 20; ++i) command->add(event(std::string(3000, 'x')), "");
  command->finish(60);
  EXPECT_THAT(problems_.all(), IsEmpty());
}

TEST_F(EventCommandTest, AFailureIsAnEvent) {
  const auto run = [](std::unique_ptr<EventCommand> command) {
    command->add(event(), "");
    command->finish(60);
  };
  run(shell("exit 3"));
  run(shell("kill -9 $$"));
  run(make({folder_ / "gone"}));
  ASSERT_THAT(problems_.all(), SizeIs(3));
  EXPECT_EQ(problem(0), "'sh' ended with exit status 3");
  EXPECT_EQ(problem(1), "'sh' was ended by a signal: Killed");
  EXPECT_EQ(problem(2), "'" + (folder_ / "gone") + "' cannot be run: No such file or directory");
  for (const Event& told : problems_.all()) {
    EXPECT_EQ(told.kind, EventKind::kCommand);
    EXPECT_EQ(told.severity, Severity::kWarning);
  }
}

TEST_F(EventCommandTest, ItsOwnEventsDoNotRunIt) {
  auto command = shell("echo x >> $1/log");
  command->add(event("x", EventKind::kCommand), "");
  command->finish(60);
  EXPECT_EQ(text("log"), "");
}

TEST_F(EventCommandTest, TheLimitKillsAllThatItStarted) {
  auto command = shell("sleep 1000 & echo $! > $1/child; wait", {.run_s = 2});
  command->add(event(), "");
  ASSERT_TRUE(eventually([&] { return problems_.size() == 1; }));
  EXPECT_EQ(problem(0), "'sh' was killed: it took longer than 2 s");
  const int child = std::stoi(text("child"));
  const auto gone = [&] {  // where nobody reaps orphans, a zombie stays
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    std::string id, name, state;
    return !(stat >> id >> name >> state) || state == "Z";
  };
  EXPECT_TRUE(eventually(gone));
}

TEST_F(EventCommandTest, AFullQueueSaysWhatItDropped) {
  auto command = shell("echo $MPM_EVENT_MESSAGE >> $1/log; while test ! -e $1/go; do sleep 0.01; done",
                       {.run_s = 600, .max_waiting = 2});
  command->add(event("first"), "");
  ASSERT_TRUE(eventually([&] { return text("log") == "first\n"; }));
  for (const char* message : {"second", "third", "fourth", "fifth", "sixth"}) command->add(event(message), "");
  std::ofstream(folder_ / "go") << "";
  command->finish(60);
  EXPECT_EQ(text("log"), "first\nsecond\nthird\n");
  ASSERT_THAT(problems_.all(), SizeIs(1));
  EXPECT_EQ(problem(0), "'sh' was not run for 3 events: it is slower than they come");
}

TEST_F(EventCommandTest, TheEndWaitsNoLongerThanAsked) {
  auto command = shell("echo $MPM_EVENT_MESSAGE >> $1/log; sleep 1000");
  for (const char* message : {"first", "second", "third"}) command->add(event(message), "");
  ASSERT_TRUE(eventually([&] { return text("log") == "first\n"; }));
  command->finish(0.05);
  EXPECT_EQ(text("log"), "first\n");
  ASSERT_THAT(problems_.all(), SizeIs(2));
  EXPECT_EQ(problem(0), "'sh' was killed: the watch ends");
  EXPECT_EQ(problem(1), "'sh' was not run for 2 events: the watch ends");
}

}  // namespace
}  // namespace mpm::monitor::test
