# SPDX-License-Identifier: Apache-2.0
"""The weights of a Segmenter ONNX file, by the names of their layers.

torch.onnx renames and transposes the weight of a Linear (onnx::MatMul_17) but keeps the name of its bias, so a weight is found
through the bias that is added to its product.
"""

import numpy as np
import onnx
from onnx import numpy_helper


class SegmenterFile:
    """weights: {name: array}, Linear's as {in, out} under NAME.weight. Needs every Linear's bias to be called NAME.bias."""

    def __init__(self, path):
        self._graph = onnx.load(str(path)).graph
        self._producer = {output: node for node in self._graph.node for output in node.output}
        self.weights = {t.name: numpy_helper.to_array(t) for t in self._graph.initializer}
        named = {}
        for node in self._graph.node:
            if node.op_type != "Add":
                continue
            for bias, product in (node.input, reversed(node.input)):
                multiply = self._producer.get(product)
                if bias in self.weights and multiply is not None and multiply.op_type == "MatMul":
                    named[bias.removesuffix(".bias") + ".weight"] = self.weights.get(multiply.input[1])
        self.weights |= {name: array for name, array in named.items() if array is not None}
        if "encoder.blocks.0.attn.qkv.weight" not in self.weights:
            raise ValueError(f"{path} is no Segmenter of this project's naming: no encoder.blocks.0.attn.qkv")

    def epsilon(self, layer):
        """What LayerNorm `layer` adds to the variance, as an op or decomposed."""
        node = next(n for n in self._graph.node if f"{layer}.weight" in n.input)
        if node.op_type == "LayerNormalization":
            return next((a.f for a in node.attribute if a.name == "epsilon"), 1e-5)
        for above in ("Div", "Sqrt", "Add"):  # the scale's Mul <- Div <- Sqrt <- Add of the variance and epsilon
            node = next(self._producer[i] for i in node.input if i in self._producer and self._producer[i].op_type == above)
        for name in node.input:
            if name in self.weights:
                return float(self.weights[name])
            if name in self._producer and self._producer[name].op_type == "Constant":
                return float(numpy_helper.to_array(self._producer[name].attribute[0].t))
        raise ValueError(f"no epsilon found for {layer}")


def resize_positions(positions, special, old_grid, new_grid):
    """positions {1, special + N, dim}, bilinear with half-pixel centres."""
    if old_grid == new_grid:
        return positions
    patches = positions[0, special:].reshape(*old_grid, -1)
    for axis, (old, new) in enumerate(zip(old_grid, new_grid)):
        at = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, old - 1)
        share = (at - low).reshape([-1 if a == axis else 1 for a in range(3)])
        patches = patches.take(low, axis) * (1 - share) + patches.take(high, axis) * share
    patches = patches.reshape(1, -1, patches.shape[-1])
    return np.concatenate((positions[:, :special], patches), axis=1).astype(np.float32)
