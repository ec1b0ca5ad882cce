#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuda_net_bench on the emulation, and the table of what it prints: net_bench_rehearsal.py BENCH SOURCE SCRATCH"""
import json
import pathlib
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def picture(path, width, height, step):
    pixels = bytes((x * step + y * (c + 2) + (x // 9) * (y // 7)) % 256
                   for y in range(height) for x in range(width) for c in range(3))
    path.write_bytes(f"P6\n{width} {height}\n255\n".encode() + pixels)
    return path


def main():
    bench, source, scratch = (pathlib.Path(word) for word in sys.argv[1:])
    pictures = [picture(scratch / f"rehearsal{step}.ppm", 70, 50, step) for step in (3, 5)]
    lines = output_of(bench, "--once", source / "tests/data/segmenter_mask_ts17.onnx", *pictures)
    log = scratch / "net_rehearsal.log"
    log.write_text(lines, encoding="utf-8")
    rows = [json.loads(line) for line in lines.splitlines()]
    assert len(rows) == 8, "two schedules of four precisions"
    for row in rows:
        assert row["same_labels"] >= (0.999 if row["precision"] == "fp32" else 0.9), row
        assert row["precision"] != "fp32" or row["same_first_maps"] == 2, row
    whole = output_of(sys.executable, source / "bench/cuda/table.py", log)
    print(whole)
    assert len(re.findall(r"labels as on the CPU.*  met$", whole, re.MULTILINE)) == 2

    (scratch / "short.ppm").write_bytes(pictures[0].read_bytes()[:-1])
    refused = subprocess.run([bench, source / "tests/data/segmenter_mask_ts17.onnx", scratch / "short.ppm"],
                             stderr=subprocess.PIPE, text=True)
    assert refused.returncode == 1 and "short.ppm' ends early" in refused.stderr, refused.stderr


if __name__ == "__main__":
    main()
