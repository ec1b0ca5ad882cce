# SPDX-License-Identifier: Apache-2.0
"""Runs examples/ray on a local cluster of two nodes, kills a worker in the middle, and compares with one process.

    ray_test.py MODEL.onnx EXAMPLE.py [IMAGES]

IMAGES: how many (48). Needs ray[data], opencv-python-headless and mpm-layer.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np
import pyarrow.parquet
from ray.cluster_utils import Cluster

import mpm

IGNORE = 255


def write_images(folder, count, classes):
    random = np.random.default_rng(1)
    for name in ("images", "labels"):
        (folder / name).mkdir()
    for i in range(count):
        small = random.integers(0, 256, (7, 9, 3), np.uint8)
        labels = random.integers(0, classes, (120, 160), np.uint8)
        labels[:5] = IGNORE
        cv2.imwrite(str(folder / f"images/{i:03}.png"), cv2.resize(small, (160, 120), interpolation=cv2.INTER_CUBIC))
        cv2.imwrite(str(folder / f"labels/{i:03}.png"), labels)


def workers():
    """Processes that hold a model."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::MapWorker"):
                found.append(int(path.parent.name))
        except OSError:  # gone
            pass
    return found


def main():
    model, example = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 48
    estimator = mpm.Estimator(model, threads=1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_images(folder, count, estimator.info["classes"])
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
        cluster.add_node(num_cpus=2)
        program = subprocess.Popen(
            [sys.executable, example, model, folder / "images", folder / "out", "--labels", folder / "labels", "--workers", "2"],
            env={**os.environ, "RAY_ADDRESS": cluster.address})
        killed = None
        while program.poll() is None and killed is None:
            time.sleep(0.1)
            done = len(list((folder / "out").glob("[0-9]*.png")))
            if 0 < done < count // 2 and len(workers()) == 2:
                killed = workers()[0]
                os.kill(killed, signal.SIGKILL)
                print(f"killed worker {killed} after {done} of {count} images", flush=True)
        assert program.wait(timeout=900) == 0, "the program failed"
        cluster.shutdown()
        assert killed, "no worker was killed: the test proved nothing"

        truth, predicted = [], []
        table = {row["path"]: row for row in pyarrow.parquet.read_table(folder / "out/images.parquet").to_pylist()}
        assert len(table) == count, f"{len(table)} rows for {count} images"
        for path in sorted((folder / "images").iterdir()):
            result = estimator.estimate(cv2.imread(str(path)))
            labels = cv2.imread(str(folder / "out" / path.name), cv2.IMREAD_UNCHANGED)
            assert np.array_equal(labels, result.labels), f"{path.name}: other labels"
            row = table[str(path)]
            assert tuple(row["tokens"]) == result.tokens, f"{path.name}: other tokens"
            areas = np.bincount(labels.ravel(), minlength=estimator.info["classes"]) / labels.size
            assert np.array_equal(row["areas"], areas), f"{path.name}: other areas"
            truth.append(cv2.imread(str(folder / "labels" / path.name), cv2.IMREAD_UNCHANGED))
            predicted.append(result.labels)
        single = mpm.evaluate(predicted, truth, classes=estimator.info["classes"], ignore=IGNORE)
        evaluation = json.loads((folder / "out/evaluation.json").read_text())
        assert np.array_equal(evaluation["confusion"], single.confusion), "another confusion matrix"
        assert not list((folder / "out").glob(".*")), "a temporary file is left"
    print(f"{count} images: labels, table and confusion matrix equal those of one process")


if __name__ == "__main__":
    main()
