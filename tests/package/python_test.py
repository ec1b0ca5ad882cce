# SPDX-License-Identifier: Apache-2.0
"""The README's lines of Python: the distribution's cv2 reads a converted model after one ctypes call."""
import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}; install python3-opencv and python3-numpy")
    sys.exit(77)

library, mpm, data, opencv = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4]
if cv2.__version__.split("-")[0].split(".")[:2] != opencv.split(".")[:2]:
    print(f"skipped: the distribution's cv2 is {cv2.__version__}, the library was built with OpenCV {opencv}")
    sys.exit(77)
models = json.loads((data / "models.json").read_text())
model = next(m for m in models if m["verdict"] == "convert" and m["head"] == "mask_transformer")

with tempfile.TemporaryDirectory() as folder:
    converted = f"{folder}/converted.onnx"
    subprocess.run([mpm, "convert", data / model["file"], "-o", converted, "--schedule", "1,2"], check=True)
    info = json.loads(subprocess.run([mpm, "info", converted, "--json"], check=True, capture_output=True).stdout)
    height, width = info["input"]["height"], info["input"]["width"]

    assert ctypes.CDLL(library).mpm_register_layers() == 0
    net = cv2.dnn.readNetFromONNX(converted)
    image = np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8)
    net.setInput(cv2.dnn.blobFromImage(image, 1 / 127.5, (width, height), (127.5, 127.5, 127.5), swapRB=True))
    labels, merge_map, counts = net.forward(["labels", "merge_map", "token_counts"])

    assert labels.shape == (1, 1, height, width), labels.shape
    assert labels.min() >= 0 and labels.max() < info["classes"], (labels.min(), labels.max())
    tokens = counts.ravel().astype(int)
    assert len(tokens) == 3 and tokens[0] > tokens[1] > tokens[2] >= tokens[0] / 4, tokens
    assert merge_map.shape == (1, 2, tokens[0]), merge_map.shape
    assert merge_map[0, 1].max() + 1 == tokens[2], (merge_map[0, 1].max(), tokens)

    # The same picture through the command.
    picture = f"{folder}/picture.png"
    cv2.imwrite(picture, image)
    line = subprocess.run([mpm, "run", picture, "--model", converted, "--json"], check=True, capture_output=True).stdout
    assert [int(n) for n in json.loads(line)["tokens"]] == list(tokens), (line, tokens)
print("ok:", " -> ".join(map(str, tokens)), "tokens")
