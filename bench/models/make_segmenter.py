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
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models/export"))
import sidecar  # noqa: E402

Size = collections.namedtuple("Size", "dim blocks")
SIZES = {"T": Size(192, 12), "S": Size(384, 12), "B": Size(768, 12), "L": Size(1024, 24)}
SIDE, PATCH, CLASSES, HEAD_DIM, MASK_BLOCKS = 512, 16, 150, 64, 2
GRID = (SIDE // PATCH, SIDE // PATCH)


def network(size):
    """The graph in ONNX's notation. The name of a weight ends with its shape."""
    start, block, middle, end = (ROOT / "cli/segmenter.onnxtxt").read_text().split("----\n")

    def blocks(name, count):
        return "".join(block.replace("#", f"{name}_{i}_").replace("NEXT", f"{name}_{i + 1}_") for i in range(count))

    text = start + blocks("encoder_blocks", size.blocks) + middle + blocks("decoder_blocks", MASK_BLOCKS) + end
    text = text.replace("LAST", str(size.blocks)).replace("HEADS", str(size.dim // HEAD_DIM))
    return re.sub(r"(\d?)\$", lambda times: str(int(times[1] or 1) * size.dim), text)


def build(size, output, draw):
    """`draw(name, shape)` gives a weight."""
    model = onnx.parser.parse_model(network(size))
    graph = model.graph
    if output == "features":
        end = next(i for i, node in enumerate(graph.node) if "features" in node.output)
        del graph.node[end + 1:]
        features = helper.make_tensor_value_info("features", TensorProto.FLOAT, [1, 1 + GRID[0] * GRID[1], size.dim])
        graph.output[0].CopyFrom(features)
    made = {"image", ""}
    for node in graph.node:
        for name in node.input:
            if name not in made:
                layer, shape = re.fullmatch(r"(.*?)((?:_\d+)+)", name).groups()
                graph.initializer.append(numpy_helper.from_array(draw(layer, tuple(map(int, shape[1:].split("_")))), name))
        made.update(node.input, node.output)
    return model


def random_weights(seed):
    """Scaled by fan-in, so that activations neither die nor explode in 24 blocks."""
    generator = np.random.default_rng(seed)

    def draw(name, shape):
        values = generator.standard_normal(shape, dtype=np.float32)
        if re.search(r"norm\d?_weight$", name):
            return 1 + np.float32(0.1) * values
        if name.endswith("bias"):
            return np.float32(0.02) * values
        if name.endswith(("cls_token", "pos_embed", "cls_emb")):
            return np.float32(0.2) * values
        fan_in = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
        return values * np.float32(fan_in**-0.5)

    return draw


def segmenter_weights(path):
    """The weights of a Segmenter ONNX, by the names of their layers with _ for dots, Linear's as {in, out}. torch.onnx renames the weight of a
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
    return {name.replace(".", "_").replace("patch_embed_", ""): array for name, array in weights.items()}


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
    if "encoder_pos_embed" in known:
        known["encoder_pos_embed"] = resize_positions(known["encoder_pos_embed"], old_grid, GRID)

    def draw(name, shape):
        drawn = otherwise(name, shape)
        if not name.startswith("encoder_"):
            return drawn
        if name not in known or known[name].shape != tuple(shape):
            raise SystemExit(f"{path}: {name} of {tuple(shape)} is not in it as fp32: another size than --size, or no Segmenter")
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
        if name != "encoder_pos_embed":
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


def facts(name, size, normalisation, classes):
    """MODEL.json: the facts that an ONNX graph lacks. `size`: height and width of the image."""
    names = sidecar.class_list([f"class {i}" for i in range(classes)], name)
    return sidecar.document(name, size, normalisation, names, classes)


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
    arguments.out.with_suffix(".json").write_text(facts(arguments.out.stem, (SIDE, SIDE), sidecar.HALF, classes))


if __name__ == "__main__":
    main()
