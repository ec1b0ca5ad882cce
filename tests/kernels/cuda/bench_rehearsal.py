#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuda_bench on the emulation, PyTorch's side on the CPU, and the table of both: bench_rehearsal.py BENCH SOURCE SCRATCH

Where there is no PyTorch, what its side once printed (torch_rehearsal.jsonl, from torch_cuda_worker.py --rehearse).
"""
import importlib.util
import pathlib
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    bench, source, scratch = (pathlib.Path(word) for word in sys.argv[1:])
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
    assert len(verdicts) == 12, f"{len(verdicts)} targets, not 12"
    assert "-" not in verdicts and "not run" not in whole, "a target finds nothing that was measured"

    both = re.findall(r"^(pairing|attention) alone.*by warps [0-9.]+ ms, by warpgroups [0-9.]+ ms$", whole, re.MULTILINE)
    assert len(both) == 3, "both ways to multiply were timed"

    alone = output_of(sys.executable, table, ours)
    assert len(re.findall(r"not run .*  -$", alone, re.MULTILINE)) == 8, "what needs PyTorch is said not to have run"


if __name__ == "__main__":
    main()
