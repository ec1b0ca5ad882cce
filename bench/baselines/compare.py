# SPDX-License-Identifier: Apache-2.0
"""Compares the time of this library with that of other runtimes: runs `mpm bench` beside their workers (README.md).

    venv/bin/python compare.py --runtimes onnxruntime,openvino --model vit.onnx --image street.png

The Python that runs this program has the runtimes; setup_venv.sh makes one. Other options are those of `mpm bench`.
"""
import argparse
import json
import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
RUNTIMES = ("onnxruntime", "openvino", "ncnn", "opencv")


def beside(runtimes, precisions):
    """The words for `mpm bench`: a worker for each runtime and precision."""
    return [word for precision in precisions for runtime in runtimes for word in ("--beside", json.dumps(
        {"name": runtime, "runtime": runtime, "reduce": "none", "precision": precision,
         "command": [sys.executable, str(FOLDER / f"{runtime}_worker.py")]}))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--runtimes", default=",".join(RUNTIMES), help="default: %(default)s")
    parser.add_argument("--mpm", default="mpm", help="the program; default: that of the PATH")
    parser.add_argument("--reduce", action="append", help="can be given several times; default: none and mpm:blocks=2,5")
    parser.add_argument("--precision", action="append", help="can be given several times; default: fp32")
    options, others = parser.parse_known_args()
    runtimes = options.runtimes.split(",")
    if unknown := sorted(set(runtimes) - set(RUNTIMES)):
        parser.error(f"no runtime {', '.join(unknown)}: there are {', '.join(RUNTIMES)}")
    reductions, precisions = options.reduce or ["none", "mpm:blocks=2,5"], options.precision or ["fp32"]
    chosen = [word for name, values in (("--reduce", reductions), ("--precision", precisions)) for value in values
              for word in (name, value)]
    os.execvp(options.mpm, [options.mpm, "bench", *chosen, *others, *beside(runtimes, precisions)])


if __name__ == "__main__":
    main()
