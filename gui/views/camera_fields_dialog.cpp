// SPDX-License-Identifier: Apache-2.0
#include "gui/views/camera_fields_dialog.h"

#include "gui/views/camera_rows.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "monitor/event_command.h"
#include "monitor/watch/camera_plan.h"

namespace mpm::gui {
namespace {

using monitor::CameraConfig;
using monitor::CameraConfigError;
using monitor::CameraField;

// The fields under a heading that have a label.
CameraFields fieldsUnder(const char* group) {
  CameraFields fields;
  for (const CameraField& field : monitor::cameraFields())
    if (field.group == std::string(group) && *field.label) fields.push_back(&field);
  return fields;
}

// The first mistake in these fields of a config; empty: none.
QString problemOf(const CameraConfig& config, const CameraFields& fields) {
  const auto about = [](const CameraField& field, const Error& error) {
    return SettingsDialog::about(QCoreApplication::translate("camera fields", field.label),
                                 QString::fromUtf8(error.what()));
  };
  for (const CameraField* field : fields) {
    const auto wrong = [&](const std::string& text) {
      try {
        if (!text.empty()) field->validate(text);
      } catch (const Error& error) {
        return about(*field, error);
      }
      return QString();
    };
    QString why;
    if (const auto* text = std::get_if<std::string CameraConfig::*>(&field->member)) why = wrong(config.**text);
    if (const auto* list = std::get_if<std::vector<std::string> CameraConfig::*>(&field->member)) {
      for (const std::string& text : config.**list)
        if (why.isEmpty()) why = wrong(text);
    }
    if (!why.isEmpty()) return why;
  }
  try {
    (void)monitor::cameraPlan(config);
  } catch (const CameraConfigError& error) {  // of another dialog, it is none of this one
    for (const CameraField* field : fields)
      if (field->key == error.key) return about(*field, error);
  }
  return {};
}

}  // namespace

CameraFieldsDialog::CameraFieldsDialog(const QString& title, const char* group, const CameraConfig& config,
                                       const CameraConfig& usual, const QStringList& notes, QWidget* parent)
    : SettingsDialog(title, parent), rows_(addCameraRows(form_, config, fieldsUnder(group), usual)) {
  for (const QString& note : notes) {
    QLabel* label = wrapped(mutedLabel(note));
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form_->addRow(label);
  }
  if (group == std::string(monitor::kAlarmsGroup)) addTest();
  finish([this, fields = fieldsUnder(group)] { return problemOf(this->config(), fields); });
  connect(this, &QDialog::accepted, this, [this] { emit chosen(this->config()); });
}

// Whether an alarm reaches anybody is known before one rings.
void CameraFieldsDialog::addTest() {
  QPushButton* test = pushButton(tr("Test it"), tr("Runs the command once, as for an alarm"));
  QLabel* said = wrapped(namedValue(new QLabel, tr("Result of the test")));
  form_->addRow(test, said);
  connect(test, &QPushButton::clicked, this, [this, test, said] {
    test->setEnabled(false);
    setValue(said, tr("Running…"));
    const auto show = [dialog = QPointer(this), test, said](const QString& text) {
      if (!dialog) return;
      setValue(said, text);
      test->setEnabled(true);
    };
    QThreadPool::globalInstance()->start([show, config = config(), went_well = tr("It ran without an error")] {
      std::string why;
      try {
        monitor::EventCommand command(monitor::parseCommand(config.on_event),
                                      [&](const monitor::Event& event) { why = event.message; }, {.run_s = 10});
        command.add({unixNow(), monitor::EventKind::kAlarm, monitor::Severity::kInfo, "a test"}, config.source);
        command.finish(20);
      } catch (const Error& error) {
        why = error.what();
      }
      QMetaObject::invokeMethod(qApp, [=] { show(why.empty() ? went_well : QString::fromStdString(why)); });
    });
  });
}

}  // namespace mpm::gui
