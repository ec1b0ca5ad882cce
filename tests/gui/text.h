// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <QString>
#include <ostream>

inline std::ostream& operator<<(std::ostream& out, const QString& text) { return out << text.toStdString(); }
inline std::ostream& operator<<(std::ostream& out, const QByteArray& text) { return out << text.toStdString(); }

namespace mpm::gui {

MATCHER_P(Has, piece, "") { return arg.contains(piece); }
MATCHER_P(Begins, piece, "") { return arg.startsWith(piece); }
MATCHER_P(Ends, piece, "") { return arg.endsWith(piece); }

using ::testing::Not;

}  // namespace mpm::gui
