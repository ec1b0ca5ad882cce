#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the time of this library with that of other runtimes. Each runs in a process of its own (bench/baselines/README.md), and
they take turns: A B C A B C ..., so that other work of the machine slows all alike.

    bench/baselines/setup_venv.sh ~/baselines
    ~/baselines/bin/python bench/compare.py --model vit.onnx --image street.png --runtimes onnxruntime,openvino

The Python that runs this program has the runtimes and this library's package, mpm. All of them get the same normalised tensor, and
ms is the wall time from it to the label map. A runtime that cannot run is a row that says why. ratio: to the first row.
"""
import argparse
import contextlib
import json
import os
import pathlib
import selectors
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

WORKERS = pathlib.Path(__file__).resolve().parent / "baselines"
RUNTIMES = ("onnxruntime", "openvino", "ncnn", "opencv")
LOAD_SECONDS, RUN_SECONDS = 600, 120


class Worker:
    """One runtime. Whatever happens to its process is an answer {"ok": False, "why": one line}."""

    def __init__(self, runtime, reduce, precision, command):
        self.runtime, self.reduce, self.precision = runtime, reduce, precision
        self.name = f"{runtime} {reduce} {precision}"
        self.note, self.version, self.ms, self.peak_mib, self.labels, self.agreement = "", None, [], None, None, []
        self.complaints = tempfile.TemporaryFile()
        self.folder = tempfile.TemporaryDirectory(prefix="mpm_compare_")  # of its temporary files, because it is killed in the end
        self.received = b""
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.complaints,
                                            env={**os.environ, "TMPDIR": self.folder.name})
        except OSError as error:
            self.process = None
            self.fail(f"it could not be started: {error.strerror}")

    def fail(self, why):
        self.note, self.labels = why, None
        self.close()

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            with contextlib.suppress(BrokenPipeError):  # of what it did not read
                self.process.stdin.close()
        self.process = None
        self.folder.cleanup()

    def ask(self, seconds, **question):
        """The answer, or None: this worker is out."""
        if not self.process:
            return None
        answer = self.answered(json.dumps(question).encode() + b"\n", time.monotonic() + seconds)
        if answer.get("ok") is not True:
            self.fail(str(answer.get("why", "no reason given")))
            return None
        return answer

    def answered(self, question, deadline):
        try:
            self.process.stdin.write(question)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and says why below
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.received:
                if not selector.select(max(0, deadline - time.monotonic())):
                    return {"why": "no answer in time"}
                some = os.read(self.process.stdout.fileno(), 1 << 16)
                if not some:
                    return {"why": self.end()}
                self.received += some
        line, _, self.received = self.received.partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        return answer if isinstance(answer, dict) else {"why": "it answered nonsense"}

    def end(self):
        status = self.process.wait()
        self.complaints.seek(0)
        said = self.complaints.read().decode(errors="replace").strip().splitlines()
        return f"it was ended by signal {-status}" if status < 0 else "it ended without an answer: " + (said[-1] if said else "")

    def run(self, measured, **question):
        answer = self.ask(RUN_SECONDS, cmd="run", **question)
        if answer and "labels" in answer:
            self.labels = np.fromfile(answer["labels"], np.uint8)
        if answer and measured:
            self.ms.append(answer["ms"])
            self.peak_mib = answer.get("peak_mib")


def tensor_of(image, info, batch):
    """The images {batch, 3, H, W} of a file or of smooth colours with noise, as info's "mean", "std" and "channels" say."""
    height, width = info["input"]
    if image:
        import cv2
        pixels = cv2.imread(image)
        if pixels is None:
            sys.exit(f"compare.py: cannot read the image '{image}'")
        pixels = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_LINEAR)
    else:
        random = np.random.default_rng(1)
        small = random.integers(0, 256, (9, 9, 3))
        y, x = (np.linspace(0, 7.999, size) for size in (height, width))
        rows = small[y.astype(int)] * (1 - y % 1)[:, None, None] + small[y.astype(int) + 1] * (y % 1)[:, None, None]
        pixels = rows[:, x.astype(int)] * (1 - x % 1)[:, None] + rows[:, x.astype(int) + 1] * (x % 1)[:, None]
        pixels = np.clip(pixels + random.integers(0, 16, pixels.shape), 0, 255)
    if info["channels"] == "RGB":
        pixels = pixels[..., ::-1]
    tensor = (pixels / 255 - info["mean"]) / info["std"]
    return np.repeat(tensor.transpose(2, 0, 1)[None], batch, 0).astype("<f4")


def row_of(worker, first):
    ratios = [a / b for a, b in zip(worker.ms, first.ms)]
    quartiles = np.percentile(ratios, (25, 50, 75)).tolist() if ratios else [None] * 3
    at = np.percentile(worker.ms, (10, 50, 90)).tolist() if worker.ms else [None] * 3
    return {"name": worker.name, "runtime": worker.runtime, "version": worker.version, "reduce": worker.reduce,
            "precision": worker.precision, "ms": {"median": at[1], "p10": at[0], "p90": at[2], "rounds": worker.ms},
            "ratio": at[1] / statistics.median(first.ms) if worker.ms and first.ms else None,
            "ratio_per_round": dict(zip(("p25", "median", "p75"), quartiles)), "peak_mib": worker.peak_mib,
            "agreement": statistics.mean(worker.agreement) if worker.agreement else None, "note": worker.note}


def compared(model, image=None, reductions=("none", "mpm:blocks=2,5"), precisions=("fp32",), runtimes={}, rounds=20, warm_up=3,
             threads=None, batch=1, workers=WORKERS):
    """`runtimes`: those of each precision. Returns what --json prints."""
    threads = threads or len(os.sched_getaffinity(0))
    wanted = [("mpm", reduce, precision) for precision in precisions for reduce in reductions]
    wanted += [(runtime, "none", precision) for precision, some in runtimes.items() for runtime in some]
    every = [Worker(*one, [sys.executable, str(workers / f"{one[0]}_worker.py"), "--model", str(model), "--threads", str(threads),
                           "--reduce", one[1], "--precision", one[2]]) for one in wanted]
    try:
        info = None
        for worker in every:
            if answer := worker.ask(LOAD_SECONDS, cmd="load"):
                worker.version = answer.get("version")
                info = info or answer.get("info")
        if info is None:
            raise RuntimeError(f"none of ours could read the model: {every[0].note}")
        with tempfile.TemporaryDirectory(prefix="mpm_compare_") as folder:
            tensor = tensor_of(image, info, batch)
            path = os.path.join(folder, "images.f32")
            tensor.tofile(path)
            for turn in range(-warm_up, rounds):
                for worker in every:
                    worker.run(turn >= 0, input=path, shape=list(tensor.shape))
                first = every[0].labels
                for worker in every[1:]:
                    if turn >= 0 and first is not None and worker.labels is not None and len(worker.labels) == len(first):
                        worker.agreement.append(100 * float(np.mean(worker.labels == first)))
    finally:
        for worker in every:
            worker.close()
    return {"model": str(model), "image": image, "threads": threads, "batch": batch, "rounds": rounds, "warm_up": warm_up,
            "variants": [row_of(worker, every[0]) for worker in every]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--model", required=True, help="a plain ViT as ONNX")
    parser.add_argument("--image", help="default: smooth colours with noise")
    parser.add_argument("--runtimes", default=",".join(RUNTIMES), help="default: %(default)s")
    parser.add_argument("--reduce", action="append", help="of ours; can be given several times; default: none and mpm:blocks=2,5")
    parser.add_argument("--precision", action="append", help="of all; can be given several times; default: fp32")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--workers", type=pathlib.Path, default=WORKERS, help="folder of RUNTIME_worker.py; default: %(default)s")
    parser.add_argument("--json", action="store_true", help="one JSON object, with every round")
    options = parser.parse_args()
    runtimes = [name for name in options.runtimes.split(",") if name]
    for name in runtimes:
        if not (options.workers / f"{name}_worker.py").is_file():
            parser.error(f"no runtime {name}: there is no {options.workers / name}_worker.py")
    precisions = options.precision or ["fp32"]
    try:
        result = compared(options.model, options.image, options.reduce or ["none", "mpm:blocks=2,5"], precisions,
                          dict.fromkeys(precisions, runtimes), options.rounds, options.warm_up, options.threads, options.batch,
                          options.workers)
    except RuntimeError as error:
        sys.exit(f"compare.py: {error}")
    if options.json:
        return print(json.dumps(result))
    text = lambda value, digits: "-" if value is None else f"{value:.{digits}f}"
    print(f"{'':34}{'ms':>10}{'p10 - p90':>20}{'ratio':>8}{'same, %':>9}{'MiB':>7}  note")
    for row in result["variants"]:
        span = f"{text(row['ms']['p10'], 2)} - {text(row['ms']['p90'], 2)}"
        print(f"{row['name']:34}{text(row['ms']['median'], 2):>10}{span:>20}{text(row['ratio'], 3):>8}{text(row['agreement'], 2):>9}"
              f"{text(row['peak_mib'], 0):>7}  {row['note'] or row['version'] or ''}")


if __name__ == "__main__":
    main()
