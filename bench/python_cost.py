# SPDX-License-Identifier: Apache-2.0
"""What Python costs: mpm.Estimator against the C++ Estimator inside it, and layers of register_cv2() against mpm.Net.

    python bench/python_cost.py MODEL.onnx IMAGE [--rounds 40]

Needs the package mpm-layer and an opencv-python 4. The two sides of a ratio take turns.
"""
import argparse
import statistics
import tempfile
import time

import cv2
import numpy as np

import mpm


def milliseconds(work):
    start = time.perf_counter()
    result = work()
    return 1e3 * (time.perf_counter() - start), result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("image")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    image = cv2.imread(options.image)

    estimator = mpm.Estimator(options.model)
    estimator.estimate(image)
    ratios = []
    for _ in range(options.rounds):
        taken, result = milliseconds(lambda: estimator.estimate(image))
        ratios.append(taken / result.ms["total"])
    print(f"Estimator.estimate / the C++ call inside it: {statistics.median(ratios):.4f}")

    height, width = estimator.info["input"]
    blob = cv2.dnn.blobFromImage(image, 1 / 127.5, (width, height), (127.5,) * 3, swapRB=True)
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        mpm.convert(options.model, file.name)
        mpm.register_cv2()
        theirs = cv2.dnn.readNetFromONNX(file.name)
    ours = mpm.Net(options.model, outputs=["labels"])
    theirs.setInput(blob)
    same = np.array_equal(theirs.forward("labels"), ours.forward(blob)[0])
    times = {"cv2": [], "mpm": []}
    for _ in range(options.rounds):
        theirs.setInput(blob)
        times["cv2"].append(milliseconds(lambda: theirs.forward("labels"))[0])
        times["mpm"].append(milliseconds(lambda: ours.forward(blob))[0])
    a, b = (statistics.median(times[name]) for name in ("cv2", "mpm"))
    print(f"cv2.dnn with register_cv2 / mpm.Net: {a / b:.4f} ({a:.1f} / {b:.1f} ms), labels {'equal' if same else 'DIFFERENT'}")


if __name__ == "__main__":
    main()
