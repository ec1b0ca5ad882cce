// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QJsonObject>

namespace mpm::worlds {

/// Measures the pictures of "folder" in a window without a screen, and closes it: with "model", "reduce", "refine" and
/// "input-size" of its command line, and what the watch file "camera" says of this source, as a person chose it
/// before. Samples go into "db"; the settings lie in "settings". {"pictures", "stored"}: how many there are.
QJsonObject watch(const QJsonObject& asked);

}  // namespace mpm::worlds
