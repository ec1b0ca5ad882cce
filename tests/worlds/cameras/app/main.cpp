// SPDX-License-Identifier: Apache-2.0
// What the app shows of a database ("database"), or, once it has measured a folder ("folder"), how many pictures are
// stored.
#include "reader.h"
#include "watcher.h"
#include "worlds/offscreen.h"

int main(int argc, char** argv) {
  mpm::worlds::OffscreenApp(argc, argv).answerLines([](const QJsonObject& asked) -> QJsonObject {
    try {
      return asked.contains("folder") ? mpm::worlds::watch(asked) : mpm::worlds::read(asked);
    } catch (const std::exception& error) {
      return {{"error", QString::fromUtf8(error.what())}};
    }
  });
  return 0;
}
