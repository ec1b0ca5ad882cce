#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a policy network for `--reduce cts` that knows the labels of some pictures: an upper bound of any policy.

    label_policy.py --model camvid.onnx --images camvid_val/images --labels camvid_val/labels -o policy.onnx

The network finds the most similar of these pictures by the mean colours of its windows. The score of each window of
2x2 patches is the share of its pixels that have its most frequent label. Needs numpy, onnx and Pillow. MODEL.json
beside the model names size, mean and standard deviation of its input.
"""

import argparse
import json
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

SHARPNESS = 100.0  # of the softmax over pictures


def windows_of(image, side):
    """{H, W, ...} -> {H / side, W / side, side * side, ...}."""
    rows, columns = image.shape[0] // side, image.shape[1] // side
    parts = image.reshape(rows, side, columns, side, *image.shape[2:]).swapaxes(1, 2)
    return parts.reshape(rows, columns, side * side, *image.shape[2:])


def purity(labels, side):
    counts = [(windows_of(labels, side) == label).mean(2) for label in np.unique(labels)]
    return np.max(counts, 0)


def integers(labels):
    """Labels of a map in colours, too: equal colours are equal labels."""
    pixels = np.asarray(labels)
    return pixels if pixels.ndim == 2 else pixels[..., :3].astype(np.int32) @ [1, 256, 65536]


def network(means, scores, side):
    """`means` {pictures, 3 * windows}, `scores` {pictures, rows, columns}."""
    pictures, rows, columns = scores.shape
    weights = {"means": 2 * SHARPNESS * means.T, "lengths": -SHARPNESS * (means ** 2).sum(1),
               "scores_of_pictures": scores.reshape(pictures, -1)}
    constants = [numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name)
                 for name, value in weights.items()]
    constants += [numpy_helper.from_array(np.array(shape, np.int64), name)
                  for name, shape in (("flat", [-1, means.shape[1]]), ("grid", [-1, 1, rows, columns]))]
    nodes = [
        helper.make_node("AveragePool", ["image"], ["pooled"], kernel_shape=[side, side], strides=[side, side]),
        helper.make_node("Reshape", ["pooled", "flat"], ["vector"]),
        helper.make_node("MatMul", ["vector", "means"], ["products"]),
        helper.make_node("Add", ["products", "lengths"], ["similarity"]),
        helper.make_node("Softmax", ["similarity"], ["picture"], axis=1),
        helper.make_node("MatMul", ["picture", "scores_of_pictures"], ["score_row"]),
        helper.make_node("Reshape", ["score_row", "grid"], ["scores"]),
    ]
    graph = helper.make_graph(
        nodes, "label_policy",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, rows * side, columns * side])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 1, rows, columns])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, metavar="M.onnx")
    parser.add_argument("--images", required=True, nargs="+", metavar="DIR",
                        help="pictures; files NAME_labels.* are left out")
    parser.add_argument("--labels", required=True, nargs="+", metavar="DIR",
                        help="as many folders of label maps: NAME.png or NAME_labels.png")
    parser.add_argument("--patch", type=int, default=16, metavar="N", help="side of a patch in px (default: 16)")
    parser.add_argument("-o", "--output", required=True, metavar="POLICY.onnx")
    options = parser.parse_args()
    facts = json.loads(pathlib.Path(options.model).with_suffix(".json").read_text())
    size, side = (facts["input"]["width"], facts["input"]["height"]), 2 * options.patch
    means, scores = [], []
    pictures = [(path, folder) for images, folder in zip(options.images, options.labels, strict=True)
                for path in sorted(pathlib.Path(images).iterdir())]
    for path, folder in pictures:
        labels = [file for end in (".png", "_labels.png")
                  if (file := pathlib.Path(folder, path.stem + end)).exists() and file != path]
        if path.stem.endswith("_labels") or not labels:
            continue
        image = np.asarray(Image.open(path).convert("RGB").resize(size, Image.BILINEAR), np.float32) / 255
        image = (image - facts["mean"]) / facts["std"]
        means.append(windows_of(image, side).mean(2).transpose(2, 0, 1).ravel())
        truth = Image.open(labels[0])
        scores.append(purity(integers(truth.resize(size, Image.NEAREST)), side))
    onnx.save(network(np.array(means), np.array(scores), side), options.output)
    print(f"{options.output}: {len(means)} pictures, mean score {np.mean(scores):.3f}")


if __name__ == "__main__":
    main()
