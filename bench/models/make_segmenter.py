#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Segmenter ONNX files for 512x512 and 150 classes with seeded random weights, for measuring speed and memory.

    make_segmenter.py --size T --output labels -o seg_t16.onnx

Uses standard ONNX operators only. Writes MODEL.json, with the facts that the graph lacks, beside MODEL.onnx.
"""

import argparse
import collections
import json
import pathlib
import re
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "models/export"))
import sidecar  # noqa: E402

Size = collections.namedtuple("Size", "dim blocks heads")
SIZES = {"T": Size(192, 12, 3), "S": Size(384, 12, 6), "B": Size(768, 12, 12), "L": Size(1024, 24, 16)}
SIDE, PATCH, CLASSES = 512, 16, 150
GRID = (SIDE // PATCH, SIDE // PATCH)
MASK_BLOCKS, MLP_RATIO = 2, 4
ENCODER_EPS, HEAD_EPS = 1e-6, 1e-5


class GraphBuilder:
    """ONNX nodes as function calls. The name of a value is the name of its node."""

    def __init__(self, draw):
        self.draw, self.nodes, self.initializers, self.names = draw, [], [], set()

    def op(self, kind, *inputs, name=None, **attributes):
        name = name or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, values, dtype=np.int64):
        array = np.array(values, dtype)
        name = f"constant_{array.dtype}_{'x'.join(map(str, array.shape))}_" + "_".join(map(str, array.ravel()))
        if name not in self.names:
            self.names.add(name)
            self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, name, *shape):
        self.initializers.append(numpy_helper.from_array(self.draw(name, shape), name))
        return name

    def linear(self, name, x, inputs, outputs):
        product = self.op("MatMul", x, self.weight(f"{name}.weight", inputs, outputs), name=f"{name}/product")
        return self.op("Add", product, self.weight(f"{name}.bias", outputs), name=f"{name}/out")

    def norm(self, name, x, dim, eps):
        weight, bias = self.weight(f"{name}.weight", dim), self.weight(f"{name}.bias", dim)
        return self.op("LayerNormalization", x, weight, bias, axis=-1, epsilon=eps, name=f"{name}/out")

    def gelu(self, x):
        erf = self.op("Erf", self.op("Div", x, self.constant(np.sqrt(2), np.float32)))
        doubled = self.op("Mul", x, self.op("Add", erf, self.constant(1, np.float32)))
        return self.op("Mul", doubled, self.constant(0.5, np.float32))

    def block(self, name, x, dim, heads, eps):
        head_dim = dim // heads
        y = self.linear(f"{name}.attn.qkv", self.norm(f"{name}.norm1", x, dim, eps), dim, 3 * dim)
        y = self.op("Reshape", y, self.constant([0, -1, 3, heads, head_dim]))
        y = self.op("Transpose", y, perm=[2, 0, 3, 1, 4])
        q, k, v = (self.op("Gather", y, self.constant(i), axis=0) for i in range(3))
        logits = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        logits = self.op("Mul", logits, self.constant(head_dim**-0.5, np.float32))
        y = self.op("MatMul", self.op("Softmax", logits, axis=-1), v)
        y = self.op("Reshape", self.op("Transpose", y, perm=[0, 2, 1, 3]), self.constant([0, -1, dim]))
        x = self.op("Add", x, self.linear(f"{name}.attn.proj", y, dim, dim), name=f"{name}/attended")
        y = self.linear(f"{name}.mlp.fc1", self.norm(f"{name}.norm2", x, dim, eps), dim, MLP_RATIO * dim)
        y = self.linear(f"{name}.mlp.fc2", self.gelu(y), MLP_RATIO * dim, dim)
        return self.op("Add", x, y, name=f"{name}/out")

    def slice_rows(self, x, start, end):
        return self.op("Slice", x, self.constant([start]), self.constant([end]), self.constant([1]))


def build(size, output, draw):
    """`draw(name, shape)` gives a weight."""
    tokens, dim = GRID[0] * GRID[1], size.dim
    g = GraphBuilder(draw)
    weights = (g.weight("encoder.proj.weight", dim, 3, PATCH, PATCH), g.weight("encoder.proj.bias", dim))
    x = g.op("Conv", "image", *weights, kernel_shape=[PATCH] * 2, strides=[PATCH] * 2)
    x = g.op("Transpose", g.op("Reshape", x, g.constant([0, dim, -1])), perm=[0, 2, 1])
    x = g.op("Concat", g.weight("encoder.cls_token", 1, 1, dim), x, axis=1)
    x = g.op("Add", x, g.weight("encoder.pos_embed", 1, 1 + tokens, dim))
    for i in range(size.blocks):
        x = g.block(f"encoder.blocks.{i}", x, dim, size.heads, ENCODER_EPS)
    x = g.norm("encoder.norm", x, dim, ENCODER_EPS)
    if output == "features":
        g.op("Identity", x, name="features")
        result = helper.make_tensor_value_info("features", TensorProto.FLOAT, [1, 1 + tokens, dim])
    else:
        scores = g.op("Transpose", head(g, g.slice_rows(x, 1, 1 + tokens), size, tokens), perm=[0, 2, 1])
        scores = g.op("Reshape", scores, g.constant([0, CLASSES, *GRID]))
        logits = g.op("Resize", scores, "", g.constant([1, 1, PATCH, PATCH], np.float32), name="logits",
                      mode="linear", coordinate_transformation_mode="half_pixel")
        g.op("ArgMax", logits, axis=1, keepdims=0, name="labels")
        result = helper.make_tensor_value_info("labels", TensorProto.INT64, [1, SIDE, SIDE])
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIDE, SIDE])
    graph = helper.make_graph(g.nodes, "segmenter", [image], [result], g.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="make_segmenter")
    model.ir_version = 8  # the oldest version with LayerNormalization
    return model


def head(g, patches, size, tokens):
    """The mask transformer: scores {1, N, CLASSES}."""
    dim = size.dim
    x = g.linear("decoder.proj_dec", patches, dim, dim)
    x = g.op("Concat", x, g.weight("decoder.cls_emb", 1, CLASSES, dim), axis=1)
    for i in range(MASK_BLOCKS):
        x = g.block(f"decoder.blocks.{i}", x, dim, size.heads, HEAD_EPS)
    x = g.norm("decoder.decoder_norm", x, dim, HEAD_EPS)
    sides = []
    for name, start, end in (("patch", 0, tokens), ("classes", tokens, tokens + CLASSES)):
        y = g.op("MatMul", g.slice_rows(x, start, end), g.weight(f"decoder.proj_{name}", dim, dim))
        sides.append(g.op("Div", y, g.op("ReduceL2", y, axes=[-1], keepdims=1)))
    masks = g.op("MatMul", sides[0], g.op("Transpose", sides[1], perm=[0, 2, 1]))
    return g.norm("decoder.mask_norm", masks, CLASSES, HEAD_EPS)


def random_weights(seed):
    """Scaled by fan-in, so that activations neither die nor explode in 24 blocks."""
    generator = np.random.default_rng(seed)

    def draw(name, shape):
        values = generator.standard_normal(shape, dtype=np.float32)
        if re.search(r"norm\d?\.weight$", name):
            return 1 + np.float32(0.1) * values
        if name.endswith("bias"):
            return np.float32(0.02) * values
        if name.endswith(("cls_token", "pos_embed", "cls_emb")):
            return np.float32(0.2) * values
        fan_in = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
        return values * np.float32(fan_in**-0.5)

    return draw


def segmenter_weights(path):
    """The weights of a Segmenter ONNX, by the names of their layers, Linear's as {in, out}. torch.onnx renames the weight of a
    Linear (onnx::MatMul_17) but keeps the name of its bias, so a weight is found through the bias that is added to its product."""
    graph = onnx.load(str(path)).graph
    producer = {output: node for node in graph.node for output in node.output}
    weights = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    named = {}
    for node in graph.node:
        if node.op_type != "Add":
            continue
        for bias, product in (node.input, reversed(node.input)):
            multiply = producer.get(product)
            if bias in weights and multiply is not None and multiply.op_type == "MatMul":
                named[bias.removesuffix(".bias") + ".weight"] = weights.get(multiply.input[1])
    weights |= {name: array for name, array in named.items() if array is not None}
    return weights


def resize_positions(positions, old_grid, new_grid):
    """positions {1, 1 + N, dim}, bilinear with half-pixel centres."""
    patches = positions[0, 1:].reshape(*old_grid, -1)
    for axis, (old, new) in enumerate(zip(old_grid, new_grid)):
        at = (np.arange(new) + 0.5) * old / new - 0.5  # np.interp keeps to the ends
        patches = np.apply_along_axis(lambda line: np.interp(at, np.arange(old), line), axis, patches)
    patches = patches.reshape(1, -1, patches.shape[-1])
    return np.concatenate((positions[:, :1], patches), axis=1).astype(np.float32)


def encoder_weights(path, otherwise):
    """The encoder of a trained Segmenter ONNX, for real token statistics; its positions resized. The head stays random."""
    known = segmenter_weights(path)
    beside = json.loads(pathlib.Path(path).with_suffix(".json").read_text())["input"]
    old_grid = (beside["height"] // PATCH, beside["width"] // PATCH)
    known["encoder.pos_embed"] = resize_positions(known["encoder.pos_embed"], old_grid, GRID)

    def draw(name, shape):
        drawn = otherwise(name, shape)
        if not name.startswith("encoder."):
            return drawn
        if known[name].shape != tuple(shape):
            raise SystemExit(f"{path}: {name} is {known[name].shape}, wanted {tuple(shape)}: another size than --size")
        return known[name]

    return draw


def impose_tokens(counts, grid, seed, otherwise):
    """Positions that leave counts[0] tokens after the first insertion and counts[1] after the second, for any image and
    any weights. So the time of a model with random weights is that of a trained one.

    Every token belongs to a family and lies near the core of that family. From the inside to the outside:
    - two tokens at the core, which pair at the first insertion;
    - one token a step away, which pairs with their mean at the second;
    - tokens that never pair, each in its own direction, and tokens that pair once, two in one place.
    An outer token has the core as its best neighbour, but not the other way round. The steps are far larger than what
    an image and five blocks of random weights add to a position."""
    tokens = grid[0] * grid[1]
    first, second = tokens - counts[0], counts[0] - counts[1]  # pairs of each insertion
    if not (1 <= second <= first and second + 2 * first <= tokens):
        raise SystemExit(f"--impose-tokens {counts[0]},{counts[1]}: of {tokens} tokens each insertion pairs some, the second "
                         "at most as many as the first, and both together no more than there are")
    scale, step, far = 40, 5, 15

    def draw(name, shape):
        values = otherwise(name, shape)
        if name != "encoder.pos_embed":
            return values
        generator = np.random.default_rng(seed + 1)
        families = generator.standard_normal((second, shape[-1]))
        own = generator.standard_normal((tokens, shape[-1]))
        at = scale * families[np.arange(tokens) % second]
        core, pairs = 3 * second, 2 * (first - second)  # tokens [0, core), [core, core + pairs), the rest alone
        at[2 * second:core] += step * own[2 * second:core]
        partners = core + np.arange(pairs) // 2
        at[core:core + pairs] = scale * families[(partners - core) % second] + far * own[partners]
        at[core + pairs:] += far * own[core + pairs:]
        values[0, 1:] = generator.permutation(at)
        return values

    return draw


def facts(name, side, normalisation, classes):
    """MODEL.json: the facts that an ONNX graph lacks."""
    names = sidecar.class_list([f"class {i}" for i in range(classes)], name)
    return sidecar.document(name, (side, side), normalisation, names, classes)


def token_counts(text):
    if not re.fullmatch(r"\d+,\d+", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not N1,N2")
    return tuple(map(int, text.split(",")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True, help="the ONNX file to write")
    parser.add_argument("--size", choices=SIZES, default="T")
    parser.add_argument("--output", choices=("labels", "features"), default="labels", help="features: the encoder alone")
    parser.add_argument("--encoder-from", type=pathlib.Path, metavar="MODEL",
                        help="take the encoder's weights from this Segmenter ONNX, for the token statistics of a trained model")
    parser.add_argument("--impose-tokens", type=token_counts, metavar="N1,N2",
                        help="positions by which N1 image tokens are left after the first insertion and N2 after the second, "
                             "as measured on a trained model")
    arguments = parser.parse_args()
    draw = random_weights(0)
    if arguments.encoder_from:
        draw = encoder_weights(arguments.encoder_from, draw)
    if arguments.impose_tokens:
        draw = impose_tokens(arguments.impose_tokens, GRID, 0, draw)
    onnx.save(build(SIZES[arguments.size], arguments.output, draw), str(arguments.out))
    classes = CLASSES if arguments.output == "labels" else 0
    arguments.out.with_suffix(".json").write_text(facts(arguments.out.stem, SIDE, sidecar.HALF, classes))


if __name__ == "__main__":
    main()
