// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFile>
#include <fstream>

#include "support/matchers.h"

inline std::ostream& operator<<(std::ostream& out, const QString& text) { return out << text.toStdString(); }
inline std::ostream& operator<<(std::ostream& out, const QByteArray& text) { return out << text.toStdString(); }

namespace mpm::gui {

MATCHER_P(Has, piece, "") { return arg.contains(piece); }
MATCHER_P(Begins, piece, "") { return arg.startsWith(piece); }
MATCHER_P(Ends, piece, "") { return arg.endsWith(piece); }

inline QByteArray content(const QString& name) {
  QFile file(name);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}
inline void write(const QString& name, const char* text) { std::ofstream(name.toStdString()) << text; }

}  // namespace mpm::gui
