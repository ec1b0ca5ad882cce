// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mpm/options.hpp"

namespace mpm {

/// A class that a model can name.
struct ClassInfo {
  std::string name;
  std::array<std::uint8_t, 3> rgb{};
};

/// What an image must be before it enters the net, and what its labels mean: the facts that an ONNX graph lacks. They
/// come from MODEL.json beside MODEL.onnx and travel in the metadata of a converted file.
struct ModelFacts {
  std::string name;
  std::string channels = "RGB";                    ///< "RGB" or "BGR"
  std::array<float, 3> mean = {0.5f, 0.5f, 0.5f};  ///< of 0..1 values, in the order of `channels`
  std::array<float, 3> std = {0.5f, 0.5f, 0.5f};
  std::vector<ClassInfo> classes;  ///< empty when the graph has no classes
  int ignore = 255;                ///< label of pixels that belong to no class
};

/// What the converter found in a graph.
struct ModelInfo {
  ModelFacts facts;
  bool converted = false;  ///< true: the file was made of ai.mpm ops already
  int blocks = 0;
  int dim = 0;
  int heads = 0;
  Size2 patch;             ///< px
  int special_tokens = 0;  ///< class, distillation and register tokens in front of the image tokens
  Size2 input;             ///< px
  Size2 grid;              ///< tokens
  std::string head;        ///< "mask_transformer", "linear", "classifier", "features" or "other"
  int classes = 0;         ///< 0 when the head has none
  Schedule schedule;       ///< of a converted model, else what it would be converted with
  Attention attention = Attention::kPlain;
  Precision precision = Precision::kFp32;
  int opset = 0;                     ///< of the default domain
  std::int64_t parameters = 0;       ///< elements of all weights of the net
  std::vector<std::string> outputs;  ///< names of the head's outputs; "merge_map" and "token_counts" come on top

  int tokens() const { return grid.height * grid.width; }
  /// True when the net yields a label map (heads "mask_transformer" and "linear").
  bool segments() const { return head == "mask_transformer" || head == "linear"; }
};

}  // namespace mpm
