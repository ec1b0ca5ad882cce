#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts every model that make_models.py wrote and compares what cv::dnn computes with the reference.

    check_models.py --folder DIR --build build

For `make_models.py --all`, which is too large to keep. Needs the distribution's python3-opencv and the built project.
"""

import argparse
import base64
import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile

import cv2
import numpy as np


def array_of(entry):
    array = np.frombuffer(base64.b64decode(entry["data_b64"]), dtype=entry["dtype"]).reshape(entry["shape"])
    return array * np.float32(entry["scale"]) if "scale" in entry else array


def compare(name, got, wanted, tolerance):
    """None when they agree, else what is wrong."""
    got = np.asarray(got).reshape(-1)
    if got.size != wanted.size:
        return f"output {name} has {got.size} elements, expected {wanted.size}"
    if wanted.dtype.kind in "iu":
        share = float((got.astype(np.int64) != wanted.reshape(-1)).mean())
        return f"output {name}: {100 * share:.2f} % of the labels differ" if share > 0.001 else None
    worst = float(np.abs(got - wanted.reshape(-1)).max() / wanted.std())
    return f"output {name}: off by {worst:.2g} standard deviations" if not worst <= tolerance else None


def forward(converted, image, outputs):
    net = cv2.dnn.readNetFromONNX(str(converted))
    results = {}
    for name in outputs:
        net.setInput(image)
        results[name] = net.forward(name).copy()
    return results


def check(entry, folder, mpm, scratch):
    """One line on what is wrong, or None."""
    model = folder / entry["file"]
    converted = scratch / "converted.onnx"
    documents = json.loads((folder / entry["reference"]).read_text()) if entry["reference"] else None
    command = [str(mpm), "convert", str(model), "-o", str(converted)]
    segments = entry["head"] in ("mask_transformer", "linear")
    labels = segments and documents["outputs"][0]["dtype"] != "float32"
    if segments and not labels:
        command += ["--output", "logits"]
    if documents:
        height, width = documents["inputs"][0]["shape"][2:]
        command += ["--input-size", f"{height}x{width}"]

    wanted = [(["--schedule", "none"], [array_of(o) for o in documents["outputs"]] if documents else [])]
    for merged in documents.get("mpm", []) if documents else []:
        reduce = merged.get("reduce", "mpm:blocks=" + ",".join(map(str, merged["schedule"])))
        for key, name in (("attention", "attention"), ("merged_positions", "positions")):
            if key in merged:
                reduce += f":{name}={merged[key]}"
        wanted.append((["--reduce", reduce], [array_of(o) for o in merged["outputs"]]))
    for how, arrays in wanted:
        run = subprocess.run(command + how, capture_output=True, text=True)
        said = run.stderr.strip()
        if run.returncode < 0:
            return f"mpm convert died of signal {-run.returncode}"
        if run.returncode != 0:
            if len(said.splitlines()) != 1:
                return f"refused with {len(said.splitlines())} lines: {said[:300]!r}"
            return f"refused: {said}" if entry["verdict"] == "convert" else None
        if entry["verdict"] == "refuse":
            return "converted, but had to be refused: " + entry["reason"]
        image = array_of(documents["inputs"][0]).copy()
        names = ["labels"] if labels else [o["name"] for o in documents["outputs"]]
        for i in range(len(image)):  # a converted model may have kept the batch of the graph, or one
            try:
                results = forward(converted, image[i : i + 1], names)
            except cv2.error:
                results, i = forward(converted, image, names), None
            for name, array in zip(names, arrays):
                fault = compare(name, results[name], array if i is None else array[i : i + 1], entry["tolerance"])
                if fault:
                    return f"{' '.join(how)}: {fault}"
            if i is None:
                break
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="what make_models.py wrote")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder of the project")
    parser.add_argument("--only", default="", help="only files whose name contains this")
    arguments = parser.parse_args()
    library = ctypes.CDLL(str(arguments.build / "lib" / "libmpm_layer.so"))
    if library.mpm_register_layers() != 0:
        raise SystemExit("mpm_register_layers failed")
    entries = [e for e in json.loads((arguments.folder / "models.json").read_text()) if arguments.only in e["file"]]
    faults = 0
    with tempfile.TemporaryDirectory() as scratch:
        for entry in entries:
            try:
                fault = check(entry, arguments.folder, arguments.build / "bin" / "mpm", pathlib.Path(scratch))
            except cv2.error as error:
                fault = f"OpenCV: {' '.join(str(error).split())[:300]}"
            if fault:
                faults += 1
                print(f"{entry['file']}: {fault}", flush=True)
    print(f"{len(entries) - faults} passed, {faults} failed")
    sys.exit(1 if faults or not entries else 0)


if __name__ == "__main__":
    main()
