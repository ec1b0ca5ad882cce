# SPDX-License-Identifier: Apache-2.0
"""Each kernel with each instruction set of this CPU, and those for a GPU on their emulation, on random sizes, against plain loops in
double precision.

kernel_worlds and cuda_worlds_on_host run them. Here the seeds are shared out, and the headers are read: a function that has no trial there
must be in NO_TRIAL with the reason.
"""
import concurrent.futures
import pathlib
import re
import subprocess

SOURCES = pathlib.Path(__file__).resolve().parents[3] / "mpm_layer" / "src"
# By program: what stands in front of the names, and the headers.
PROGRAMS = {
    "kernel_worlds": ("", [f"kernels/{name}.h" for name in (
        "attention", "convolution", "elementwise", "head_gradient", "linear", "mask_scores", "pairing", "patch_embed", "resample",
        "transformer_block", "window_attention", "cpu/rounding")] + [f"merging/{name}.h" for name in (
            "kept_groups", "merge_positions", "merge_tokens", "token_state")]),
    "cuda_worlds_on_host": ("cuda::", [f"kernels/cuda/{name}.h" for name in (
        "added_rows", "attention", "convolution", "elementwise", "gemm", "group_merging", "kept_rows", "mask_scores", "merging", "pairing",
        "patch_embed", "reduce", "resample", "sampling", "tensor", "transformer_block", "window_attention")]),
}
NO_TRIAL = {
    "parseActivation": "no arithmetic",
    "KeptGroups": "tests/merging/kept_groups_test.cpp compares it with sets of patches",
    "cuda::operandOf": "no arithmetic",
    "cuda::floatPrecision": "no arithmetic",
    "cuda::Gemm": "cuBLASLt; on the emulation plain loops",
    "cuda::AttentionLayers": "a part of cuda::TransformerBlock and cuda::WindowAttention",
}


def declared(prefix, headers):
    """Names of functions and of classes that compute, as the headers declare them."""
    names = set()
    for header in headers:
        text = (SOURCES / header).read_text()
        names.update(re.findall(r"^(?:\[\[nodiscard\]\] )?(?:inline )?(?:void|bool|float|std::\w+<\w+>|[A-Z]\w*(?:<\w+ ?\w*>)?) (\w+)\(",
                                text, re.MULTILINE))
        names.update(re.findall(r"^class (\w+)", text, re.MULTILINE))
    return {prefix + name for name in names}


def untried(names, kernels):
    """What has neither a trial nor a reason, and reasons for what is no longer there."""
    tried = {part.split()[0] for kernel in kernels for part in kernel.split(", ")}
    return ([f"{name} has no trial in tests/worlds/kernels" for name in sorted(names - tried - set(NO_TRIAL))] +
            [f"{name} is in no header of kernels" for name in sorted((tried | set(NO_TRIAL)) - names)])


def main(build, seeds, jobs, only=""):
    """Prints each fault with the command that repeats it, and how many disagree. Returns that number. `only`: a kernel, or "cpu" or "cuda"
    for all of them."""
    folder = pathlib.Path(build) / "bin"
    programs = [name for name in PROGRAMS if (folder / name).exists()]  # ThreadSanitizer knows no emulation
    kernels = {name: subprocess.run([folder / name, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
               for name in programs}
    names = set().union(*(declared(*PROGRAMS[name]) for name in programs))
    faults = untried(names, sum(kernels.values(), [])) if len(programs) == len(PROGRAMS) else []
    for fault in faults:
        print(fault)
    programs = [name for name in programs if not only or only in kernels[name] or only == ("cuda" if PROGRAMS[name][0] else "cpu")]
    chunk = 20
    spans = []
    for seed in seeds:
        if spans and seed == spans[-1][1] + 1 and seed - spans[-1][0] < chunk:
            spans[-1][1] = seed
        else:
            spans.append([seed, seed])

    def play(program, span):
        command = [folder / program, *map(str, span)] + ([only] if only in kernels[program] else [])
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()

    trials, disagree = 0, len(faults)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for program, lines in pool.map(lambda part: (part[0], play(*part)), [(name, span) for name in programs for span in spans]):
            counts = re.fullmatch(r"(\d+) trials, (\d+) disagree", lines[-1]) if lines else None
            if counts:
                trials += int(counts[1])
                lines = lines[:-1]
            elif not lines:
                lines = [f"{program} ended without a word"]
            for line in lines:
                disagree += 1
                name, seed = (re.match(r"(.*), seed (\d+), ", line) or re.match("()()", line)).groups()
                print(f"{line}; python3 tests/worlds/run.py --build {build} --kernels '{name}' --seeds {seed}", flush=True)
    for name, why in NO_TRIAL.items():
        print(f"no trial: {name} ({why})")
    print(f"reached: {sum(map(len, kernels.values()))} kernels of {len(names)} functions and classes")
    print(f"{trials} trials, {disagree} disagree")
    return disagree
