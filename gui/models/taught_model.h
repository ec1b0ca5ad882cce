// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "evaluation/confusion_matrix.h"

namespace mpm::gui {

/// A model that `mpm teach` made, and what its cross-validation said.
struct TaughtModel {
  QString path;    ///< of its ONNX file
  QDateTime time;  ///< when it was written
  int pictures = 0;
  struct Verdict {
    double miou = 0, pixel_accuracy = 0;  ///< percent; NaN: no class was tested
    std::vector<QString> classes;
    std::vector<evaluation::ClassVerdict> verdicts;  ///< of each class
  };
  std::optional<Verdict> verdict{};  ///< nullopt: one picture cannot be tested on another
};

/// The verdict in MODEL.json beside the model; nullopt where the model or its JSON is missing or was not taught.
std::optional<TaughtModel> readTaughtModel(const std::string& onnx_path);
/// The models of a folder, newest first.
std::vector<TaughtModel> taughtModels(const std::string& folder);

}  // namespace mpm::gui
