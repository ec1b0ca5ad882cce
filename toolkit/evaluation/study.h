// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "evaluation/measurement.h"

namespace mpm::evaluation {

/// All numbers of the report of `mpm study`, as docs/reduction.md lists them. study/report.py draws them and computes
/// none.
struct StudyNumbers {
  std::vector<Json> rows;   ///< a variant each, the full model of its group first; those of the sweep behind the others
  std::vector<Json> pairs;  ///< each two variants of a group on the same images
};

/// `results` and `sweep`: lines of results.jsonl and of sweep.jsonl. Variants of one model on the same data are a
/// group. Left out: images without true labels, groups without the full model, and variants that lack some of its
/// images.
StudyNumbers studyNumbers(const std::vector<Measurement>& results, const std::vector<Measurement>& sweep);

}  // namespace mpm::evaluation
