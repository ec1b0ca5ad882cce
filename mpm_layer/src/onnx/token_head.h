// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpm/options.hpp"
#include "mpm/token_head.hpp"

namespace mpm::onnx_graph {

/// The ONNX file of a plain ViT with this head, instead of its own, behind the last block: bytes of one file, without
/// external data. Its only output, "logits" {batch, classes, H, W}, is resized to the size of the network input. Throws
/// mpm::Error naming the file: when it is a converted model or not a plain ViT, and when no value of its graph is the
/// tokens behind the last block.
std::string withTokenHead(const std::string& onnx_path, const TokenHead& head);

/// Checks that withTokenHead() accepts the model. Returns the size of the network input, which the graph may leave
/// open.
Size2 requireTokenHeadFits(const std::string& onnx_path);

}  // namespace mpm::onnx_graph
