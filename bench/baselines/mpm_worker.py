# SPDX-License-Identifier: Apache-2.0
"""This library, through its Python package."""

import os

import worker


def load(arguments):
    os.environ["OPENCV_FOR_THREADS_NUM"] = str(arguments.threads)  # before the library reads it
    try:
        import mpm
    except ImportError as error:
        raise worker.Refused(f"{error}: 'pip install .' in the sources of mpm_layer") from None
    info = mpm.info(arguments.model)
    net = mpm.Net(arguments.model, reduce=arguments.reduce, precision=arguments.precision, outputs=info["outputs"][:1])
    return mpm.__version__, lambda image: net.forward(image)[0].astype("i4" if info["outputs"][0] == "labels" else "f4", copy=False), \
        {key: info[key] for key in ("input", "mean", "std", "channels")}


if __name__ == "__main__":
    worker.serve("mpm", load, ("fp32", "bf16", "fp16", "int8"), reduces=True)
