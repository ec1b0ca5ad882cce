// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

namespace mpm {

/// Where the patches of a network input lie, px. Patches may overlap, and reach into a border of zeros.
struct PatchPlaces {
  int grid_h = 0, grid_w = 0;
  int kernel_h = 0, kernel_w = 0;
  int stride_h = 0, stride_w = 0;
  int pad_h = 0, pad_w = 0;
};

namespace onnx_graph {

/// Throws mpm::Error when a node names a ReuseSession: no file does, and it would join that of another net.
void requireNoSession(const onnx::GraphProto& graph);

/// Prepares a converted graph for the reuse of rows: its layers join the ReuseSession of this number, and an op
/// KeepRows stands in front of each op that needs all rows. Returns where the patches lie. Throws mpm::Error for a
/// model whose rows cannot be reused; it names the op.
PatchPlaces reuseRows(onnx::GraphProto& graph, int session);

}  // namespace onnx_graph
}  // namespace mpm
