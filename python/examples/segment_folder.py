# SPDX-License-Identifier: Apache-2.0
"""Segments a folder of images: segment_folder.py MODEL.onnx IMAGES OUTPUT

Writes a label map NAME.png and an overlay NAME_overlay.png for each image. Needs opencv-python.
"""
import pathlib
import sys

import cv2

import mpm

if len(sys.argv) != 4:
    print("usage: segment_folder.py MODEL.onnx IMAGES OUTPUT", file=sys.stderr)
    sys.exit(2)
model, images, output = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
estimator = mpm.Estimator(model)
output.mkdir(parents=True, exist_ok=True)
paths = sorted(path for path in images.iterdir() if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
for done, path in enumerate(paths, 1):
    image = cv2.imread(str(path))
    result = estimator.estimate(image)
    cv2.imwrite(str(output / f"{path.stem}.png"), result.labels)
    cv2.imwrite(str(output / f"{path.stem}_overlay.png"), mpm.overlay(image, result.labels, estimator.colors))
    bar = "#" * (40 * done // len(paths))
    print(f"\r[{bar:40}] {done}/{len(paths)}  {result.ms['total']:.0f} ms", end="", file=sys.stderr, flush=True)
print(file=sys.stderr)
