#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a policy network for `--reduce cts` that needs no training: flat windows share a token.

    flat_windows.py --patch 16 -o policy.onnx

The score of each window of 2x2 patches is minus the variance of its pixels, the mean over the channels. It takes
images of any size. A trained policy, which predicts windows of one class, is better.
"""

import argparse

import onnx
from onnx import TensorProto, helper


def policy(patch):
    window = {"kernel_shape": [2 * patch, 2 * patch], "strides": [2 * patch, 2 * patch]}
    nodes = [
        helper.make_node("AveragePool", ["image"], ["mean"], **window),
        helper.make_node("Mul", ["image", "image"], ["square"]),
        helper.make_node("AveragePool", ["square"], ["mean_square"], **window),
        helper.make_node("Mul", ["mean", "mean"], ["square_mean"]),
        helper.make_node("Sub", ["square_mean", "mean_square"], ["flatness"]),
        helper.make_node("ReduceMean", ["flatness"], ["scores"], axes=[1], keepdims=1),
    ]
    graph = helper.make_graph(
        nodes, "flat_windows",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, "height", "width"])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 1, "rows", "columns"])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patch", type=int, default=16, metavar="N", help="side of a patch in px (default: 16)")
    parser.add_argument("-o", "--output", required=True, metavar="POLICY.onnx")
    options = parser.parse_args(arguments)
    if options.patch < 1:
        parser.error(f"--patch: {options.patch} px is less than 1")
    onnx.save(policy(options.patch), options.output)


if __name__ == "__main__":
    main()
