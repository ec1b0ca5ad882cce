// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

/// Fields, OK and Cancel, and a line that says why OK is refused.
class SettingsDialog : public QDialog {
  Q_OBJECT
 public:
  /// Why a field is refused, behind its name: the messages of the library are in English.
  static QString about(const QString& field, const QString& why) { return tr("%1: %2").arg(field, why); }

 protected:
  SettingsDialog(const QString& title, QWidget* parent);
  /// To be called once all fields are there. `refusal`: why they cannot be accepted as they are; empty: they can.
  /// `beside`: what stands to the left of the fields. `accept`: the text of OK; empty: the usual one.
  void finish(std::function<QString()> refusal = {}, QWidget* beside = nullptr, const QString& accept = {});
  /// Asks for the refusal again.
  void check() { check_(); }

  QWidget* content_;
  QFormLayout* form_;  // of content_

 private:
  std::function<void()> check_;
};

}  // namespace mpm::gui
