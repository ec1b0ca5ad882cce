#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the GFLOP that papers publish for Segmenter at 512x512 on ADE20K beside ours, as a table in Markdown.

    paper_gflop.py --mpm build/bin/mpm [--sizes T,S,B,L]

Only of methods that leave the same number of tokens in every image: their cost needs no trained weights. The head runs on the restored
grid, as in the papers. Needs a Python with onnx and numpy; without onnx the exit status is 77. Where a number of ours is more than 3 % off the
paper's it is 1. Size L writes 1.3 GB into the folder for temporary files.
"""
import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# From the table "main token reduction methods on ADE20K" of the paper of MPM (arXiv 2604.05718), measured by PyTorch's profiler. It gives no
# GFLOP for CTS; the tokens of CTS are those of its authors' setting, 612 patches alone and 103 groups.
PAPER = {"T": {"none": 25, "tome": 19}, "S": {"none": 76.9, "tome": 59}, "B": {"none": 258, "tome": 201}, "L": {"none": 800, "tome": 633}}
CTS_TOKENS = 715


def gflop_of(mpm, folder, size):
    """Of each reduction: (GFLOP, tokens after the last step)."""
    model, policy, lines = folder / "model.onnx", folder / "policy.onnx", folder / "lines.jsonl"
    run = lambda *command: subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    run(sys.executable, ROOT / "bench/models/make_segmenter.py", "--size", size, "--output", "labels", "-o", model)
    run(sys.executable, ROOT / "models/export/flat_windows.py", "--patch", 16, "-o", policy)
    reductions = ["none", f"tome:count={18 if size == 'L' else 40}:head=restored", f"cts:policy={policy}:share={103 / 256}:head=restored"]
    run(mpm, "eval", "demo:street?frames=1", "--model", model, "--against", "full", "--per-image", lines,
        *(word for reduction in reductions for word in ("--reduce", reduction)))
    return {line["reduce"].split(":")[0]: (line["gflop"], line["tokens"][-1])
            for line in map(json.loads, lines.read_text().splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpm", default="mpm", help="the program; default: that of the PATH")
    parser.add_argument("--sizes", default="T,S,B,L", help="default: %(default)s")
    options = parser.parse_args()
    if not importlib.util.find_spec("onnx"):
        parser.exit(77, "this Python has no onnx\n")
    off = []
    print("| | full, paper | full, ours | ToMe, paper | ToMe, ours | ToMe saves, paper | ToMe saves, ours | CTS, ours |\n" + "|---" * 8 + "|")
    for size in options.sizes.split(","):
        with tempfile.TemporaryDirectory() as folder:
            ours = gflop_of(options.mpm, pathlib.Path(folder), size)
        assert ours["cts"][1] == CTS_TOKENS, ours
        paper = PAPER[size]
        off += [f"{name} of {size}" for name, theirs in paper.items() if abs(ours[name][0] / theirs - 1) > 0.03]
        saved = [100 * (1 - tome / full) for full, tome in ((paper["none"], paper["tome"]), (ours["none"][0], ours["tome"][0]))]
        print(f"| Seg-{size}/16 | {paper['none']} | {ours['none'][0]:.1f} | {paper['tome']} | {ours['tome'][0]:.1f} | {saved[0]:.0f} % |"
              f" {saved[1]:.0f} % | {ours['cts'][0]:.1f} |", flush=True)
    if off:
        sys.exit("more than 3 % off the paper: " + ", ".join(off))


if __name__ == "__main__":
    main()
