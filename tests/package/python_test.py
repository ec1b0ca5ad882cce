# SPDX-License-Identifier: Apache-2.0
"""Runs examples/segment.py with the distribution's cv2 and compares it with the command and with the C++ examples.

python_test.py SCRATCH EXAMPLE MODEL OPENCV_VERSION, where SCRATCH is what installed_package.cmake left.
"""
import json
import pathlib
import runpy
import subprocess
import sys

try:
    import cv2
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}; install python3-opencv and python3-numpy")
    sys.exit(77)

scratch, (example, model, opencv) = pathlib.Path(sys.argv[1]), sys.argv[2:]
if cv2.__version__.split("-")[0].split(".")[:2] != opencv.split(".")[:2]:
    print(f"skipped: the distribution's cv2 is {cv2.__version__}, the library was built with OpenCV {opencv}")
    sys.exit(77)

image = str(scratch / "street_000000_overlay.png")
sys.argv = [example, str(scratch / "labels.onnx"), image, str(scratch / "python_labels.png")]
result = runpy.run_path(example)
labels, merge_map, tokens = result["labels"], result["merge_map"], result["token_counts"].ravel().astype(int)
classes = json.loads(pathlib.Path(model).with_suffix(".json").read_text())["classes"]
assert labels.shape == (1, 1, 448, 640), labels.shape
assert labels.min() >= 0 and labels.max() < len(classes), (labels.min(), labels.max())
assert len(tokens) == 3 and tokens[0] > tokens[1] > tokens[2] >= tokens[0] / 4, tokens
assert merge_map.shape == (1, 2, tokens[0]), merge_map.shape
assert merge_map[0, 1].max() + 1 == tokens[2], (merge_map[0, 1].max(), tokens)


def agreement(a, b):
    """Share of equal pixels."""
    assert a.shape == b.shape, (a.shape, b.shape)
    return np.mean(a == b)


# opencv_program takes the argmax of the logits itself.
written = cv2.imread(str(scratch / "python_labels.png"), cv2.IMREAD_GRAYSCALE)
assert agreement(written, labels[0, 0]) == 1
same = agreement(written, cv2.imread(str(scratch / "labels.png"), cv2.IMREAD_GRAYSCALE))
assert same > 0.999, same

# segment_image paints half of the class colour over an image of the network input's size.
bgr = np.array([[int(one["color"][i : i + 2], 16) for i in (5, 3, 1)] for one in classes])
overlay = cv2.imread(str(scratch / "overlay.png")).astype(int)
expected = (cv2.imread(image).astype(int) + bgr[written]) / 2
painted = np.mean(np.abs(overlay - expected).max(axis=2) <= 0.5)
assert painted > 0.999, painted

# The same picture through the command.
mpm = scratch / "a pre+fix" / "bin" / "mpm"
line = subprocess.run([mpm, "run", image, "--model", model, "--json"], check=True, capture_output=True).stdout
assert [int(n) for n in json.loads(line)["tokens"]] == list(tokens), (line, tokens)
print("ok:", " -> ".join(map(str, tokens)), "tokens;", f"{same:.5f} and {painted:.5f} of the pixels agree")
