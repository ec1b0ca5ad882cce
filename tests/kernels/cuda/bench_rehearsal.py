#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A benchmark on the emulation, and the table of what it prints: bench_rehearsal.py kernels|net BENCH SOURCE SCRATCH

`kernels` is cuda_bench beside PyTorch's side on the CPU, `net` is cuda_net_bench. Where there is no PyTorch, what its side
once printed (torch_rehearsal.jsonl, from torch_cuda_worker.py --rehearse).
"""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def kernels(bench, source, scratch):
    ours, baseline = scratch / "rehearsal.log", scratch / "torch_rehearsal.log"
    ours.write_text(output_of(bench, "--rehearse"), encoding="utf-8")
    if importlib.util.find_spec("torch"):
        baseline.write_text(output_of(sys.executable, source / "bench/baselines/torch_cuda_worker.py", "--rehearse"),
                        encoding="utf-8")
    else:
        baseline = pathlib.Path(__file__).with_name("torch_rehearsal.jsonl")
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


def net(bench, source, scratch):
    pictures = [picture(scratch / f"rehearsal{step}.ppm", 70, 50, step) for step in (3, 5)]
    lines = output_of(bench, "--once", source / "tests/data/segmenter_mask_ts17.onnx", *pictures)
    log = scratch / "net_rehearsal.log"
    log.write_text(lines, encoding="utf-8")
    rows = [json.loads(line) for line in lines.splitlines()]
    assert len(rows) == 12, "full, merged and with reuse, in four precisions"
    for row in rows:
        assert row["same_labels"] >= (0.999 if row["precision"] == "fp32" else 0.9), row
        assert row["precision"] != "fp32" or row["same_first_maps"] == 2, row
    whole = output_of(sys.executable, source / "bench/cuda/table.py", log)
    print(whole)
    assert len(re.findall(r"labels as on the CPU.*  met$", whole, re.MULTILINE)) == 3

    (scratch / "short.ppm").write_bytes(pictures[0].read_bytes()[:-1])
    refused = subprocess.run([bench, source / "tests/data/segmenter_mask_ts17.onnx", scratch / "short.ppm"],
                             stderr=subprocess.PIPE, text=True)
    assert refused.returncode == 1 and "short.ppm' ends early" in refused.stderr, refused.stderr


if __name__ == "__main__":
    {"kernels": kernels, "net": net}[sys.argv[1]](*(pathlib.Path(word) for word in sys.argv[2:]))
