# SPDX-License-Identifier: Apache-2.0
"""Stock cv::dnn: the distribution's python3-opencv, or opencv-python-headless from PyPI."""

import pathlib

import cv2
import numpy as np

import worker


def load(arguments):
    if arguments.precision != "fp32":
        raise worker.Refused("stock OpenCV has no bf16 or int8 for this model on the CPU")
    cv2.setNumThreads(arguments.threads)
    try:
        net = cv2.dnn.readNetFromONNX(arguments.model)
    except cv2.error as error:
        raise worker.Refused(f"OpenCV {cv2.__version__} cannot read the model: {error.err}") from None
    net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
    has_argmax = b"ArgMax" in pathlib.Path(arguments.model).read_bytes()  # without the ONNX package

    def run(image):
        net.setInput(image)
        result = net.forward()
        if result.ndim == 4 and result.shape[1] > 1 and result.dtype == np.float32:
            return result.argmax(axis=1)
        # In OpenCV 4.x labels are floats.
        return result.astype(np.int64) if has_argmax else result

    return cv2.__version__, run


if __name__ == "__main__":
    worker.serve("stock OpenCV", load)
