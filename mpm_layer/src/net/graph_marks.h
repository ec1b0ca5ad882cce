// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include "mpm/model_info.hpp"

namespace mpm {

/// Where the patches of a network input lie, px. Patches may overlap, and reach into a border of zeros.
struct PatchPlaces {
  int grid_h = 0, grid_w = 0;
  int kernel_h = 0, kernel_w = 0;
  int stride_h = 0, stride_w = 0;
  int pad_h = 0, pad_w = 0;
};

namespace onnx_graph {

/// Throws mpm::Error when a node has an attribute by which layers take from their LayerSupply: no file has one.
void requireUnmarked(const onnx::GraphProto& graph);

/// Prepares a converted graph for the reuse of rows: its layers take the ReuseSession, and an op KeepRows stands in
/// front of each op that needs all rows. Returns where the patches lie. Throws mpm::Error for a model whose rows cannot
/// be reused; it names the op. `info`: of the graph.
PatchPlaces reuseRows(onnx::GraphProto& graph, const ModelInfo& info);

/// Prepares a converted graph for the CPU. Two HeadWindows that resize a map become one HeadResize, with the Transpose
/// behind them to channels first. Each other Transpose between channels first and last becomes an ai.mpm node, which
/// runs on all threads.
void joinForCpu(onnx::GraphProto& graph);

/// Makes stock nodes of a head ai.mpm nodes where a device has them (docs/ops.md names them). Then marks all ai.mpm
/// nodes of the converted model as running on the device, with the attributes that MpmLayer reads:
///
/// - `device_inputs`, a character per activation: 0 made on the host; 1 made by another marked node; 2 the same as 1,
///   and only this node reads it; 3 the same as 0, and only this node reads it.
/// - `device_outputs`, a character per output: 1 when a marked node reads it.
/// - `host_outputs`, a character per output: 1 when a stock node reads it or it is an output of the net.
void placeOnDevice(onnx::ModelProto& model);

}  // namespace onnx_graph
}  // namespace mpm
