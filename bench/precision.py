# SPDX-License-Identifier: Apache-2.0
"""A table of accuracy and time on CamVid: this library at each precision, full and merged, beside OpenVINO and ONNX Runtime.

    bench/baselines/setup_venv.sh ~/baselines
    ~/baselines/bin/python bench/precision.py --model camvid_segmenter_vit_t16.onnx --data CamVid --mpm build/bin/mpm

Ours come from `mpm eval`, in which all variants take turns on each image. The workers of bench/baselines get the same
images. NNCF is calibrated with the first one. The JSON beside the model gives the size and the normalisation of its input.
"""
import argparse
import concurrent.futures
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/baselines"))
BASELINES = [("OpenVINO, NNCF", "openvino", "int8"), ("ONNX Runtime", "onnxruntime", "int8"),
             ("ONNX Runtime", "onnxruntime", "fp32")]


def ours(options, file):
    command = [options.mpm, "eval", options.data, "--dataset", "camvid", "--model", options.model, "--threads", options.threads,
               "--reduce", "none", "--reduce", "mpm:blocks=2,5", "--json", "--per-image", file]
    for precision in options.precision:
        command += ["--precision", precision]
    run = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in map(json.loads, run.stdout.splitlines()):
        times = [line["total_ms"] for line in lines if (line["precision"], line["reduce"]) == (row["precision"], row["reduce"])]
        yield "mpm", row["precision"], row["reduce"], row["miou"], statistics.median(times)


def pictures(options):
    """The input of the network and the truth of each image, as `mpm eval` makes them."""
    info = json.loads(pathlib.Path(options.model).with_suffix(".json").read_text(encoding="utf-8"))
    size = (info["input"]["width"], info["input"]["height"])
    for path in sorted((pathlib.Path(options.data) / "images").glob("*.png")):
        image = cv2.resize(cv2.imread(str(path)), size, interpolation=cv2.INTER_LINEAR)[:, :, ::-1] / 255.0
        tensor = ((image - info["mean"]) / info["std"]).astype("<f4").transpose(2, 0, 1)[None]
        yield tensor, cv2.imread(str(path.parent.parent / "labels" / path.name), cv2.IMREAD_UNCHANGED)


def baseline(options, worker, precision):
    """mIoU of the classes with true pixels, and the median of the milliseconds."""
    arguments = argparse.Namespace(model=options.model, threads=options.threads, precision=precision)
    _, run = importlib.import_module(f"{worker}_worker").load(arguments)
    confusion, times = np.zeros((256, 256), np.int64), []
    for tensor, truth in pictures(options):
        start = time.perf_counter()
        labels = run(tensor)
        times.append(1e3 * (time.perf_counter() - start))
        labels = np.asarray(labels).astype(np.uint8).reshape(tensor.shape[2:])
        labels = cv2.resize(labels, truth.shape[::-1], interpolation=cv2.INTER_NEAREST_EXACT)
        confusion += np.bincount(256 * truth.ravel().astype(int) + labels.ravel(), minlength=65536).reshape(256, 256)
    confusion = confusion[:11]  # the rest is void
    hits, true = np.diag(confusion), confusion.sum(1)
    return 100 * np.mean((hits / (true + confusion[:, :11].sum(0) - hits))[true > 0]), statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a Segmenter of CamVid's 11 classes, with its JSON beside it")
    parser.add_argument("--data", required=True, help="CamVid's validation set: the folders images and labels")
    parser.add_argument("--mpm", default=ROOT / "build/bin/mpm")
    parser.add_argument("--precision", action="append", help="of ours; can be given several times; default: fp32, bf16, int8")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    options.precision = options.precision or ["fp32", "bf16", "int8"]
    with tempfile.TemporaryDirectory() as folder:
        rows = list(ours(options, pathlib.Path(folder, "lines.jsonl")))
    # Each baseline runs in a process of its own, and what its libraries print goes to stderr.
    with concurrent.futures.ProcessPoolExecutor(1, initializer=os.dup2, initargs=(2, 1), max_tasks_per_child=1) as processes:
        for name, worker, precision in BASELINES:
            rows.append((name, precision, "none", *processes.submit(baseline, options, worker, precision).result()))
    print("| runtime | precision | reduction | mIoU, % | ms |\n|---|---|---|---|---|")
    for name, precision, reduction, miou, ms in rows:
        print(f"| {name} | {precision} | {reduction} | {miou:.2f} | {ms:.1f} |")


if __name__ == "__main__":
    main()
