// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "onnx/recognise/trunk.h"

namespace mpm::onnx_graph {

/// A head that scores every patch for every class and reads patches only. It can run on merged rows.
struct SegmentationHead {
  std::int64_t classes = 0;
  int scores = -1;    ///< linear head: the term of the scores, with the rows of the encoder
  bool mask = false;  ///< Segmenter's mask transformer; the fields below
  int tokens = -1;    ///< term to which the class embeddings are appended, with the rows of the encoder
  std::vector<float> class_embeddings;  ///< {classes, d}
  std::vector<Block> blocks;
  NormPart norm, mask_norm;
  LinearPart proj_patch, proj_classes;  ///< without bias
};

/// Recognises one of Segmenter's two heads before `output`: a map {1, classes, h, w}, resized or not, argmax or not.
std::optional<SegmentationHead> recogniseHead(const Interpretation& found, const Trunk& trunk, int output);

}  // namespace mpm::onnx_graph
