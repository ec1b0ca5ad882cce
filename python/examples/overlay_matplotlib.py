# SPDX-License-Identifier: Apache-2.0
"""Shows an image, its labels and its clusters side by side: overlay_matplotlib.py MODEL.onnx IMAGE FIGURE.png

Needs matplotlib.
"""
import sys

import matplotlib.pyplot as plt
import numpy as np

import mpm

if len(sys.argv) != 4:
    print("usage: overlay_matplotlib.py MODEL.onnx IMAGE FIGURE.png", file=sys.stderr)
    sys.exit(2)
model, path, figure = sys.argv[1:]
image = plt.imread(path)  # RGB; PNG as floats 0..1
if image.dtype != np.uint8:
    image = (255 * image).round().astype(np.uint8)
image = image[:, :, :3] if image.ndim == 3 else np.dstack([image] * 3)
estimator = mpm.Estimator(model, channels="RGB")
result = estimator.estimate(image)
colors = estimator.colors[:, ::-1]  # BGR to RGB
clusters = (result.maps[-1] if len(result.maps) else np.arange(result.tokens[0])).reshape(result.grid)
shuffled = np.random.default_rng(0).permutation(clusters.max() + 1)[clusters]  # neighbours in different colours

_, axes = plt.subplots(1, 3, figsize=(15, 4))
for axis, picture, title in zip(axes, (image, mpm.overlay(image, result.labels, colors), shuffled),
                                ("image", "labels", f"{result.tokens[-1]} of {result.tokens[0]} tokens")):
    axis.imshow(picture)
    axis.set_title(title)
    axis.axis("off")
plt.savefig(figure, bbox_inches="tight")
