// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "monitor/daily_summary.h"
#include "monitor/tell/teller.h"
#include "support/pictures.h"

// tell_victim WATCH DATABASE: tells of the camera "yard" as the tables of a watch file say. Of standard input
// "sample" is a sample by day, "night" one by night without its class, "picture MS" one that was taken then, "flush"
// waits until all is stored and prints so, "set WATCH" takes over the tables of that file, "gone" says that the file
// names the camera no more, "summary" is a sample of yesterday and its summary, any other line is an event. Prints the
// events of the sending.
int main(int argc, char** argv) {
  using namespace mpm::monitor;
  if (argc != 3) return 2;
  const auto told = [](const Event& event) { std::cout << event.message << std::endl; };
  Teller teller;
  teller.set(readWatchFile(argv[1]).tables);
  StoreWriter store(argv[2], {.commit_s = 0.02, .outbox = teller.outbox("yard")}, told);
  SessionInfo session;
  session.source = "camera 0";
  session.classes = {"sky", "a car's"};
  session.every_s = 60;
  store.beginSession(session);
  teller.setFacts("yard", {.title = "Front yard", .alarms = {parseAlarm("tokens>50")}});
  teller.add("yard", argv[2], store, [&](const Event& event) {
    told(event);
    store.append(event);
  });
  teller.setStatus("yard", "online");
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "flush") {
      store.flush();
      std::cout << "flushed" << std::endl;
    } else if (line.starts_with("set ")) {
      store.flush();
      teller.set(readWatchFile(line.substr(4)).tables);
    } else if (line == "summary") {
      store.append(Sample{.time = mpm::unixNow() - mpm::kDayMs});
      store.flush();
      store.append(DailySummary(0, mpm::vision::CameraClock(), mpm::unixNow())
                       .due(mpm::unixNow(), argv[2], session.source, "")
                       .at(0));
    } else if (line == "sample" || line == "night") {
      Sample sample{.time = mpm::unixNow(), .states = {{.name = "gate", .state = "open", .counted = "open"}}};
      sample.whole().set("tokens", 64);
      if (line == "sample") sample.whole().areas = {{1, 0.25}};
      sample.night = line == "night";
      store.append(sample);
    } else if (line == "drop") {
      store.flush();
      teller.dropPicture("yard");
    } else if (line == "gone") {
      teller.setCameras({});
    } else if (line.starts_with("picture ")) {
      InferenceResult result;
      result.model = std::make_shared<mpm::ModelInfo>();
      result.frame.time = mpm::unixNow();
      result.frame.steady = std::stoll(line.substr(8));
      result.frame.image = mpm::test::noisePicture(1600, 1600, static_cast<int>(result.frame.steady));
      teller.setPicture("yard", result);
    } else {
      store.append(Event{mpm::unixNow(), EventKind::kAlarm, Severity::kWarning, line});
    }
  }
  store.flush();
  teller.remove("yard", store, 60);
  teller.end("yard");
  store.flush();
}
