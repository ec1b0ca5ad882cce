#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whose rounding a difference from ONNX Runtime is: this library, ONNX Runtime and PyTorch in fp32 beside PyTorch in float64.

    python tests/exporters/make_models.py --out suite --suite --only da3
    python tests/exporters/exactness.py --suite suite --runner build/bin/graph_runner da3_mono_ts17 da3_ts17

For each output the largest error of eight random pictures, as a share of the output's standard deviation.
"""
import argparse
import pathlib
import shutil
import subprocess
import tempfile

import make_models
import numpy as np
import onnxruntime
import torch

PICTURES = 8


def of_runner(runner, path, images):
    """The outputs of the first image, by name; the runner wants two."""
    images.tofile(f"{path}.input")
    answer = subprocess.run([runner], input=f"{path}\n", text=True, capture_output=True, check=True).stdout.splitlines()[0]
    if not answer.startswith("ok "):
        raise SystemExit(answer)
    numbers, outputs = np.fromfile(f"{path}.output", np.float32), {}
    for word in answer.split()[1:]:
        name, shape = word.rsplit(":", 1)
        count = int(np.prod([int(side) for side in shape.split("x")]))
        outputs[name], numbers = numbers[:count], numbers[count:]
    return outputs


def of_onnxruntime(path, image, optimised):
    options = onnxruntime.SessionOptions()
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {session.get_inputs()[0].name: image})))


def of_torch(model, image):
    with torch.no_grad():
        return [output.numpy() for output in model(image)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", type=pathlib.Path, required=True, help="folder of make_models.py --suite")
    parser.add_argument("--runner", type=pathlib.Path, required=True, help="build/bin/graph_runner")
    parser.add_argument("names", nargs="+", metavar="NAME", help="of a file in the suite, with several outputs")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    columns = ("this library", "ONNX Runtime", "ONNX Runtime, graph as it is", "PyTorch fp32")
    print("| file | output |", " | ".join(columns), "| this library from ONNX Runtime |")
    for name in arguments.names:
        spec = next(spec for spec in make_models.SUITE if spec.name == name)
        source = make_models.SOURCES[spec.source]
        model = source.build(spec.fused).eval()
        make_models.diversify(model, make_models.seeded(spec.source, "weights"))
        worst = {}
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(arguments.suite / f"{name}.onnx", folder)
            for seed in range(PICTURES):
                images = np.random.default_rng(seed).standard_normal((2, 3, *source.image)).astype(np.float32)
                exact = of_torch(model.double(), torch.from_numpy(images[:1]).double())
                plain = of_torch(model.float(), torch.from_numpy(images[:1]))
                own = of_runner(arguments.runner, path, images)
                runtime = [of_onnxruntime(path, images[:1], optimised) for optimised in (True, False)]
                for i, output in enumerate(runtime[0]):
                    found = own[output], runtime[0][output], runtime[1][output], plain[i]
                    errors = [np.abs(one.ravel() - exact[i].ravel()).max() / exact[i].std() for one in found]
                    errors.append(np.abs(own[output].ravel() - runtime[0][output].ravel()).max() / exact[i].std())
                    worst[output] = np.maximum(worst.get(output, 0), errors)
        for output, errors in worst.items():
            print(f"| {name} | {output} |", " | ".join(f"{error:.1e}" for error in errors), "|")


if __name__ == "__main__":
    main()
