# SPDX-License-Identifier: Apache-2.0
"""Layers for another OpenCV: cv2 calls these classes, and they call this package's kernels."""
import cv2

from . import _mpm

_layers = {}  # cv2 holds no reference to the classes it is given


def _layer(operator):
    class Layer:
        def __init__(self, params, blobs):
            self.native = _mpm.Layer(operator, params, blobs)

        def getMemoryShapes(self, inputs):
            return self.native.output_shapes([list(map(int, shape)) for shape in inputs])

        def forward(self, inputs):
            # As cv2.Mat, or cv2 would take the last of three dimensions for channels.
            return [cv2.Mat(output) for output in self.native.forward(inputs)]

    return Layer


def register():
    # Without cv2.Mat, as in the cv2 of Debian 12, a layer cannot return a tensor.
    if not hasattr(cv2, "dnn_registerLayer") or not hasattr(cv2, "Mat") or int(cv2.__version__.split(".")[0]) >= 5:
        raise _mpm.Error(f"this cv2 {cv2.__version__} takes no layers from Python: use mpm.Net or mpm.Estimator")
    for operator in _mpm.operators:
        if operator not in _layers:
            _layers[operator] = _layer(operator)
            cv2.dnn_registerLayer("ai.mpm." + operator, _layers[operator])
