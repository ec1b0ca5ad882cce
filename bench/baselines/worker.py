# SPDX-License-Identifier: Apache-2.0
"""The protocol of the baselines (README.md): one JSON object per line in, one per line out."""

import argparse
import json
import os
import pathlib
import resource
import sys
import tempfile
import time

import numpy as np


class Refused(Exception):
    """The baseline does not support the request; the text says why, in one line."""


def cpu_flags():
    return pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")


def has_bf16():
    return any(one in cpu_flags() for one in ("avx512_bf16", "amx_bf16"))


def has_fast_bf16():
    """Intel's CPUs with AVX512-FP16 multiply bf16 in vectors at half the speed of fp32. A virtual machine may hide their AMX."""
    flags = cpu_flags()
    return has_bf16() and ("amx_bf16" in flags or "GenuineIntel" not in flags or "avx512_fp16" not in flags)


def one_line(error):
    return (" ".join(str(error).split()) or type(error).__name__)[:400]


def serve(name, load, precisions=("fp32", "bf16", "int8"), reduces=False):
    """`load(arguments)` returns (version, run), and perhaps what the answer to "load" has as "info". `run(image)` takes {B, 3, H, W} float32 and returns labels {B, H, W} or
    {B, 1, H, W} of any integer type, or features. The time of run() is measured, with its argmax."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True, help="ONNX file: image {B, 3, H, W} to logits, labels or features")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--precision", choices=("fp32", "bf16", "tf32", "fp16", "int8"), default="fp32")
    parser.add_argument("--reduce", default="none")
    arguments = parser.parse_args()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output of libraries must not look like an answer

    def answer(**fields):
        answers.write(json.dumps(fields) + "\n")

    run = None
    with tempfile.TemporaryDirectory(prefix="mpm_baseline_") as folder:
        for line in sys.stdin:
            try:
                command = json.loads(line)
                if command["cmd"] == "load":
                    if arguments.precision not in precisions:
                        raise Refused(f"{name} runs here on the CPU in {', '.join(precisions)}, not in {arguments.precision}")
                    if arguments.reduce != "none" and not reduces:
                        raise Refused(f"{name} cannot merge tokens")
                    version, run, *info = load(arguments)
                    answer(ok=True, version=version, info=info[0] if info else None)
                elif command["cmd"] == "run":
                    if run is None:
                        raise Refused("run before load")
                    answer(**timed_run(run, command, folder))
                else:
                    raise Refused(f"unknown command '{command['cmd']}'")
            except Exception as error:  # a baseline that fails becomes a table row with the reason
                answer(ok=False, why=one_line(error))


def timed_run(run, command, folder):
    shape = command["shape"]
    image = np.fromfile(command["input"], dtype="<f4")
    if image.size != np.prod(shape):
        raise Refused(f"{command['input']} holds {image.size} floats, the shape {shape} needs {np.prod(shape)}")
    image = image.reshape(shape)
    start = time.perf_counter()
    result = run(image)
    milliseconds = 1e3 * (time.perf_counter() - start)
    answer = {"ok": True, "ms": milliseconds, "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    result = np.asarray(result)
    # The masks of queries (EoMT) are smaller than the image: their argmax is no label map to compare.
    if result.dtype.kind in "iu" and result.size == shape[0] * shape[2] * shape[3]:
        if result.max() > 255:
            raise Refused(f"label {result.max()} does not fit a byte")
        kind, kept = "labels", result.astype(np.uint8).reshape(shape[0], *shape[2:])
    else:
        kind, kept = "features", result.astype("<f4")
    answer[kind] = os.path.join(folder, kind)
    kept.tofile(answer[kind])
    return {**answer, "shape": kept.shape}
