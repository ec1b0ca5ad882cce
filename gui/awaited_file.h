// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QDateTime>
#include <QObject>
#include <QString>
#include <QTimer>
#include <optional>
#include <utility>

namespace mpm::gui {

/// A file that is gone, or is no use as it is: looked at every other second until there is another, and once more so
/// that one half copied is not taken.
class AwaitedFile : public QObject {
  Q_OBJECT
 public:
  explicit AwaitedFile(QObject* parent = nullptr);
  /// Empty: none any more.
  void await(const QString& path);

 signals:
  /// Each time that there is another one.
  void came();

 private:
  using State = std::optional<std::pair<QDateTime, qint64>>;
  State state() const;
  void look();

  QString path_;
  State known_, seen_;  // what is no use; what the last look found
  QTimer timer_;
};

}  // namespace mpm::gui
