#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the GFLOP that papers publish for Segmenter on ADE20K beside ours, as tables in Markdown: at 512x512, and of ViT-L at 640x640.

    paper_gflop.py --mpm build/bin/mpm [--sizes T,S,B,L]      # without L, the first table alone

Only of methods that leave the same number of tokens in every image: their cost needs no trained weights. The head runs on the restored
grid, as in the papers. Needs a Python with onnx and numpy; without onnx the exit status is 77. Where a number of ours in the first
table, or what is saved in the second, is more than 3 % off the paper's, it is 1. Size L writes 1.3 GB into the folder for temporary files.
"""
import argparse
import importlib.util
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# From the table "main token reduction methods on ADE20K" of the paper of MPM (arXiv 2604.05718), measured by PyTorch's profiler. It gives no
# GFLOP for CTS; the tokens of CTS are those of its authors' setting, 612 patches alone and 103 groups.
PAPER = {"T": {"none": 25, "tome": 19}, "S": {"none": 76.9, "tome": 59}, "B": {"none": 258, "tome": 201}, "L": {"none": 800, "tome": 633}}
CTS_TOKENS = 715
# From the README of Expedit-Segmenter (arXiv 2210.01035), which counts a multiply-add once, and the rule that leaves these tokens. It does not name
# the blocks: its numbers are those of clusters from block alpha - 1 on, and of EViT's choice inside blocks 7, 13 and 19.
EXPEDIT = {"full": (658.98, "none"), "Expedit, alpha 16, 28 x 28": (529.81, "cells_28:blocks=15:where=before"),
           "Expedit, alpha 10, 28 x 28": (443.84, "cells_28:blocks=9:where=before"),
           "Expedit, alpha 8, 20 x 20": (309.4, "cells_20:blocks=7:where=before"), "EViT, keeps 0.9": (572.01, "kept_90:blocks=7,13,19:where=inside"),
           "EViT, keeps 0.8": (500.19, "kept_80:blocks=7,13,19:where=inside"), "EViT, keeps 0.5": (351.83, "kept_50:blocks=7,13,19:where=inside")}


def cells(side):
    """A rule that leaves side x side tokens, as many as Expedit's clusters."""
    def rule(rows, sizes, info):
        height, width = info.grid
        return [y * side // height * side + x * side // width for y in range(height) for x in range(width)]
    return rule


def kept(percent):
    """A rule that leaves as many tokens as EViT does: a share of them, and one for all others."""
    return lambda rows, sizes, info: [min(i, math.ceil(len(rows) * percent / 100)) for i in range(len(rows))]


cells_28, cells_20, kept_90, kept_80, kept_50 = cells(28), cells(20), kept(90), kept(80), kept(50)


def run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


def gflop_of(mpm, model, side, reduction):
    """(GFLOP, tokens after the last step) of a reduction in its notation, or of a rule of this file."""
    chosen = ("--rule", f"{__file__}:{reduction}:head=restored") if "where=" in reduction else ("--reduce", reduction)
    with tempfile.TemporaryDirectory() as folder:
        lines = pathlib.Path(folder, "lines.jsonl")
        run(mpm, "eval", "demo:street?frames=1", "--model", model, "--input-size", f"{side}x{side}", "--against", "full", "--per-image",
            lines, *chosen)
        line = json.loads(lines.read_text().splitlines()[-1])
        return line["gflop"], line["tokens"][-1]


def rows_of(mpm, folder, size):
    """A row of the first table, and with size L those of the second; what is more than 3 % off."""
    model, policy = folder / "model.onnx", folder / "policy.onnx"
    run(sys.executable, ROOT / "bench/models/make_segmenter.py", "--size", size, "--output", "labels", "-o", model)
    run(sys.executable, ROOT / "models/export/flat_windows.py", "--patch", 16, "-o", policy)
    paper = PAPER[size]
    full, tome, cts = (gflop_of(mpm, model, 512, reduction) for reduction in (
        "none", f"tome:count={18 if size == 'L' else 40}:head=restored", f"cts:policy={policy}:share={103 / 256}:head=restored"))
    assert cts[1] == CTS_TOKENS, cts
    share = [100 * (1 - merged / whole) for whole, merged in ((paper["none"], paper["tome"]), (full[0], tome[0]))]
    rows = [f"| Seg-{size}/16 | {paper['none']} | {full[0]:.1f} | {paper['tome']} | {tome[0]:.1f} | {share[0]:.0f} % | {share[1]:.0f} % | {cts[0]:.1f} |"]
    pairs = {f"full of {size}": (paper["none"], full[0]), f"ToMe of {size}": (paper["tome"], tome[0])}
    if size == "L":
        for name, (theirs, reduction) in EXPEDIT.items():
            ours, tokens = gflop_of(mpm, model, 640, reduction)
            of_full = (theirs, ours / 2) if reduction == "none" else of_full
            pairs[name] = (of_full[0] - theirs, of_full[1] - ours / 2) if reduction != "none" else of_full
            saved = " | " if reduction == "none" else "{:.1f} | {:.1f}".format(*pairs[name])
            rows.append(f"| {name} | {theirs} | {ours / 2:.1f} | {saved} | {tokens:.0f} |")
    return rows, [name for name, (theirs, ours) in pairs.items() if abs(ours / theirs - 1) > 0.03]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpm", default="mpm", help="the program; default: that of the PATH")
    parser.add_argument("--sizes", default="T,S,B,L", help="default: %(default)s")
    options = parser.parse_args()
    if not importlib.util.find_spec("onnx"):
        parser.exit(77, "this Python has no onnx\n")
    off, expedit = [], []
    print("| 512x512 | full, paper | full, ours | ToMe, paper | ToMe, ours | ToMe saves, paper | ToMe saves, ours | CTS, ours |\n" + "|---" * 8 + "|")
    for size in options.sizes.split(","):
        with tempfile.TemporaryDirectory() as folder:
            (row, *more), wrong = rows_of(options.mpm, pathlib.Path(folder), size)
        print(row, flush=True)
        expedit += more
        off += wrong
    if expedit:
        print("\n| Seg-L/16, 640x640 | multiply-adds, theirs, 1e9 | ours | saved, theirs | saved, ours | our tokens at the end |\n" + "|---" * 6 + "|", *expedit, sep="\n")
    if off:
        sys.exit("more than 3 % off the paper: " + ", ".join(off))


if __name__ == "__main__":
    main()
