#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A benchmark on the emulation, and the table of what it prints: bench_rehearsal.py kernels|net BENCH SOURCE SCRATCH

`kernels` is cuda_bench beside PyTorch's side on the CPU, `net` is cuda_net_bench. Where there is no PyTorch, and for `net`, what its
side once printed (torch_rehearsal.jsonl, from torch_cuda_worker.py --rehearse and --models --rehearse).
"""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys


RECORDED = pathlib.Path(__file__).with_name("torch_rehearsal.jsonl")


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def kernels(bench, source, scratch):
    ours, baseline = scratch / "rehearsal.log", scratch / "torch_rehearsal.log"
    ours.write_text(output_of(bench, "--rehearse"), encoding="utf-8")
    if importlib.util.find_spec("torch"):
        baseline.write_text(output_of(sys.executable, source / "bench/baselines/torch_cuda_worker.py", "--rehearse"),
                        encoding="utf-8")
    else:
        baseline = RECORDED
    table = source / "bench/cuda/table.py"

    whole = output_of(sys.executable, table, ours, baseline)
    print(whole)
    verdicts = re.findall(r"[<>]= .*  (met|MISSED|-)$", whole, re.MULTILINE)
    assert len(verdicts) == 17, f"{len(verdicts)} targets, not 17"
    assert "-" not in verdicts and "not run" not in whole, "a target finds nothing that was measured"

    both = re.findall(r"^(pairing|attention) alone.*by warps [0-9.]+ ms, by warpgroups [0-9.]+ ms$", whole, re.MULTILINE)
    assert len(both) == 3, "both ways to multiply were timed"

    alone = output_of(sys.executable, table, ours)
    assert len(re.findall(r"not run .*  -$", alone, re.MULTILINE)) == 13, "what needs PyTorch is said not to have run"


def picture(path, width, height, step):
    pixels = bytes((x * step + y * (c + 2) + (x // 9) * (y // 7)) % 256
                   for y in range(height) for x in range(width) for c in range(3))
    path.write_bytes(f"P6\n{width} {height}\n255\n".encode() + pixels)
    return path


# Small ones in place of those that cuda_bench.sh makes for a GPU.
SMALL = {"dinov3_b": "timm_dinov3_ts17", "eomt_dinov3": "hf_eomt_ts17", "depth_anything": "hf_depth_anything_dynamo18"}


def net(bench, source, scratch):
    pictures = [picture(scratch / f"rehearsal{step}.ppm", 70, 50, step) for step in (3, 5)]
    models = []
    for name, small in SMALL.items():
        models.append(scratch / f"{name}.onnx")
        models[-1].write_bytes((source / f"tests/data/{small}.onnx").read_bytes())
    lines = output_of(bench, "--once", source / "tests/data/segmenter_mask_ts17.onnx", *pictures)
    lines += output_of(bench, "--once", "--no-reuse", *models, *pictures)
    log = scratch / "net_rehearsal.log"
    log.write_text(lines, encoding="utf-8")
    rows = [json.loads(line) for line in lines.splitlines()]
    assert len(rows) == 12 + 3 * 8, "full, merged and of one with reuse, in four precisions"
    for row in rows:
        # Rounded products may merge other tokens of a small model.
        least = 99.9 if row["precision"] == "fp32" else 0 if row["way"] == "MPM" else 90
        assert row["agreement"] >= least, row
        assert row["precision"] != "fp32" or row["same_first_maps"] == 2, row
    assert {row["model"]: row["of"] for row in rows} == {
        "segmenter_mask_ts17": "labels", "dinov3_b": "numbers", "eomt_dinov3": "labels", "depth_anything": "depths"}
    whole = output_of(sys.executable, source / "bench/cuda/table.py", log, RECORDED)
    print(whole)
    assert len(re.findall(r"as on the CPU.*  met$", whole, re.MULTILINE)) == 3 + 3 * 2
    beside = re.findall(r"^(\w+) bf16(?:, MPM)? .* [0-9.]+  .* attention$", whole, re.MULTILINE)
    assert beside == [name for name in SMALL for _ in ("full", "MPM")], f"beside PyTorch is {beside}"

    (scratch / "short.ppm").write_bytes(pictures[0].read_bytes()[:-1])
    refused = subprocess.run([bench, source / "tests/data/segmenter_mask_ts17.onnx", scratch / "short.ppm"],
                             stderr=subprocess.PIPE, text=True)
    assert refused.returncode == 1 and "short.ppm' ends early" in refused.stderr, refused.stderr


if __name__ == "__main__":
    {"kernels": kernels, "net": net}[sys.argv[1]](*(pathlib.Path(word) for word in sys.argv[2:]))
