# SPDX-License-Identifier: Apache-2.0
"""The weights of a Segmenter ONNX by the names of the layers they belong to.

torch.onnx renames and transposes the weight of a Linear (onnx::MatMul_17) but keeps the name of its bias, so a weight is found
through the bias that is added to its product.
"""

import numpy as np
import onnx
from onnx import numpy_helper


def read(path):
    """{name: array}; Linear weights as {in, out} under NAME.weight. Needs every Linear's bias to be called NAME.bias."""
    graph = onnx.load(str(path)).graph
    arrays = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    producer = {output: node for node in graph.node for output in node.output}
    weights = dict(arrays)
    for node in graph.node:
        if node.op_type != "Add":
            continue
        for bias, product in (node.input, reversed(node.input)):
            multiply = producer.get(product)
            if bias in arrays and multiply is not None and multiply.op_type == "MatMul" and multiply.input[1] in arrays:
                weights[bias.removesuffix(".bias") + ".weight"] = arrays[multiply.input[1]]
    if "encoder.blocks.0.attn.qkv.weight" not in weights:
        raise ValueError(f"{path} is no Segmenter of this project's naming: no encoder.blocks.0.attn.qkv")
    return weights


def norm_epsilon(path, layer):
    """The epsilon that the graph adds to the variance of LayerNorm `layer`, as an op or decomposed."""
    graph = onnx.load(str(path), load_external_data=False).graph
    producer = {output: node for node in graph.node for output in node.output}
    consumer = {i: node for node in graph.node for i in node.input}
    node = consumer[f"{layer}.weight"]
    if node.op_type == "LayerNormalization":
        return next((a.f for a in node.attribute if a.name == "epsilon"), 1e-5)
    arrays = {t.name: t for t in graph.initializer} | {
        n.output[0]: n.attribute[0].t for n in graph.node if n.op_type == "Constant"}
    for _ in range(6):  # scale <- divide <- root <- add
        sources = [producer[i] for i in node.input if i in producer and producer[i].op_type in ("Div", "Sqrt", "Add")]
        node = sources[-1]
        if node.op_type == "Add":
            constant = next(i for i in node.input if i in arrays)
            return float(numpy_helper.to_array(arrays[constant]))
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
