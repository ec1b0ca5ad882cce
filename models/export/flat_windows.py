#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a policy network for `--reduce cts` that needs no training: flat windows share a token.

    flat_windows.py --patch 16 -o policy.onnx

The score of each window of 2x2 patches is minus the variance of its pixels, the mean over the channels. It takes
images of any size. A trained policy, which predicts windows of one class, is better.
"""

import argparse

import onnx
import onnx.parser


def policy(patch):
    window = f"kernel_shape = [{2 * patch}, {2 * patch}], strides = [{2 * patch}, {2 * patch}]"
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 17]>
        flat_windows (float[batch, 3, height, width] image) => (float[batch, 1, rows, columns] scores) {{
            mean = AveragePool <{window}> (image)
            square = Mul (image, image)
            mean_square = AveragePool <{window}> (square)
            square_mean = Mul (mean, mean)
            flatness = Sub (square_mean, mean_square)
            scores = ReduceMean <axes = [1], keepdims = 1> (flatness)
        }}""")


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
