// SPDX-License-Identifier: Apache-2.0
#include "models/default_model.h"

#include <QCoreApplication>
#include <QFileInfo>

namespace mpm {

QString defaultModel() {
  if (const QString named = qEnvironmentVariable("MPM_MODEL"); !named.isEmpty()) return named;
  const QString program = QCoreApplication::applicationDirPath();
  for (const QString& folder :
       {program + QStringLiteral("/../share/mpm/models"), QStringLiteral(MPM_SOURCE_DIR "/models")}) {
    const QFileInfo file(folder + QStringLiteral("/street.onnx"));
    if (file.exists()) return file.canonicalFilePath();
  }
  return {};
}

}  // namespace mpm
