// SPDX-License-Identifier: Apache-2.0
#include "gui/views/camera_rows.h"

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"

namespace mpm::gui {
namespace {

using monitor::CameraConfig;
using monitor::CameraField;

struct CameraRows {
  Q_DECLARE_TR_FUNCTIONS(CameraRows)
};

QString translated(const std::string& text) { return QCoreApplication::translate("camera fields", text.c_str()); }

QString suffixOf(const CameraField& field) {
  const std::map<std::string, QString> suffixes = {{"SECONDS", CameraRows::tr(" s")},
                                                   {"MINUTES", CameraRows::tr(" min")},
                                                   {"DAYS", CameraRows::tr(" days")},
                                                   {"MB", CameraRows::tr(" MB")},
                                                   {"DEGREES", QStringLiteral("°")}};
  const auto found = suffixes.find(field.unit);
  return found == suffixes.end() ? QString() : found->second;
}

// Makes the row of a field; returns what writes its value into a config.
struct MakeRow {
  QFormLayout* form;
  const CameraConfig& config;
  const CameraField& field;
  const CameraConfig& usual;

  using Take = std::function<void(CameraConfig&)>;

  template <typename Widget>
  Widget* described(Widget* widget) const {
    widget->setToolTip(QStringLiteral("<p>%1</p>").arg(translated(field.words).toHtmlEscaped()));
    return named(widget, translated(field.label));
  }

  template <typename Number>
  Take operator()(std::optional<Number> CameraConfig::*member) const {
    const std::optional<double> given = config.*member, otherwise = usual.*member, counts = given ? given : otherwise;
    auto* box = described(numberField({}, field.limits.min, field.limits.max, counts.value_or(field.start),
                                      field.digits, suffixOf(field)));
    box->setObjectName(QString::fromStdString(field.key));
    auto* on = guarded(form, new QCheckBox(translated(field.label)), given.has_value(), box);
    return [=, shown = box->value()](CameraConfig& to) {
      const std::optional<double> chosen = box->value();  // a number with more digits than are shown stays
      if (!on->isChecked())
        (to.*member).reset();
      else
        to.*member = static_cast<Number>(given && *chosen == shown ? *given : *chosen);
    };
  }

  Take operator()(std::string CameraConfig::*member) const {
    const QString given = QString::fromStdString(config.*member);
    const auto choices = field.choices();
    if (choices.empty()) {
      auto* edit = described(new QLineEdit(given));
      edit->setPlaceholderText(QString::fromUtf8(field.usual));
      form->addRow(translated(field.label), edit);
      return [=](CameraConfig& to) { to.*member = edit->text().trimmed().toStdString(); };
    }
    auto* box = described(new QComboBox);
    const std::string& counts = usual.*member;
    if (given.isEmpty()) {
      box->addItem(counts.empty() ? QStringLiteral("–") : QStringLiteral("– (%1)").arg(translated(counts)), QString());
    }
    for (const std::string& choice : choices) box->addItem(translated(choice), QString::fromStdString(choice));
    box->setCurrentIndex(box->findData(given));
    form->addRow(translated(field.label), box);
    return [=](CameraConfig& to) { to.*member = box->currentData().toString().toStdString(); };
  }

  Take operator()(std::vector<std::string> CameraConfig::*member) const {
    auto* edit = described(new QPlainTextEdit(texts(config.*member).join(QLatin1Char('\n'))));
    edit->setTabChangesFocus(true);
    edit->setFixedHeight(6 * edit->fontMetrics().lineSpacing());
    form->addRow(translated(field.label), edit);
    form->addRow(wrapped(mutedLabel(translated(field.words))));
    return [=](CameraConfig& to) {
      (to.*member).clear();
      for (const QString& line : edit->toPlainText().split(QLatin1Char('\n')))
        if (!line.trimmed().isEmpty()) (to.*member).push_back(line.trimmed().toStdString());
    };
  }

  Take operator()(bool CameraConfig::*member) const {
    auto* box = described(new QCheckBox(translated(field.label)));
    box->setChecked(config.*member);
    form->addRow(box);
    return [=](CameraConfig& to) { to.*member = box->isChecked(); };
  }
};

}  // namespace

std::function<CameraConfig()> addCameraRows(QFormLayout* form, const CameraConfig& config, const CameraFields& fields,
                                            const CameraConfig& usual) {
  std::vector<MakeRow::Take> takes;
  for (const CameraField* field : fields)
    takes.push_back(std::visit(MakeRow{form, config, *field, usual}, field->member));
  // Where the day has no limit of its own, it shows the one that belongs to that of the night.
  const QWidget* const rows = form->parentWidget();
  auto* const night = rows ? rows->findChild<QDoubleSpinBox*>(QStringLiteral("night-brightness")) : nullptr;
  auto* const day = rows ? rows->findChild<QDoubleSpinBox*>(QStringLiteral("day-brightness")) : nullptr;
  if (night && day) {
    const auto follow = [=] {
      if (!day->isEnabled()) day->setValue(monitor::NightByBrightness::dayAbove(night->value()));
    };
    QObject::connect(night, &QDoubleSpinBox::valueChanged, day, follow);
    follow();
  }
  return [config, takes] {
    CameraConfig result = config;
    for (const auto& take : takes) take(result);
    return result;
  };
}

}  // namespace mpm::gui
