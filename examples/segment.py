# SPDX-License-Identifier: Apache-2.0
"""Segments an image with the cv2 of the distribution: segment.py FAST.onnx IMAGE LABELS.png

FAST.onnx is a converted file: mpm convert MODEL.onnx -o FAST.onnx
"""
import ctypes
import sys

import cv2

if len(sys.argv) != 4:
    print("usage: segment.py FAST.onnx IMAGE LABELS.png", file=sys.stderr)
    sys.exit(2)
model, image, output = sys.argv[1:]
ctypes.CDLL("libmpm_layer.so.0.1").mpm_register_layers()

net = cv2.dnn.readNetFromONNX(model)
size = (640, 448)  # width and height of the network input
net.setInput(cv2.dnn.blobFromImage(cv2.imread(image), 1 / 127.5, size, (127.5, 127.5, 127.5), swapRB=True))
labels, merge_map, token_counts = net.forward(["labels", "merge_map", "token_counts"])

cv2.imwrite(output, labels[0, 0])
print("tokens before merging and after each step:", *token_counts.ravel().astype(int))
