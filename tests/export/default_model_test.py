#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The default model, as mpm-train wrote it, in the ONNX checker and in ONNX Runtime: the labels of `mpm run`.

    default_model_test.py build/bin/mpm build/bin/mpm_scene_preview models/outdoor_vit_t16.onnx
"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

NEEDED = ("numpy", "onnx", "onnxruntime", "PIL")
MISSING = [name for name in NEEDED if not importlib.util.find_spec(name)]
if MISSING:
    print(f"skipped: {', '.join(MISSING)} not installed (-DMPM_EXPORT_PYTHON=... names a Python that has them)")
    sys.exit(77)

import numpy as np
import onnx
import onnxruntime
from PIL import Image

FRAMES = 3


def main(mpm, preview, model):
    onnx.checker.check_model(model, full_check=True)
    facts = json.loads(pathlib.Path(model).with_suffix(".json").read_text())
    width, height = facts["input"]["width"], facts["input"]["height"]
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    with tempfile.TemporaryDirectory() as parent:
        folder = f"{parent}/new"  # the preview makes it
        subprocess.run([preview, f"street?seed=3&step=18000&size={height}x{width}", str(FRAMES), folder], check=True)
        images = [pathlib.Path(folder, f"{frame:04}.png") for frame in range(FRAMES)]
        subprocess.run([mpm, "run", *images, "--model", model, "--reduce", "none", "--out", f"{folder}/mpm"],
                       check=True, stdout=subprocess.DEVNULL)
        for path in images:
            image = np.asarray(Image.open(path).convert("RGB"), np.float32) / 255
            labels = np.asarray(Image.open(pathlib.Path(folder, "mpm", f"{path.stem}_labels.png")))
            blob = ((image - facts["mean"]) / facts["std"]).astype(np.float32).transpose(2, 0, 1)[None]
            scores = session.run(None, {session.get_inputs()[0].name: blob})[0]
            equal = np.mean(scores[0].argmax(0) == labels)
            print(f"{path.name}: {100 * equal:.3f} % of the pixels")
            assert equal >= 0.999, path.name


if __name__ == "__main__":
    main(*sys.argv[1:])
