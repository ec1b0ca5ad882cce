# SPDX-License-Identifier: Apache-2.0
"""ncnn on the CPU, whose own converter pnnx reads the ONNX file. It has no argmax over classes, so NumPy computes it."""

import importlib.util
import shutil
import subprocess
import tempfile

import ncnn
import numpy as np

import worker


def load(arguments):
    if arguments.precision != "fp32":
        raise worker.Refused("ncnn runs in fp32 here: its int8 needs a calibration of its own, its bf16 storage saves memory only")
    with tempfile.TemporaryDirectory(prefix="mpm_baseline_") as folder:
        shutil.copy(arguments.model, f"{folder}/m.onnx")  # pnnx writes beside its input
        program = importlib.util.find_spec("pnnx").submodule_search_locations[0] + "/pnnx"  # without loading PyTorch, as the package does
        done = subprocess.run([program, "m.onnx", "fp16=0"], cwd=folder, capture_output=True, text=True)
        net = ncnn.Net()
        net.opt.num_threads = arguments.threads
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
        if done.returncode or net.load_param(f"{folder}/m.ncnn.param") or net.load_model(f"{folder}/m.ncnn.bin"):
            raise worker.Refused(f"pnnx and ncnn cannot read the model: {done.stderr.strip()[-200:]}")

    def run(image):
        if len(image) != 1:
            raise worker.Refused("ncnn takes one image at a time")
        extractor = net.create_extractor()
        extractor.input("in0", ncnn.Mat(image[0]))
        failed, result = extractor.extract("out0")
        if failed:
            raise worker.Refused(f"ncnn ends with {failed}")
        result = np.array(result)[None]
        return result.argmax(1) if result.ndim == 4 else result

    return ncnn.__version__, run


if __name__ == "__main__":
    worker.serve("ncnn", load)
